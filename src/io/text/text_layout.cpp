#include "io/text/text_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "io/text/gct.hpp"
#include "io/text/layout_notes.hpp"
#include "io/text/names_signs.hpp"
#include "io/text/text_sample.hpp"

namespace gpu::io {
namespace {

/// Whether `c` is a control character, or perhaps the first byte of one.
bool is_rare(char c) {
  const auto code = static_cast<unsigned char>(c);
  return code < 0x20 || code == 0x7F || code == 0xC2;
}

/// The line `sep=;` that tells Excel what separates the fields, with its separator and its bytes.
struct separator_line {
  char separator;
  std::size_t bytes;
};

/// The line that `text` begins with; nothing where it begins with another, or names what separates
/// no fields here.
std::optional<separator_line> find_separator_line(std::string_view text) {
  const std::size_t size = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, size);
  if (line.ends_with('\r')) line.remove_suffix(1);
  const bool has_key = line.starts_with("sep=") || line.starts_with("SEP=");
  if (!has_key || line.size() != 5 ||
      std::string_view("\t,;| ").find(line.back()) == std::string_view::npos) {
    return {};
  }
  return separator_line{.separator = line.back(), .bytes = std::min(size + 1, text.size())};
}

bool holds(const std::vector<index_t>& columns, index_t column) {
  return std::find(columns.begin(), columns.end(), column) != columns.end();
}

/// The steps to a layout; each needs those before it.
class layout_finder {
 public:
  layout_finder(std::string_view text, const text_options& options, const std::string& file)
      : text_(sample_text(text)), options_(options), file_(file) {}

  found_layout find() {
    gct_ = find_gct(text_, file_);
    separator_line_ = find_separator_line(text_);
    set_rules();
    read_sample();
    choose_header();
    choose_names();
    check_header();
    describe();
    return std::move(found_);
  }

 private:
  void set_rules() {
    text_layout& layout = found_.layout;
    layout.comment = options_.comment;
    layout.values = make_value_rules(options_.decimal, options_.missing);
    if (gct_) {
      layout.separator = '\t';
      layout.rows = gct_->rows;
    } else if (separator_line_ && options_.separator == delimiter::automatic) {
      layout.separator = separator_line_->separator;
    } else if (options_.separator == delimiter::automatic) {
      layout.separator = likely_separator(text_, layout, layout.values);
    } else {
      layout.separator = separator_of(options_.separator);
    }
    layout.merges = layout.separator == ' ';
  }

  void read_sample() {
    const text_layout& layout = found_.layout;
    const std::size_t before = gct_ ? gct_->bytes : separator_line_ ? separator_line_->bytes : 0;
    const index_t lines_before = gct_ ? 2 : separator_line_ ? 1 : 0;
    sample_ = take_sample(text_.substr(before), layout);
    if (sample_.empty()) {
      throw input_error(file_, {}, "the file is empty, expected rows of numbers");
    }
    is_chosen_ = chooses_columns(options_) || gct_;
    const std::size_t all = std::numeric_limits<std::size_t>::max();
    split_sample(sample_, layout, layout.values, is_chosen_ ? all : most_sample_cells);
    for (sample_line& line : sample_) {
      line.number += lines_before;
      line.begin += before;
      line.end += before;
    }
    for (std::size_t i = 0; i < std::min<std::size_t>(sample_.size(), 2); ++i) {
      if (sample_[i].fault == field_fault::none) continue;
      throw input_error(file_,
                        {sample_[i].number, static_cast<index_t>(sample_[i].cells.size()) + 1},
                        text_of(sample_[i].fault));
    }
  }

  void choose_header() {
    // Before the header is known, the second line says how many fields there are.
    fields_ = static_cast<index_t>(sample_[sample_.size() > 1 ? 1 : 0].cells.size());
    const bool has_names = is_chosen_ && !are_numbers(options_, fields_);
    if (options_.header != choice::automatic) {
      has_header_ = options_.header == choice::yes;
    } else if (gct_ || has_names) {
      has_header_ = true;
    } else {
      const column_choice chosen =
          is_chosen_ ? choose_columns(options_, fields_, {}, file_) : column_choice{};
      const text_sample seen = is_chosen_ ? chosen_part(chosen) : text_sample{};
      const name_sign sign = sign_of_first_line(is_chosen_ ? seen : sample_);
      has_header_ = sign.are_names;
      if (sign.is_doubtful) {
        found_.reading.notes.push_back(line_note(sample_, has_header_));
      }
    }
    const sample_line& head = sample_.front();
    if (has_header_ && gct_) {
      const auto skipped =
          std::min(static_cast<std::size_t>(gct_->skipped_lines), sample_.size() - 1);
      after_header_ = place_of(sample_[skipped]);
      sample_.erase(sample_.begin() + 1,
                    sample_.begin() + 1 + static_cast<std::ptrdiff_t>(skipped));
    } else {
      after_header_ = place_of(head);
    }
    if (has_header_ && sample_.size() == 1) {
      throw input_error(file_, {head.number, 0},
                        fmt::format("got the header {} and no row of numbers", quoted(head.text)));
    }
    first_row_ = has_header_ ? 1 : 0;
    fields_ = static_cast<index_t>(sample_[first_row_].cells.size());
  }

  void choose_names() {
    text_layout& layout = found_.layout;
    layout.fields = fields_;
    column_choice chosen;
    if (is_chosen_) chosen = choose_columns(options_, fields_, header_names(), file_);
    for (index_t c = 1; gct_ && c <= gct_->skipped_columns; ++c) {
      if (c < fields_ && !holds(chosen.values, c)) chosen.skipped.push_back(c);
    }
    index_t names = chosen.names;
    if (names < 0 && options_.row_names == choice::yes) names = 0;
    const bool may_name = names < 0 && options_.row_names == choice::automatic &&
                          !holds(chosen.values, 0) && !holds(chosen.skipped, 0);
    if (may_name) {
      const text_sample seen = is_chosen_ ? chosen_part(chosen) : text_sample{};
      const name_sign sign = sign_of_first_column(is_chosen_ ? seen : sample_, first_row_);
      if (sign.are_names) names = 0;
      if (sign.is_doubtful) {
        found_.reading.notes.push_back(column_note(sample_, first_row_, sign.are_names));
      }
    }
    layout.row_names = names >= 0;
    layout.cols = fields_ - (layout.row_names ? 1 : 0);
    if (is_chosen_) {
      layout.roles = roles_of(chosen, fields_, names);
      layout.cols = std::count(layout.roles.begin(), layout.roles.end(), field_role::value);
      // Lines of numbers behind a name need no roles.
      const bool is_plain = layout.cols == fields_ || (layout.cols == fields_ - 1 && names == 0);
      if (is_plain) layout.roles.clear();
    }
    if (layout.row_names) found_.reading.rows_named_by = fmt::format("column {}", names + 1);
    const sample_line& data = sample_[first_row_];
    if (layout.cols == 0) {
      throw input_error(
          file_, {data.number, 1},
          is_chosen_ ? std::string("no column of values is chosen, expected one")
                     : fmt::format("got {}, expected numbers{}", quoted(data.cells.front().text),
                                   data.text.find_first_of(",;|\t ") == std::string_view::npos
                                       ? ""
                                       : " (--delimiter says what separates them)"));
    }
  }

  /// The names of all fields, those of rows too; none where there is no header for each.
  [[nodiscard]] std::vector<std::string> header_names() const {
    std::vector<std::string> names;
    if (!has_header_) return names;
    const std::vector<sample_cell>& cells = sample_.front().cells;
    if (static_cast<index_t>(cells.size()) + 1 == fields_) names.emplace_back();
    for (const sample_cell& cell : cells) names.push_back(cell.text);
    if (static_cast<index_t>(names.size()) != fields_) names.clear();
    return names;
  }

  /// The sample without what is not chosen; what may name the row comes first.
  [[nodiscard]] text_sample chosen_part(const column_choice& chosen) const {
    const bool first_may =
        chosen.names < 0 && !holds(chosen.values, 0) && !holds(chosen.skipped, 0);
    const index_t names = first_may ? 0 : chosen.names;
    const std::vector<field_role> roles = roles_of(chosen, fields_, names);
    text_sample out;
    for (const sample_line& line : sample_) {
      out.push_back({.number = line.number, .text = line.text});
      // A header may have no field above the names.
      const bool is_short = static_cast<index_t>(line.cells.size()) + 1 == fields_;
      const auto add = [&](index_t field) {
        const index_t at = field - (is_short ? 1 : 0);
        if (at < 0 || at >= static_cast<index_t>(line.cells.size())) return;
        out.back().cells.push_back(line.cells[static_cast<std::size_t>(at)]);
      };
      if (names >= 0) add(names);
      for (index_t field = 0; field < fields_; ++field) {
        if (roles[static_cast<std::size_t>(field)] == field_role::value) add(field);
      }
    }
    // Nothing chosen: the message says so later.
    if (out.front().cells.empty()) return sample_;
    return out;
  }

  void check_header() const {
    if (!has_header_) return;
    const sample_line& head = sample_.front();
    const auto size = static_cast<index_t>(head.cells.size());
    const bool is_short = found_.layout.row_names && found_.reading.rows_named_by == "column 1" &&
                          size + 1 == fields_;
    if (size == fields_ || is_short) return;
    std::string hint;
    // What spreadsheets are told of the separator by.
    for (const char* const begin : {"#", "sep="}) {
      if (!head.text.starts_with(begin) || !options_.comment.empty()) continue;
      hint = fmt::format(" (--comment '{}' leaves lines out that begin so)", begin);
    }
    throw input_error(
        file_, {head.number, 0},
        fmt::format("got a header of {} fields, but the first row has {}{}", size, fields_, hint));
  }

  void describe() {
    const sample_line& head = sample_.front();
    found_.rows_begin = has_header_ ? after_header_.end : head.begin;
    found_.lines_before = has_header_ ? lines_up_to(after_header_) : head.number - 1;
    if (!has_header_) return;
    found_.reading.columns_named_by = fmt::format("line {}", head.number);
    const std::vector<std::string> names = header_names();
    const text_layout& layout = found_.layout;
    for (index_t column = 1; column <= fields_; ++column) {
      const std::string& name = names[static_cast<std::size_t>(column - 1)];
      const field_role role = layout.role(column);
      if (role == field_role::value) found_.columns.names.push_back(cleaned_name(name));
      if (role == field_role::name) found_.columns.corner = cleaned_name(name);
    }
  }

  static sample_line place_of(const sample_line& line) {
    return {.number = line.number, .text = line.text, .begin = line.begin, .end = line.end};
  }

  /// The lines of the file up to the end of a record.
  static index_t lines_up_to(const sample_line& line) {
    return line.number + std::count(line.text.begin(), line.text.end(), '\n');
  }

  std::string_view text_;
  const text_options& options_;
  const std::string& file_;
  std::optional<gct_preamble> gct_;
  std::optional<separator_line> separator_line_;
  text_sample sample_;
  sample_line
      after_header_;  // without cells: the last line in front of the rows, where there is a header
  index_t fields_ = 0;
  std::size_t first_row_ = 0;
  bool is_chosen_ = false;
  bool has_header_ = false;
  found_layout found_;
};

}  // namespace

std::string cleaned_name(std::string_view name) {
  if (std::none_of(name.begin(), name.end(), is_rare)) return std::string(name);
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool ends_line = name[i] == '\r' && i + 1 < name.size() && name[i + 1] == '\n';
    if (ends_line) continue;
    out += name[i] == '\t' || name[i] == '\n' ? ' ' : name[i];
  }
  return printable(out);
}

char separator_of(delimiter which) {
  switch (which) {
    case delimiter::tab:
      return '\t';
    case delimiter::semicolon:
      return ';';
    case delimiter::comma:
      return ',';
    case delimiter::bar:
      return '|';
    case delimiter::automatic:
    case delimiter::blanks:
      break;
  }
  return ' ';
}

found_layout find_layout(std::string_view text, const text_options& options,
                         const std::string& file) {
  return layout_finder(text, options, file).find();
}

}  // namespace gpu::io
