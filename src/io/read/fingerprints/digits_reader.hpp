#pragma once
// Lines of text with a fingerprint in one field, as hexadecimal digits or as digits 0 and 1; FPS,
// the text format of fingerprints by chemfp, among them.

#include <memory>
#include <string>
#include <string_view>

#include "io/read/fingerprints/fingerprints.hpp"
#include "io/read/input.hpp"
#include "io/text/text_options.hpp"

namespace gpu::io {

/// What the first lines of `text` hold: `hex` or `binary`, or `table` where no field is as long as
/// a fingerprint.
[[nodiscard]] fingerprint_format format_of_lines(std::string_view text,
                                                 const text_options& options);

/// As read_fingerprints; bits.format is hex, binary, or automatic, which finds out which of them.
[[nodiscard]] table read_digits(std::unique_ptr<line_source> lines, const std::string& file,
                                const text_options& options, const fingerprint_options& bits);

/// What the first line of an FPS file begins with, where it has headers.
inline constexpr std::string_view fps_magic = "#FPS1";

/// As read_fingerprints.
[[nodiscard]] table read_fps(std::unique_ptr<line_source> lines, const std::string& file,
                             const fingerprint_options& bits);

}  // namespace gpu::io
