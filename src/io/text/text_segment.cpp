#include "io/text/text_segment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "base/counted.hpp"
#include "io/text/integer_line.hpp"
#include "io/text/number.hpp"

namespace gpu::io {
namespace {

bool is_number_with(std::string_view field, char decimal) {
  return parse_value(field, {.decimal = decimal}).kind != number_kind::not_a_number;
}

/// The field without what spreadsheets put between thousands where `decimal` is the mark.
std::string without_thousands(std::string_view field, char decimal) {
  const std::array<std::string_view, 5> marks{decimal == '.' ? "," : ".", " ", "'", "\xC2\xA0",
                                              "\xE2\x80\xAF"};
  std::string out(field);
  for (const std::string_view mark : marks) {
    for (std::size_t at = out.find(mark); at != std::string::npos; at = out.find(mark, at)) {
      out.erase(at, mark.size());
    }
  }
  return out;
}

/// What can be done about a field that is nearly a number; "" about other text.
std::string hint_for(std::string_view field, char decimal) {
  if (decimal == '.' && is_number_with(field, ',')) {
    return "--decimal , if the comma is the decimal mark";
  }
  if (decimal == ',' && is_number_with(field, '.')) {
    return "--decimal . if the point is the decimal mark";
  }
  for (const std::string_view blank : {"\xC2\xA0", "\xE2\x80\xAF"}) {
    if (field.starts_with(blank) || field.ends_with(blank)) return "it has a no-break space";
  }
  // U+2212
  if (field.starts_with("\xE2\x88\x92")) return "a minus sign is a hyphen, -";
  if (field.size() > 1 && field.ends_with('%')) return "write the table without percent signs";
  // Of a point and a comma the last stands before the fraction.
  const std::size_t last = field.find_last_of(".,");
  const bool has_both = field.find('.') < field.size() && field.find(',') < field.size();
  const char likely = has_both ? field[last] : decimal;
  for (const char mark : {likely, likely == '.' ? ',' : '.'}) {
    if (!is_number_with(without_thousands(field, mark), mark)) continue;
    return fmt::format("write the table without marks between thousands{}",
                       mark == decimal ? "" : fmt::format("; --decimal {}", mark));
  }
  return "";
}

/// What to leave out of a table that has text in column `column`, from 1.
std::string skip_hint(const text_layout& layout, index_t column) {
  const std::vector<index_t>& text = layout.text_columns;
  if (std::find(text.begin(), text.end(), column) == text.end()) {
    return "--skip-columns leaves the column out, --na-values takes the word for a missing value";
  }
  return fmt::format(
      "--skip-columns {} leaves {} out, --na-values takes the word for a missing "
      "value",
      layout.skip_words,
      text.size() == 1 ? "the column" : fmt::format("the {} columns of text", text.size()));
}

}  // namespace

text_segment segment_reader::read(std::string_view lines) {
  segment_ = {};
  integer_count_ = 0;
  reals_.clear();
  is_real_ = false;
  // An integer takes two characters at least, so this suffices for the fast path; one line more
  // for the last, which may end without a newline.
  const std::size_t most_values =
      lines.size() / 2 + static_cast<std::size_t>(layout_.cols + integer_line_slack);
  if (integers_.size() < most_values) integers_.resize(most_values);

  const char* line = lines.data();
  const char* const end = line + lines.size();
  // Lines that are not for the fast path come in runs; a run makes it pause.
  int misses = 0;
  index_t pause = 0;
  while (line < end && !segment_.error) {
    if (pause > 0) {
      --pause;
    } else if (const char* const next =
                   is_real_ || !has_fast_lines_ ? nullptr : read_fast(line, end)) {
      misses = 0;
      line = next;
      ++segment_.lines;
      continue;
    } else {
      constexpr int most_misses = 4;
      constexpr index_t longest_pause = 64;
      if (++misses >= most_misses) pause = longest_pause;
    }
    const std::string_view rest(line, static_cast<std::size_t>(end - line));
    const std::size_t length = record_size(rest);
    read_with_care(rest.substr(0, length));
    line += std::min(length + 1, rest.size());
  }
  store_values();
  return std::move(segment_);
}

/// Reads one line of small integers; null where it is not one.
const char* segment_reader::read_fast(const char* line, const char* end) {
  const char* const text_end = text_.data() + text_.size();
  if (text_end - line < integer_line_behind) return nullptr;
  const std::string_view rest(line, static_cast<std::size_t>(end - line));
  if (is_comment(rest, layout_)) return nullptr;
  const char* numbers = line;
  std::string_view name;
  if (layout_.row_names) {
    const std::string_view behind = take_name(rest, name);
    if (behind.empty()) return nullptr;
    numbers = behind.data();
  }
  std::int32_t* const out = integers_.data() + integer_count_;
  const char* const next =
      layout_.merges
          ? read_integer_line<true>(numbers, text_end, layout_.separator, layout_.cols, out)
          : read_integer_line<false>(numbers, text_end, layout_.separator, layout_.cols, out);
  if (next == nullptr) return nullptr;
  if (layout_.row_names) segment_.names.add(cleaned_name(name));
  integer_count_ += static_cast<std::size_t>(layout_.cols);
  ++segment_.rows;
  return next;
}

/// What stands behind the name that begins a line; nothing where it is not a plain one.
std::string_view segment_reader::take_name(std::string_view line, std::string_view& name) {
  constexpr std::string_view none;
  std::size_t end = 0;
  if (line.front() == '"') {
    // A name without quotes in it, and the separator behind the quote that closes it.
    const std::size_t close = line.find_first_of("\"\n", 1);
    if (close == std::string_view::npos || line[close] == '\n') return none;
    end = close + 1;
    if (end == line.size() || line[end] != layout_.separator) return none;
    name = line.substr(1, close - 1);
    if (name.empty()) return none;
  } else {
    end = line.find(layout_.separator);
    if (end == std::string_view::npos) return none;
    name = trimmed(line.substr(0, end));
    // An empty name, blanks in front of one, or a quote behind them.
    if (name.empty() || name.front() == '"') return none;
    // A blank line, or one of a single field, has no separator: the one found is a later line's.
    if (name.find('\n') != std::string_view::npos) return none;
    // Where blanks separate, tabs do too.
    if (layout_.merges && name.find('\t') != std::string_view::npos) return none;
  }
  return line.substr(end + 1);
}

/// The length of the record that `rest` begins with.
std::size_t segment_reader::record_size(std::string_view rest) const {
  if (breaks_ == record_breaks::every_line) return std::min(rest.find('\n'), rest.size());
  return std::min(record_end(rest, 0, layout_), rest.size());
}

/// Reads the fields of a record; false where one is refused. A plain record has no field but values
/// behind its name.
template <segment_reader::column_roles Roles>
bool segment_reader::add_fields(field_cursor& cursor, index_t& column, index_t& values) {
  std::string_view field;
  if constexpr (Roles == column_roles::plain) {
    if (layout_.row_names && cursor.next(field)) {
      ++column;
      if (!add_name(field, column)) return false;
    }
  }
  while (cursor.next(field)) {
    ++column;
    if constexpr (Roles == column_roles::chosen) {
      const field_role role = layout_.role(column);
      if (role == field_role::name && !add_name(field, column)) return false;
      if (role == field_role::empty && !field.empty()) {
        fail(column, fmt::format("got {}, expected an empty field as after the rows above "
                                 "(--columns 2-{} reads it)",
                                 quoted(field), column));
        return false;
      }
      if (role != field_role::value) continue;
    }
    if (++values > layout_.cols) continue;
    if (!add(cursor.is_quoted() ? trimmed(field) : field, column)) return false;
  }
  return true;
}

/// Whether a record is separators alone, as spreadsheets write empty rows.
bool segment_reader::is_without_text(std::string_view record) const {
  return record.find_first_not_of(std::string{layout_.separator, ' ', '\t', '\r'}) ==
         std::string_view::npos;
}

/// Reads one record of any kind.
void segment_reader::read_with_care(std::string_view record) {
  const index_t first_line = ++segment_.lines;
  if (is_comment(record, layout_)) return;
  field_cursor cursor(record, layout_);
  index_t column = 0;
  index_t values = 0;
  const bool is_read = layout_.roles.empty()
                           ? add_fields<column_roles::plain>(cursor, column, values)
                           : add_fields<column_roles::chosen>(cursor, column, values);
  if (!is_read) {
    if (is_without_text(record)) {
      segment_.error->what = "got no field with text, expected a row: leave such lines out";
      segment_.error->behind.clear();
    }
    return;
  }
  if (cursor.fault() != field_fault::none) {
    fail(column + 1, text_of(cursor.fault()));
    segment_.error->is_open_quote =
        cursor.fault() == field_fault::open_quote && breaks_ == record_breaks::every_line;
    return;
  }
  if (column == 0) return;  // blank
  if (column != layout_.fields) {
    fail(0, layout_.roles.empty()
                ? fmt::format("got {}, expected {} as in the first row",
                              gpu::detail::counted(values, "number"), layout_.cols)
                : fmt::format("got {}, expected {} as in the first row",
                              gpu::detail::counted(column, "field"), layout_.fields));
    return;
  }
  ++segment_.rows;
  if (breaks_ == record_breaks::outside_quotes) {
    segment_.lines = first_line + std::count(record.begin(), record.end(), '\n');
  }
}

bool segment_reader::add_name(std::string_view field, index_t column) {
  if (field.empty()) {
    fail(column,
         "got an empty field, expected the name of the row (--names-column chooses another "
         "column)");
    return false;
  }
  segment_.names.add(cleaned_name(field));
  return true;
}

bool segment_reader::add(std::string_view field, index_t column) {
  const number value = has_plain_values_ ? parse_number(field) : parse_value(field, layout_.values);
  // Most fields of a table of real numbers end here, without a call.
  if (is_real_ && value.kind == number_kind::real && !std::isnan(value.real)) {
    reals_.push_back(value.real);
    return true;
  }
  if (value.kind == number_kind::integer) {
    if (!is_real_ && std::in_range<std::int32_t>(value.integer)) {
      integers_[integer_count_++] = static_cast<std::int32_t>(value.integer);
    } else {
      add_real(static_cast<double>(value.integer), column);
    }
    return true;
  }
  if (value.kind == number_kind::real) {
    add_real(value.real, column);
    return true;
  }
  if (value.kind == number_kind::not_a_number && is_missing_word(field, layout_.values)) {
    add_real(std::numeric_limits<double>::quiet_NaN(), column);
    return true;
  }
  if (value.kind == number_kind::overflow) {
    fail(column, fmt::format("got {}, expected {}", quoted(field), numbers_in_range));
  } else {
    refuse(field, column);
  }
  return false;
}

void segment_reader::refuse(std::string_view field, index_t column) {
  const std::string hint = hint_for(field, layout_.values.decimal);
  fail(column, fmt::format("got {}", quoted(field)),
       fmt::format(", expected a number ({})", hint.empty() ? skip_hint(layout_, column) : hint));
}

void segment_reader::add_real(double value, index_t column) {
  if (std::isnan(value)) {
    ++segment_.missing;
    if (!segment_.first_nan) segment_.first_nan = input_position{segment_.lines, column};
  }
  if (!is_real_) {
    reals_.assign(integers_.begin(),
                  integers_.begin() + static_cast<std::ptrdiff_t>(integer_count_));
    is_real_ = true;
  }
  reals_.push_back(value);
}

void segment_reader::fail(index_t column, std::string what, std::string behind) {
  segment_.error = segment_error{{segment_.lines, column}, std::move(what), std::move(behind)};
}

/// Moves what was collected to the segment, in the narrowest type.
void segment_reader::store_values() {
  if (is_real_) {
    const std::span<double> stored = arena_.take<double>(reals_.size());
    std::copy(reals_.begin(), reals_.end(), stored.begin());
    segment_.values = stored;
    return;
  }
  const auto begin = integers_.begin();
  const auto end = begin + static_cast<std::ptrdiff_t>(integer_count_);
  std::int32_t smallest = 0;
  std::int32_t largest = 0;
  for (auto value = begin; value != end; ++value) {
    smallest = std::min(smallest, *value);
    largest = std::max(largest, *value);
  }
  segment_.smallest = smallest;
  segment_.largest = largest;
  with_narrowest(smallest, largest, [&]<class T>(T) {
    const std::span<T> narrow = arena_.take<T>(integer_count_);
    std::transform(begin, end, narrow.begin(), [](std::int32_t v) { return static_cast<T>(v); });
    segment_.values = narrow;
  });
}

}  // namespace gpu::io
