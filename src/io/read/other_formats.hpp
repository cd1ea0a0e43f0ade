#pragma once
// Formats that are known by their first bytes and not read.

#include <string>
#include <string_view>

namespace gpu::io {

/// What a file called `name` is that begins with `head`, and what to do with it; "" where nothing
/// is known.
[[nodiscard]] std::string other_format(std::string_view head, const std::string& name);

}  // namespace gpu::io
