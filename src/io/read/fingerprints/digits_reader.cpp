#include "io/read/fingerprints/digits_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "base/counted.hpp"
#include "io/io_error.hpp"
#include "io/read/fingerprints/bit_rows.hpp"
#include "io/read/fingerprints/digits.hpp"
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
      : lines_(std::move(lines)), file_(file), options_(options), bits_(bits) {}

  table read() {
    const std::string_view ahead = lines_.ahead();
    rules_ = rules_of(ahead, options_);
    choose_columns(sample_of(ahead, rules_));
    fields row;
    for (std::string_view line; lines_.next(line);) {
      if (is_left_out(line, rules_)) continue;
      field_fault fault{};
      if (!split(line, rules_, row, fault)) {
        refuse(static_cast<index_t>(row.size()) + 1, text_of(fault));
      }
      if (!std::exchange(is_head_read_, true) && has_header_) continue;
      take_row(row);
    }
    if (!rows_) throw input_error(file_, {}, "has no fingerprint, expected at least one");
    out_.bits = rows_->take();
    return std::move(out_);
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
    if (bits_.format == fingerprint_format::automatic) {
      bits_.format =
          are_binary(sample, digits_) ? fingerprint_format::binary : fingerprint_format::hex;
    }
    const bool is_row = digits_ < head.size() &&
                        (bits_.format == fingerprint_format::hex ? is_hex(head[digits_])
                                                                 : is_binary(head[digits_]));
    has_header_ = options_.header == choice::automatic ? sample.size() > 1 && !is_row
                                                       : options_.header == choice::yes;
    if (chosen.names >= 0) {
      names_ = static_cast<std::size_t>(chosen.names);
    } else if (options_.row_names != choice::no && data.size() > 1) {
      names_ = digits_ == 0 ? 1 : 0;
    }
    if (names_ != none) out_.reading.rows_named_by = fmt::format("column {}", names_ + 1);
    const bool is_doubtful =  // a row with a wrong digit?
        digits_ < head.size() && digits_ < data.size() &&
        head[digits_].size() == data[digits_].size();
    if (has_header_ && options_.header == choice::automatic && is_doubtful) {
      out_.reading.notes.emplace_back(
          "the first line was taken for names of columns. --header no takes it for a fingerprint");
    }
  }

  void take_row(const fields& row) {
    const std::size_t needed = names_ == none ? digits_ : std::max(digits_, names_);
    if (needed >= row.size()) {
      refuse(0, fmt::format("got {}, expected at least {}",
                            gpu::detail::counted(row.size(), "field"), needed + 1));
    }
    const std::string& digits = row[digits_];
    if (!rows_) begin(digits);
    const auto column = static_cast<index_t>(digits_) + 1;
    if (digits.size() != digits_of_row_) {
      refuse(column, fmt::format("got {} digits, expected {}", digits.size(), digits_of_row_));
    }
    const bool is_hex_text = bits_.format == fingerprint_format::hex;
    std::uint32_t* const words = rows_->add();
    const digits_fault fault =
        is_hex_text ? take_hex(digits, rows_->cols(), words) : take_binary(digits, words);
    if (fault != digits_fault::none) {
      refuse(column, text_of(fault, digits, rows_->cols(),
                             is_hex_text ? "hexadecimal digits" : "digits 0 and 1"));
    }
    if (names_ != none) out_.names.add(cleaned_name(row[names_]));
  }

  void begin(const std::string& digits) {
    const auto column = static_cast<index_t>(digits_) + 1;
    const auto given = static_cast<std::size_t>(bits_.bits);
    const bool is_hex_text = bits_.format == fingerprint_format::hex;
    digits_of_row_ = given == 0 ? digits.size() : is_hex_text ? 2 * ((given + 7) / 8) : given;
    if (digits_of_row_ == 0) refuse(column, "got no digit, expected a fingerprint");
    if (is_hex_text && digits_of_row_ % 2 != 0) {
      refuse(column, fmt::format("got {} hexadecimal digits ({}), expected two for each octet",
                                 digits_of_row_, quoted(digits)));
    }
    rows_.emplace(static_cast<index_t>(given != 0    ? given
                                       : is_hex_text ? 4 * digits_of_row_
                                                     : digits_of_row_));
  }

  [[noreturn]] void refuse(index_t column, const std::string& what) const {
    throw input_error(file_, {lines_.number(), column}, what);
  }

  numbered_lines lines_;
  const std::string& file_;
  const text_options& options_;
  fingerprint_options bits_;
  field_rules rules_;
  std::size_t digits_ = 0;    // which field has them
  std::size_t names_ = none;  // which field has the name
  std::size_t digits_of_row_ = 0;
  bool has_header_ = false;
  bool is_head_read_ = false;
  std::optional<bit_rows> rows_;
  table out_;
};

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

}  // namespace gpu::io
