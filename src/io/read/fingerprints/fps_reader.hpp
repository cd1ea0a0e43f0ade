#pragma once
// FPS, the text format of fingerprints by chemfp.

#include <memory>
#include <string>
#include <string_view>

#include <gpu/index.hpp>

#include "io/read/input.hpp"
#include "io/table.hpp"
#include "io/text/text_options.hpp"

namespace gpu::io {

/// What the first line of an FPS file begins with, where it has headers.
inline constexpr std::string_view fps_magic = "#FPS1";

/// As read_fingerprints, of the rows that are chosen; @param bits of a row, 0: as many as the file
/// says or has.
[[nodiscard]] table read_fps(std::unique_ptr<line_source> lines, const std::string& file,
                             index_t bits, const row_range& chosen = {});

/// The field of the second line of `text`, or of its only one, that has the digits of a
/// fingerprint: eight or more that are all hexadecimal, in a line that is not a row of a table of
/// 0 and 1. "" where there is none.
[[nodiscard]] std::string_view digits_in(std::string_view text);

}  // namespace gpu::io
