#pragma once
// FPS, the text format of fingerprints by chemfp.

#include <memory>
#include <string>
#include <string_view>

#include "io/read/fingerprints/fingerprints.hpp"
#include "io/read/input.hpp"

namespace gpu::io {

/// What the first line of an FPS file begins with, where it has headers.
inline constexpr std::string_view fps_magic = "#FPS1";

/// As read_fingerprints.
[[nodiscard]] table read_fps(std::unique_ptr<line_source> lines, const std::string& file,
                             const fingerprint_options& bits);

}  // namespace gpu::io
