#include "io/text/text_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/counted.hpp"
#include "io/text/gct.hpp"
#include "io/text/names_rule.hpp"
#include "io/text/text_sample.hpp"

namespace gpu::io {
namespace {

/// Whether `c` is a control character, or perhaps the first byte of one.
bool is_rare(char c) {
  const auto code = static_cast<unsigned char>(c);
  return code < 0x20 || code == 0x7F || code == 0xC2;
}

/// The bytes of the line `sep=;` that tells Excel what separates the fields; 0 where `text` begins
/// with another, or with one that names what separates no fields here.
std::size_t separator_line_bytes(std::string_view text) {
  const std::size_t size = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, size);
  if (line.ends_with('\r')) line.remove_suffix(1);
  const bool has_key = line.starts_with("sep=") || line.starts_with("SEP=");
  const bool is_one = has_key && line.size() == 5 && line.find_last_of("\t,;| ") == 4;
  return is_one ? std::min(size + 1, text.size()) : 0;
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
    separator_line_ = separator_line_bytes(text_);
    set_rules();
    read_sample();
    choose_header();
    drop_last_separator();
    choose_names();
    check_header();
    check_identifiers();
    find_text_columns();
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
    } else if (separator_line_ > 0 && options_.separator == delimiter::automatic) {
      layout.separator = text_[4];
    } else if (options_.separator == delimiter::automatic) {
      layout.separator = likely_separator(text_, layout, layout.values);
    } else {
      layout.separator = separator_of(options_.separator);
    }
    layout.merges = layout.separator == ' ';
  }

  void read_sample() {
    const text_layout& layout = found_.layout;
    const std::size_t before = gct_ ? gct_->bytes : separator_line_;
    const index_t lines_before = gct_ ? 2 : separator_line_ > 0 ? 1 : 0;
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
      const column_choice chosen = is_chosen_ ? chosen_columns({}) : column_choice{};
      has_header_ = heed(judge_first_line(seen(chosen), options_.row_names == choice::yes, file_));
    }
    std::size_t skipped = 0;
    if (has_header_ && gct_) {
      skipped = std::min(static_cast<std::size_t>(gct_->skipped_lines), sample_.size() - 1);
    }
    after_header_ = sample_[skipped];
    sample_.erase(sample_.begin() + 1, sample_.begin() + 1 + static_cast<std::ptrdiff_t>(skipped));
    const sample_line& head = sample_.front();
    if (has_header_ && sample_.size() == 1) {
      throw input_error(file_, {head.number, 0},
                        fmt::format("got the header {} and no row of numbers", quoted(head.text)));
    }
    first_row_ = has_header_ ? 1 : 0;
    fields_ = static_cast<index_t>(sample_[first_row_].cells.size());
  }

  /// Whether the lines from number `first` on have text in a column, and no number.
  [[nodiscard]] bool is_text_column(index_t column, std::size_t first) const {
    const auto c = static_cast<std::size_t>(column);
    bool has_text = false;
    for (std::size_t i = first; i < sample_.size(); ++i) {
      if (c >= sample_[i].cells.size()) continue;
      if (sample_[i].cells[c].is_number) return false;
      has_text = has_text || sample_[i].cells[c].is_text();
    }
    return has_text;
  }

  /// The columns that the options mean. Where another column names the rows, text in the first one
  /// is left out: no value can be read there.
  [[nodiscard]] column_choice chosen_columns(const std::vector<std::string>& names) const {
    column_choice chosen = choose_columns(options_, fields_, names, file_);
    const bool is_open = chosen.names > 0 && chosen.values.empty() && !holds(chosen.skipped, 0);
    if (is_open && (gct_ || is_text_column(0, sample_.size() > 1 ? 1 : 0))) {
      chosen.skipped.push_back(0);
    }
    return chosen;
  }

  /// Keeps what the user is told of a verdict.
  bool heed(const names_verdict& found) {
    if (!found.note.empty()) found_.reading.notes.push_back(found.note);
    return found.are_names;
  }

  /// Leaves out the last field of the rows where each ends with a separator behind which the header
  /// has no name.
  void drop_last_separator() {
    if (!has_header_ || chooses_columns(options_) || found_.layout.merges || fields_ < 2) return;
    const std::vector<sample_cell>& head = sample_.front().cells;
    const auto size = static_cast<index_t>(head.size());
    if (size + 1 != fields_ && !(size == fields_ && head.back().text.empty())) return;
    const char separator = found_.layout.separator;
    const bool all_end = std::all_of(sample_.begin() + 1, sample_.end(), [&](const auto& line) {
      const std::size_t last = line.text.find_last_not_of(separator == '\t' ? " \r" : " \t\r");
      return line.text[last] == separator;
    });
    if (!all_end) return;
    found_.reading.notes.push_back(
        fmt::format("each row ends with a separator, behind which line {} has no name: the last "
                    "field was left out, --columns 2-{} reads it",
                    sample_.front().number, fields_));
    ends_with_separator_ = true;
    --fields_;
    for (sample_line& line : sample_) {
      if (static_cast<index_t>(line.cells.size()) > fields_) line.cells.pop_back();
    }
  }

  void choose_names() {
    text_layout& layout = found_.layout;
    layout.fields = fields_;
    column_choice chosen;
    if (is_chosen_) chosen = chosen_columns(header_names());
    for (index_t c = 1; gct_ && c <= gct_->skipped_columns; ++c) {
      if (c < fields_ && !holds(chosen.values, c)) chosen.skipped.push_back(c);
    }
    index_t names = chosen.names;
    if (names < 0 && options_.row_names == choice::yes) names = 0;
    const bool may_name = names < 0 && options_.row_names == choice::automatic &&
                          !holds(chosen.values, 0) && !holds(chosen.skipped, 0);
    if (may_name) {
      // The first column of a GCT names the rows, whatever it holds.
      const bool are_names = gct_ || heed(judge_first_column(seen(chosen), first_row_, file_));
      if (are_names) names = 0;
      layout.may_name_rows = !are_names;
    }
    layout.row_names = names >= 0;
    layout.cols = fields_ - (layout.row_names ? 1 : 0);
    if (is_chosen_ || ends_with_separator_) {
      layout.roles = roles_of(chosen, fields_, names);
      layout.cols = std::count(layout.roles.begin(), layout.roles.end(), field_role::value);
      // Lines of numbers behind a name need no roles.
      const bool is_plain = layout.cols == fields_ || (layout.cols == fields_ - 1 && names == 0);
      if (ends_with_separator_) {
        layout.roles.push_back(field_role::empty);
        ++layout.fields;
      } else if (is_plain) {
        layout.roles.clear();
      }
    }
    if (layout.row_names) found_.reading.rows_named_by = fmt::format("column {}", names + 1);
    if (names > 0 && !gct_ && options_.columns.empty() && options_.skip_columns.empty() &&
        layout.role(1) == field_role::skipped) {
      found_.reading.notes.push_back(
          fmt::format("column 1 is text and was left out, because --names-column {} names the rows",
                      options_.names_column));
    }
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
  const text_sample& seen(const column_choice& chosen) {
    if (!is_chosen_) return sample_;
    const bool first_may =
        chosen.names < 0 && !holds(chosen.values, 0) && !holds(chosen.skipped, 0);
    const index_t names = first_may ? 0 : chosen.names;
    const std::vector<field_role> roles = roles_of(chosen, fields_, names);
    text_sample& out = seen_;
    out.clear();
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
    return out.front().cells.empty() ? sample_ : out;
  }

  void check_header() const {
    if (!has_header_) return;
    const sample_line& head = sample_.front();
    const auto size = static_cast<index_t>(head.cells.size());
    const bool is_short = found_.layout.row_names && found_.reading.rows_named_by == "column 1" &&
                          size + 1 == fields_ && !gct_;
    if (size == fields_ || is_short) return;
    std::string hint;
    // What spreadsheets are told of the separator by.
    for (const char* const begin : {"#", "sep="}) {
      if (!head.text.starts_with(begin) || !options_.comment.empty()) continue;
      hint = fmt::format(" (--comment '{}' leaves lines out that begin so)", begin);
    }
    throw input_error(file_, {head.number, 0},
                      fmt::format("got a header of {}, but the first row has {}{}",
                                  gpu::detail::counted(size, "field"), fields_, hint));
  }

  /// What --columns and --skip-columns call a column from 0: its name, where that is plain and its
  /// own, else its number.
  [[nodiscard]] static std::string word_of(std::size_t column,
                                           const std::vector<std::string>& names) {
    constexpr const char* plain =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_.0123456789";
    constexpr const char* digits = "0123456789";
    const bool is_word = column < names.size() &&
                         names[column].find_first_not_of(plain) == std::string::npos &&
                         names[column].find_first_not_of(digits) != std::string::npos &&
                         std::count(names.begin(), names.end(), names[column]) == 1;
    return is_word ? names[column] : std::to_string(column + 1);
  }

  /// Finds all columns of text among those of values, for what is said of the first of them.
  void find_text_columns() {
    text_layout& layout = found_.layout;
    const std::vector<std::string> names = header_names();
    // Those that are left out already stay so.
    for (const std::string& word : options_.skip_columns) layout.skip_words += word + ",";
    const char* comma = "";
    for (index_t column = 0; column < fields_; ++column) {
      const auto c = static_cast<std::size_t>(column);
      const std::vector<sample_cell>& first = sample_[first_row_].cells;
      if (c >= first.size() || !first[c].is_text()) continue;
      if (layout.role(column + 1) != field_role::value || !is_text_column(column, first_row_)) {
        continue;
      }
      layout.text_columns.push_back(column + 1);
      layout.skip_words += std::exchange(comma, ",");
      layout.skip_words += word_of(c, names);
    }
  }

  /// Refuses whole numbers below a label that says identifiers, which no statistic means.
  void check_identifiers() const {
    if (!has_header_ || gct_ || !options_.columns.empty()) return;
    const std::vector<std::string> names = header_names();
    std::string what;
    std::string words;
    for (std::size_t c = options_.names_column.empty() ? 1 : 0; c < names.size(); ++c) {
      if (found_.layout.role(static_cast<index_t>(c) + 1) != field_role::value ||
          !holds_identifiers(sample_, first_row_, c, names[c])) {
        continue;
      }
      if (what.empty()) what = column_text(sample_, first_row_, c, names[c]);
      if (!words.empty()) words += ',';
      words += word_of(c, names);
    }
    if (what.empty()) return;
    throw input_error(
        file_, {sample_.front().number, 0},
        fmt::format("{} can be read in two ways, by its label as identifiers, by its numbers as "
                    "values: --skip-columns {} leaves it out, --columns {}-{} reads it",
                    what, words, found_.reading.rows_named_by == "column 1" ? 2 : 1, fields_));
  }

  void describe() {
    const sample_line& head = sample_.front();
    found_.rows_begin = has_header_ ? after_header_.end : head.begin;
    const std::string_view before = after_header_.text;
    found_.lines_before =
        has_header_ ? after_header_.number + std::count(before.begin(), before.end(), '\n')
                    : head.number - 1;
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

  std::string_view text_;
  const text_options& options_;
  const std::string& file_;
  std::optional<gct_preamble> gct_;
  std::size_t separator_line_ = 0;  // its bytes
  text_sample sample_;
  text_sample seen_;          // what the rule of names is asked about, where columns are chosen
  sample_line after_header_;  // the last line in front of the rows, where there is a header
  index_t fields_ = 0;
  std::size_t first_row_ = 0;
  bool is_chosen_ = false;
  bool has_header_ = false;
  bool ends_with_separator_ = false;  // each row, which the header does not
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
  return " \t;,| "[static_cast<std::size_t>(which)];  // in the order of the words
}

found_layout find_layout(std::string_view text, const text_options& options,
                         const std::string& file) {
  return layout_finder(text, options, file).find();
}

}  // namespace gpu::io
