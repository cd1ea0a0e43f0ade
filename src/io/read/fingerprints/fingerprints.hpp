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
  fps,  ///< chemfp's text: headers that begin with '#', then hexadecimal digits, a tab and a name.
  hex,  ///< Lines with hexadecimal digits in one field, and perhaps a name in another.
  binary,  ///< The same with the digits 0 and 1, one for each bit.
  table,   ///< A table of 0 and 1 of any format that read_table takes.
  packed   ///< .npy of uint8: octets of bits, as np.packbits packs them.
};

/// Which bit of an octet comes first; of packed octets alone.
enum class bit_order { big, little };

/// Their names in options.
inline constexpr auto fingerprint_formats =
    std::to_array<std::pair<std::string_view, fingerprint_format>>(
        {{"auto", fingerprint_format::automatic},
         {"fps", fingerprint_format::fps},
         {"hex", fingerprint_format::hex},
         {"binary", fingerprint_format::binary},
         {"table", fingerprint_format::table},
         {"packed", fingerprint_format::packed}});
inline constexpr auto bit_orders = std::to_array<std::pair<std::string_view, bit_order>>(
    {{"big", bit_order::big}, {"little", bit_order::little}});

struct fingerprint_options {
  fingerprint_format format = fingerprint_format::automatic;
  index_t bits = 0;                  ///< Bits of a row; 0: as many as the file says or has.
  bit_order order = bit_order::big;  ///< np.packbits' bitorder.
};

/// Reads `path` ("-": standard input, perhaps compressed) to table::bits, with the names of its
/// rows.
///
/// Without a format: "#FPS1" in front is FPS; text in which a line has a field of at least eight
/// hexadecimal digits, and at most two that are 0 or 1 alone, is `binary` where these digits are 0
/// and 1 in all of the first lines, else `hex`; .npy of uint8 is `packed` where `bits` of them fill
/// its columns; the rest is a table.
///
/// FPS and hex: two digits are an octet, whose least significant bit comes first. All rows have
/// equally many digits, and bits behind the last are 0. FPS has one name a line, behind the first
/// tab; what follows another tab is left out. `hex` and `binary`: options.text says what separates
/// fields, what is a comment, whether there is a header, which column has the names and, by
/// `columns`, which one the digits; else these are the field of the most digits, and the first
/// other field. Blank lines are skipped. Of a table each value is 0 or 1.
/// @throw input_error with file and line where it is not such a file; as read_table.
/// Memory: the bits twice at most, the names, and blocks of some megabytes.
[[nodiscard]] table read_fingerprints(const std::string& path, const read_options& options,
                                      const fingerprint_options& bits);

/// The same of what is open; options.stop and options.max_bytes are those of `file`.
[[nodiscard]] table read_fingerprints(input& file, const read_options& options,
                                      const fingerprint_options& bits);

}  // namespace gpu::io
