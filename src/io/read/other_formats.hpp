#pragma once
// Formats that are known by their first bytes and not read.

#include <string_view>

namespace gpu::io {

/// What a file is that begins with `head`, and what to do with it; "" where nothing is known.
[[nodiscard]] std::string_view other_format(std::string_view head);

}  // namespace gpu::io
