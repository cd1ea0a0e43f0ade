#include "io/read/fingerprints/digits_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/counted.hpp"
#include "base/parsed.hpp"
#include "io/io_error.hpp"
#include "io/read/fingerprints/bit_rows.hpp"
#include "io/read/numbered_lines.hpp"
#include "io/text/column_roles.hpp"
#include "io/text/text_fields.hpp"
#include "io/text/text_layout.hpp"

namespace gpu::io {
namespace {

constexpr std::size_t least_digits = 8;        // of what is taken for a fingerprint
constexpr std::ptrdiff_t most_other_bits = 2;  // beside it: an index and a label, say
constexpr std::size_t sample_lines = 100;      // that tell how a file is read
constexpr std::size_t none = ~std::size_t{0};

using fields = std::vector<std::string>;

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

bool is_hex(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return hex_values[static_cast<unsigned char>(c)] >= 0;
  });
}

bool is_binary(std::string_view text) {
  return !text.empty() && text.find_first_not_of("01") == std::string_view::npos;
}

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

/// Sets the bits of as many digits 0 and 1; false where one is another.
bool take_binary(std::string_view digits, std::uint32_t* words) {
  constexpr std::size_t word_bits = 32;
  for (std::size_t k = 0; k < digits.size(); ++k) {
    const auto bit = static_cast<unsigned char>(digits[k] - '0');
    if (bit > 1) return false;
    words[k / word_bits] |= std::uint32_t{bit} << (k % word_bits);
  }
  return true;
}

/// Lines whose fingerprints become rows.
class digit_rows {
 public:
  /// @param row_bits bits of a row; 0: as many as the first one has.
  digit_rows(std::unique_ptr<line_source> source, const std::string& file, bool is_hex_text,
             index_t row_bits)
      : lines(std::move(source)), are_hex(is_hex_text), bits(row_bits), file_(file) {}

  numbered_lines lines;
  bool are_hex;
  index_t bits;
  table out = {};  ///< Its bits are those of finish().

  [[nodiscard]] bool have_begun() const { return rows_.has_value(); }

  /// The digits of the next row, which stand in field `column` of the line, from 1.
  void add(std::string_view digits, index_t column) {
    if (!rows_) begin(digits, column);
    const char* const kind = are_hex ? "hexadecimal digits" : "digits";
    if (digits.size() != digits_of_row_) {
      refuse(column, fmt::format("got {} {}, expected {}", digits.size(), kind, digits_of_row_));
    }
    std::uint32_t* const words = rows_->add();
    const std::optional<unsigned> last = are_hex                      ? take_hex(digits, words)
                                         : take_binary(digits, words) ? std::optional(0U)
                                                                      : std::nullopt;
    if (!last) {
      refuse(column,
             fmt::format("got {}, expected {}{}", quoted(digits), kind, are_hex ? "" : " 0 and 1"));
    }
    const auto behind = static_cast<unsigned>(rows_->cols() % 8);
    if (behind != 0 && *last >> behind != 0) {
      refuse(column, fmt::format("got a bit after the last of {}, expected 0", rows_->cols()));
    }
  }

  /// All rows, with what `out` says of them.
  table finish() {
    if (!rows_) throw input_error(file_, {}, "has no fingerprint, expected at least one");
    out.bits = rows_->take();
    return std::move(out);
  }

  [[noreturn]] void refuse(index_t column, const std::string& what) const {
    throw input_error(file_, {lines.number(), column}, what);
  }

 private:
  void begin(std::string_view digits, index_t column) {
    const auto given = static_cast<std::size_t>(bits);
    digits_of_row_ = given == 0 ? digits.size() : are_hex ? 2 * ((given + 7) / 8) : given;
    if (digits_of_row_ == 0) refuse(column, "got no digit, expected a fingerprint");
    if (are_hex && digits_of_row_ % 2 != 0) {
      refuse(column, fmt::format("got {} hexadecimal digits ({}), expected two for each octet",
                                 digits_of_row_, quoted(digits)));
    }
    rows_.emplace(static_cast<index_t>(given != 0 ? given
                                       : are_hex  ? 4 * digits_of_row_
                                                  : digits_of_row_));
  }

  const std::string& file_;
  std::size_t digits_of_row_ = 0;
  std::optional<bit_rows> rows_;
};

/// Splits a record; false where a quote is wrong.
bool split(std::string_view line, const field_rules& rules, fields& out, field_fault& fault) {
  field_cursor cursor(line, rules);
  out.clear();
  for (std::string_view field; cursor.next(field);) out.emplace_back(field);
  fault = cursor.fault();
  return fault == field_fault::none;
}

bool is_left_out(std::string_view line, const field_rules& rules) {
  return is_blank_line(line, rules) || is_comment(line, rules);
}

/// The first of the usual separators in the first line that is one; a blank where there is none.
char likely_separator(std::string_view text, const field_rules& rules) {
  std::string_view line = text.substr(0, text.find('\n'));
  while (line.size() < text.size() && is_left_out(line, rules)) {
    text.remove_prefix(line.size() + 1);
    line = text.substr(0, text.find('\n'));
  }
  for (const char c : {'\t', ',', ';', '|'}) {
    if (line.find(c) != std::string_view::npos) return c;
  }
  return ' ';
}

field_rules rules_of(std::string_view text, const text_options& options) {
  field_rules rules{.comment = options.comment};
  rules.separator = options.separator == delimiter::automatic ? likely_separator(text, rules)
                                                              : separator_of(options.separator);
  rules.merges = rules.separator == ' ';
  return rules;
}

/// The first records of a text that have no wrong quote.
std::vector<fields> sample_of(std::string_view text, const field_rules& rules) {
  std::vector<fields> out;
  while (!text.empty() && out.size() < sample_lines) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (is_left_out(line, rules)) continue;
    fields own;
    field_fault fault{};
    if (split(line, rules, own, fault)) out.push_back(std::move(own));
  }
  return out;
}

/// The field of the most digits of a row; none where there is none.
std::size_t longest_digits(const fields& row) {
  std::size_t found = none;
  for (std::size_t k = 0; k < row.size(); ++k) {
    if (!is_hex(row[k])) continue;
    if (found == none || row[k].size() > row[found].size()) found = k;
  }
  return found;
}

/// Whether the digits of the rows that have some there are 0 and 1 alone.
bool are_binary(const std::vector<fields>& sample, std::size_t field) {
  return std::all_of(sample.begin(), sample.end(), [field](const fields& row) {
    return field >= row.size() || !is_hex(row[field]) || is_binary(row[field]);
  });
}

class digits_file {
 public:
  digits_file(std::unique_ptr<line_source> lines, const std::string& file,
              const text_options& options, const fingerprint_options& bits)
      : rows_(std::move(lines), file, bits.format == fingerprint_format::hex, bits.bits),
        file_(file),
        options_(options),
        format_(bits.format) {}

  table read() {
    const std::string_view ahead = rows_.lines.ahead();
    rules_ = rules_of(ahead, options_);
    choose_columns(sample_of(ahead, rules_));
    fields row;
    for (std::string_view line; rows_.lines.next(line);) {
      if (is_left_out(line, rules_)) continue;
      field_fault fault{};
      if (!split(line, rules_, row, fault)) {
        rows_.refuse(static_cast<index_t>(row.size()) + 1, text_of(fault));
      }
      if (!std::exchange(is_head_read_, true) && has_header_) continue;
      take_row(row);
    }
    return rows_.finish();
  }

 private:
  /// The columns that the options choose, with the names of the first line, where it has one a
  /// column.
  [[nodiscard]] column_choice chosen_of(const fields& head, const fields& data) const {
    if (!chooses_columns(options_)) return {};
    const bool has_names = options_.header != choice::no && head.size() == data.size();
    return io::choose_columns(options_, static_cast<index_t>(data.size()),
                              has_names ? head : fields(), file_);
  }

  void choose_columns(const std::vector<fields>& sample) {
    if (sample.empty()) return;
    const fields& head = sample.front();
    const fields& data = sample[sample.size() > 1 ? 1 : 0];
    const column_choice chosen = chosen_of(head, data);
    if (chosen.values.size() > 1) {
      throw input_error(file_, {},
                        fmt::format("got {} columns of fingerprints, expected 1 (--columns)",
                                    chosen.values.size()));
    }
    digits_ = chosen.values.empty() ? longest_digits(data)
                                    : static_cast<std::size_t>(chosen.values.front());
    if (digits_ == none) digits_ = 0;  // the first row says what is wrong
    if (format_ == fingerprint_format::automatic) rows_.are_hex = !are_binary(sample, digits_);
    const bool is_row =
        digits_ < head.size() && (rows_.are_hex ? is_hex(head[digits_]) : is_binary(head[digits_]));
    has_header_ = options_.header == choice::automatic ? sample.size() > 1 && !is_row
                                                       : options_.header == choice::yes;
    if (chosen.names >= 0) {
      names_ = static_cast<std::size_t>(chosen.names);
    } else if (options_.row_names != choice::no && data.size() > 1) {
      names_ = digits_ == 0 ? 1 : 0;
    }
    if (names_ != none) rows_.out.reading.rows_named_by = fmt::format("column {}", names_ + 1);
    const bool is_doubtful =  // a row with a wrong digit?
        digits_ < head.size() && digits_ < data.size() &&
        head[digits_].size() == data[digits_].size();
    if (has_header_ && options_.header == choice::automatic && is_doubtful) {
      rows_.out.reading.notes.emplace_back(
          "the first line was taken for names of columns. --header no takes it for a fingerprint");
    }
  }

  void take_row(const fields& row) {
    const std::size_t needed = names_ == none ? digits_ : std::max(digits_, names_);
    if (needed >= row.size()) {
      rows_.refuse(0, fmt::format("got {}, expected at least {}",
                                  gpu::detail::counted(row.size(), "field"), needed + 1));
    }
    rows_.add(row[digits_], static_cast<index_t>(digits_) + 1);
    if (names_ != none) rows_.out.names.add(cleaned_name(row[names_]));
  }

  digit_rows rows_;
  const std::string& file_;
  const text_options& options_;
  fingerprint_format format_;
  field_rules rules_;
  std::size_t digits_ = 0;    // which field has them
  std::size_t names_ = none;  // which field has the name
  bool has_header_ = false;
  bool is_head_read_ = false;
};

/// The number that a header says, which is `expected` unless that is 0.
index_t bits_of_header(std::string_view text, const digit_rows& rows) {
  const index_t bits = gpu::detail::parsed<index_t>(text).value_or(0);
  constexpr index_t most = std::numeric_limits<std::int32_t>::max();
  if (bits < 1 || bits > most) {
    rows.refuse(0,
                fmt::format("got {}, expected a number of bits from 1 to {}", quoted(text), most));
  }
  if (rows.bits != 0 && bits != rows.bits) {
    rows.refuse(0, fmt::format("got {} bits, expected {}", bits, rows.bits));
  }
  return bits;
}

}  // namespace

fingerprint_format format_of_lines(std::string_view text, const text_options& options) {
  text = without_byte_order_mark(text);
  const std::vector<fields> sample = sample_of(text, rules_of(text, options));
  if (sample.empty()) return fingerprint_format::table;
  const fields& data = sample[sample.size() > 1 ? 1 : 0];
  const auto bits = std::count_if(data.begin(), data.end(), [](const std::string& field) {
    return field == "0" || field == "1";
  });
  const std::size_t field = longest_digits(data);
  if (bits > most_other_bits || field == none || data[field].size() < least_digits) {
    return fingerprint_format::table;
  }
  return are_binary(sample, field) ? fingerprint_format::binary : fingerprint_format::hex;
}

table read_digits(std::unique_ptr<line_source> lines, const std::string& file,
                  const text_options& options, const fingerprint_options& bits) {
  return digits_file(std::move(lines), file, options, bits).read();
}

table read_fps(std::unique_ptr<line_source> lines, const std::string& file,
               const fingerprint_options& bits) {
  constexpr std::string_view bits_header = "#num_bits=";
  digit_rows rows(std::move(lines), file, true, bits.bits);
  for (std::string_view line; rows.lines.next(line);) {
    if (line.empty()) continue;
    if (line.front() != '#') {
      const std::size_t tab = line.find('\t');
      if (tab == std::string_view::npos) {
        rows.refuse(0,
                    fmt::format("got {}, expected a fingerprint, a tab and a name", quoted(line)));
      }
      rows.add(line.substr(0, tab), 1);
      const std::string_view rest = line.substr(tab + 1);
      rows.out.names.add(cleaned_name(rest.substr(0, rest.find('\t'))));
    } else if (rows.have_begun()) {
      rows.refuse(0, "got a header after the first fingerprint, expected a fingerprint");
    } else if (line.starts_with(bits_header)) {
      rows.bits = bits_of_header(line.substr(bits_header.size()), rows);
    }
  }
  rows.out.reading.rows_named_by = "column 2";
  return rows.finish();
}

}  // namespace gpu::io
