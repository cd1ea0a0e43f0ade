#include "io/read/fingerprints/fps_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "base/parsed.hpp"
#include "io/io_error.hpp"
#include "io/read/fingerprints/bit_rows.hpp"
#include "io/read/numbered_lines.hpp"
#include "io/read/row_choice.hpp"
#include "io/text/text_layout.hpp"

namespace gpu::io {
namespace {

constexpr std::array<std::int8_t, 256> make_hex_values() {
  std::array<std::int8_t, 256> out{};
  out.fill(-1);
  for (std::size_t value = 0; value < 16; ++value) {
    out[static_cast<unsigned char>("0123456789abcdef"[value])] = static_cast<std::int8_t>(value);
    out[static_cast<unsigned char>("0123456789ABCDEF"[value])] = static_cast<std::int8_t>(value);
  }
  return out;
}

constexpr std::array<std::int8_t, 256> hex_values = make_hex_values();

/// Sets the bits of an even number of hexadecimal digits in `words`, which are 0: digits 2k and
/// 2k + 1 are the octet of the bits from 8k on, the least significant first. Returns the last
/// octet; nothing where a digit is none.
std::optional<unsigned> take_hex(std::string_view digits, std::uint32_t* words) {
  constexpr std::size_t word_octets = 4;
  unsigned last = 0;
  for (std::size_t k = 0; 2 * k < digits.size(); ++k) {
    const int high = hex_values[static_cast<unsigned char>(digits[2 * k])];
    const int low = hex_values[static_cast<unsigned char>(digits[2 * k + 1])];
    if ((high | low) < 0) return std::nullopt;
    last = static_cast<unsigned>(high << 4 | low);
    words[k / word_octets] |= last << (8 * (k % word_octets));
  }
  return last;
}

class fps_file {
 public:
  fps_file(std::unique_ptr<line_source> source, const std::string& file, index_t bits,
           const row_range& chosen)
      : lines_(std::move(source)), file_(file), bits_(bits), chosen_(chosen) {}

  table read() {
    for (std::string_view line; lines_.next(line);) {
      if (line.empty()) continue;
      line.front() == '#' ? take_header(line) : take_row(line);
    }
    if (seen_ == 0) throw input_error(file_, {}, "has no fingerprint, expected at least one");
    check_row_range(chosen_, seen_, false, file_);
    out_.reading.rows_named_by = "column 2";
    out_.bits = rows_->take();
    return std::move(out_);
  }

 private:
  [[noreturn]] void refuse(index_t column, const std::string& what) const {
    throw input_error(file_, {lines_.number(), column}, what);
  }

  void take_header(std::string_view line) {
    constexpr std::string_view bits_header = "#num_bits=";
    if (seen_ > 0) refuse(0, "got a header after the first fingerprint, expected a fingerprint");
    if (!line.starts_with(bits_header)) return;
    const std::string_view text = line.substr(bits_header.size());
    const index_t bits = gpu::detail::parsed<index_t>(text).value_or(0);
    constexpr index_t most = std::numeric_limits<std::int32_t>::max();
    if (bits < 1 || bits > most) {
      refuse(0, fmt::format("got {}, expected a number of bits from 1 to {}", quoted(text), most));
    }
    if (bits_ != 0 && bits != bits_)
      refuse(0, fmt::format("got {} bits, expected {}", bits, bits_));
    bits_ = bits;
  }

  void take_row(std::string_view line) {
    const index_t number = seen_++;
    if (number < chosen_.begin || number >= chosen_.end) return;
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos) {
      refuse(0, fmt::format("got {}, expected a fingerprint, a tab and a name", quoted(line)));
    }
    const std::string_view digits = line.substr(0, tab);
    if (!rows_) begin(digits);
    if (digits.size() != digits_of_row_) {
      refuse(1,
             fmt::format("got {} hexadecimal digits, expected {}", digits.size(), digits_of_row_));
    }
    const std::optional<unsigned> last = take_hex(digits, rows_->add());
    if (!last) refuse(1, fmt::format("got {}, expected hexadecimal digits", quoted(digits)));
    const auto behind = static_cast<unsigned>(rows_->cols() % 8);
    if (behind != 0 && *last >> behind != 0) {
      refuse(1, fmt::format("got a bit after the last of {}, expected 0", rows_->cols()));
    }
    const std::string_view rest = line.substr(tab + 1);
    out_.names.add(cleaned_name(rest.substr(0, rest.find('\t'))));
  }

  void begin(std::string_view digits) {
    digits_of_row_ = bits_ == 0 ? digits.size() : 2 * ((static_cast<std::size_t>(bits_) + 7) / 8);
    if (digits_of_row_ == 0) refuse(1, "got no digit, expected a fingerprint");
    if (digits_of_row_ % 2 != 0) {
      refuse(1, fmt::format("got {} hexadecimal digits ({}), expected two for each octet",
                            digits_of_row_, quoted(digits)));
    }
    rows_.emplace(bits_ != 0 ? bits_ : static_cast<index_t>(4 * digits_of_row_));
  }

  numbered_lines lines_;
  const std::string& file_;
  index_t bits_;
  row_range chosen_;
  index_t seen_ = 0;  // rows of the file
  std::size_t digits_of_row_ = 0;
  std::optional<bit_rows> rows_;
  table out_;
};

}  // namespace

table read_fps(std::unique_ptr<line_source> lines, const std::string& file, index_t bits,
               const row_range& chosen) {
  return fps_file(std::move(lines), file, bits, chosen).read();
}

std::string_view digits_in(std::string_view text) {
  const std::size_t first = std::min(text.find('\n'), text.size());
  const std::string_view second = text.substr(std::min(first + 1, text.size()));
  std::string_view line =
      second.empty() ? text.substr(0, first) : second.substr(0, second.find('\n'));
  std::string_view found;
  int bits = 0;
  constexpr std::size_t least_digits = 8;
  constexpr int most_other_bits = 2;  // an index and a label, say
  while (!line.empty()) {
    const std::string_view field = line.substr(0, line.find_first_of("\t,;| \"\r"));
    const bool is_hex = std::all_of(field.begin(), field.end(), [](char c) {
      return hex_values[static_cast<unsigned char>(c)] >= 0;
    });
    if (is_hex && field.size() >= std::max(least_digits, found.size())) found = field;
    if (field == "0" || field == "1") ++bits;
    line.remove_prefix(std::min(field.size() + 1, line.size()));
  }
  return bits > most_other_bits ? std::string_view() : found;
}

}  // namespace gpu::io
