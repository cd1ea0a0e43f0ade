#pragma once
// Reads fingerprints: rows of bits, as chemists have them, or any table of 0 and 1.

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <gpu/index.hpp>

#include "io/read/read_table.hpp"
#include "io/table.hpp"

namespace gpu::io {

/// How the bits stand in a file.
enum class fingerprint_format {
  automatic,
  fps,   ///< chemfp's text: headers that begin with '#', then hexadecimal digits, a tab and a name.
  table  ///< A table of 0 and 1 of any format that read_table takes.
};

inline constexpr auto fingerprint_formats =
    std::to_array<std::pair<std::string_view, fingerprint_format>>(
        {{"auto", fingerprint_format::automatic},
         {"fps", fingerprint_format::fps},
         {"table", fingerprint_format::table}});

struct fingerprint_options {
  fingerprint_format format = fingerprint_format::automatic;
  index_t bits = 0;  ///< Bits of a row; 0: as many as the file says or has.
};

/// Reads `path` ("-": standard input, perhaps compressed) to table::bits, with the names of its
/// rows.
///
/// Without a format: "#FPS1" in front is FPS, the rest is a table; text whose second line has a
/// fingerprint in one field is refused (digits_in).
///
/// FPS: two digits are an octet, whose least significant bit comes first. All rows have equally
/// many digits, and bits behind the last are 0. There is one name a line, behind the first tab;
/// what follows another tab is left out. Blank lines are skipped. Of a table each value is 0 or 1.
/// @throw input_error with file and line where it is not such a file; as read_table.
/// Memory: the bits twice at most, the names, and blocks of some megabytes.
[[nodiscard]] table read_fingerprints(const std::string& path, const read_options& options,
                                      const fingerprint_options& bits);

/// The same of what is open; options.stop and options.max_bytes are those of `file`.
[[nodiscard]] table read_fingerprints(input& file, const read_options& options,
                                      const fingerprint_options& bits);

}  // namespace gpu::io
