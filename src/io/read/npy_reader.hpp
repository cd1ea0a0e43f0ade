#pragma once
// NumPy's .npy, versions 1 to 3: two dimensions, C order, little endian.

#include <string>
#include <string_view>

#include "io/read/input.hpp"
#include "io/table.hpp"

namespace gpu::io {

inline constexpr std::string_view npy_magic = "\x93NUMPY";

/// Reads the .npy that `bytes` delivers; `file` is named in errors.
[[nodiscard]] table read_npy(byte_stream& bytes, const std::string& file);

}  // namespace gpu::io
