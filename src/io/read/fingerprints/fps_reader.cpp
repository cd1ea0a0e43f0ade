#include "io/read/fingerprints/fps_reader.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "io/io_error.hpp"
#include "io/read/fingerprints/bit_rows.hpp"
#include "io/read/fingerprints/digits.hpp"
#include "io/read/numbered_lines.hpp"
#include "io/text/text_layout.hpp"

namespace gpu::io {
namespace {

constexpr std::string_view bits_header = "#num_bits=";

class fps_file {
 public:
  fps_file(std::unique_ptr<line_source> lines, const std::string& file, index_t bits)
      : lines_(std::move(lines)), file_(file), bits_(bits) {}

  table read() {
    for (std::string_view line; lines_.next(line);) {
      if (line.empty()) continue;
      if (line.front() != '#') {
        take_row(line);
      } else if (rows_) {
        refuse(0, "got a header after the first fingerprint, expected a fingerprint");
      } else if (line.starts_with(bits_header)) {
        take_bits(line.substr(bits_header.size()));
      }
    }
    if (!rows_) throw input_error(file_, {}, "has no fingerprint, expected at least one");
    out_.bits = rows_->take();
    out_.reading.rows_named_by = "column 2";
    return std::move(out_);
  }

 private:
  void take_bits(std::string_view text) {
    index_t bits = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped, status] = std::from_chars(text.data(), end, bits);
    constexpr index_t most = std::numeric_limits<std::int32_t>::max();
    if (status != std::errc{} || stopped != end || bits < 1 || bits > most) {
      refuse(0, fmt::format("got {}, expected a number of bits from 1 to {}", quoted(text), most));
    }
    if (bits_ != 0 && bits != bits_) {
      refuse(0, fmt::format("got {} bits, expected {}", bits, bits_));
    }
    bits_ = bits;
  }

  void take_row(std::string_view line) {
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos) {
      refuse(0, fmt::format("got {}, expected a fingerprint, a tab and a name", quoted(line)));
    }
    const std::string_view digits = line.substr(0, tab);
    if (!rows_) begin(digits);
    if (digits.size() != digits_) {
      refuse(1, fmt::format("got {} hexadecimal digits, expected {}", digits.size(), digits_));
    }
    const digits_fault fault = take_hex(digits, rows_->cols(), rows_->add());
    if (fault != digits_fault::none) {
      refuse(1, text_of(fault, digits, rows_->cols(), "hexadecimal digits"));
    }
    const std::string_view rest = line.substr(tab + 1);
    out_.names.add(cleaned_name(rest.substr(0, rest.find('\t'))));
  }

  void begin(std::string_view digits) {
    digits_ = bits_ == 0 ? digits.size() : 2 * static_cast<std::size_t>((bits_ + 7) / 8);
    if (digits_ == 0 || digits_ % 2 != 0) {
      refuse(1, fmt::format("got {} hexadecimal digits, expected two for each octet", digits_));
    }
    rows_.emplace(bits_ == 0 ? static_cast<index_t>(4 * digits_) : bits_);
  }

  [[noreturn]] void refuse(index_t column, const std::string& what) const {
    throw input_error(file_, {lines_.number(), column}, what);
  }

  numbered_lines lines_;
  const std::string& file_;
  index_t bits_;
  std::size_t digits_ = 0;  // of a row
  std::optional<bit_rows> rows_;
  table out_;
};

}  // namespace

table read_fps(std::unique_ptr<line_source> lines, const std::string& file,
               const fingerprint_options& bits) {
  return fps_file(std::move(lines), file, bits.bits).read();
}

}  // namespace gpu::io
