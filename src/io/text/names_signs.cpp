#include "io/text/names_signs.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace gpu::io {
namespace {

using cells = std::vector<sample_cell>;
using numbers = std::vector<sample_cell>;  // each of them a number

constexpr name_sign no_names{};
constexpr name_sign sure_names{.are_names = true};
constexpr name_sign likely_names{.are_names = true, .is_doubtful = true};
constexpr name_sign perhaps_names{.are_names = false, .is_doubtful = true};

/// The cells from `first` on where all are numbers, else nothing.
numbers numbers_from(const cells& line, std::size_t first) {
  const auto begin = line.begin() + static_cast<std::ptrdiff_t>(std::min(first, line.size()));
  const bool are = std::all_of(begin, line.end(), [](const sample_cell& c) { return c.is_number; });
  return are ? numbers(begin, line.end()) : numbers{};
}

/// Whether each number is the one before and the same step, other than 0.
bool is_series(const numbers& values) {
  if (values.size() < 3) return false;
  const double step = values[1].value - values[0].value;
  if (step == 0 || !std::isfinite(step)) return false;
  constexpr double rounding = 1e-6;
  for (std::size_t i = 2; i < values.size(); ++i) {
    const double next = values[i].value - values[i - 1].value;
    if (!(std::abs(next - step) <= rounding * std::abs(step))) return false;
  }
  return true;
}

/// Whether each number is larger than the one before.
bool is_ascending(const numbers& values) {
  const auto is_no_step = [](const sample_cell& a, const sample_cell& b) {
    return !(a.value < b.value);
  };
  return std::adjacent_find(values.begin(), values.end(), is_no_step) == values.end();
}

/// Whether these are years, one after the other.
bool are_years(const numbers& values) {
  constexpr double first_year = 1500;
  constexpr double last_year = 2200;
  return values.size() >= 3 && is_ascending(values) &&
         std::all_of(values.begin(), values.end(), [](const sample_cell& c) {
           return c.is_integer && c.value >= first_year && c.value <= last_year;
         });
}

/// Whether these are 0, 1, 2, and so on.
bool counts_from_zero(const numbers& values) {
  return is_series(values) && values[0].value == 0 && values[1].value == 1;
}

/// Whether a series is hardly one by chance: 0, 1, 2, ..., or so long or so large that of all
/// lines of such numbers one in a million is a series.
bool is_striking(const numbers& series) {
  if (counts_from_zero(series)) return true;
  const double step = series[1].value - series[0].value;
  const bool are_integers =
      std::all_of(series.begin(), series.end(), [](const sample_cell& c) { return c.is_integer; });
  const double largest = std::max(std::abs(series.front().value), std::abs(series.back().value));
  const double choices = are_integers ? largest : largest / std::abs(step);
  constexpr double digits_of_a_million = 6;
  return static_cast<double>(series.size() - 1) * std::log10(choices) >= digits_of_a_million;
}

bool repeats(const numbers& values) {
  std::vector<double> sorted;
  for (const sample_cell& cell : values) sorted.push_back(cell.value);
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

bool are_different_integers(const numbers& values) {
  return values.size() >= 2 && !repeats(values) &&
         std::all_of(values.begin(), values.end(),
                     [](const sample_cell& c) { return c.is_integer; });
}

/// The cells of column `column` in the lines from `first_row` on; nothing where one is no number.
numbers column_of(const text_sample& sample, std::size_t first_row, std::size_t column) {
  numbers out;
  for (std::size_t row = first_row; row < sample.size(); ++row) {
    const cells& line = sample[row].cells;
    if (column >= line.size() || !line[column].is_number) return {};
    out.push_back(line[column]);
  }
  return out;
}

/// Whether more than half of the columns from `first` on have a number with a point, in the lines
/// from `first_row` on.
bool has_decimals(const text_sample& sample, std::size_t first_row, std::size_t first) {
  const std::size_t end = std::min(most_sample_cells, sample[first_row].cells.size());
  std::size_t columns = 0;
  for (std::size_t column = first; column < end; ++column) {
    const auto is_decimal = [&](const sample_line& line) {
      return column < line.cells.size() && line.cells[column].is_number &&
             !line.cells[column].is_integer;
    };
    const auto begin = sample.begin() + static_cast<std::ptrdiff_t>(first_row);
    if (std::any_of(begin, sample.end(), is_decimal)) ++columns;
  }
  return end > first && 2 * columns > end - first;
}

struct extremes {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();
};

/// Of the numbers from column `first` on, in the lines from `first_row` on.
extremes extremes_of(const text_sample& sample, std::size_t first_row, std::size_t first) {
  extremes out;
  for (std::size_t row = first_row; row < sample.size(); ++row) {
    const cells& line = sample[row].cells;
    for (std::size_t c = first; c < std::min(line.size(), most_sample_cells); ++c) {
      if (!line[c].is_number) continue;
      out.least = std::min(out.least, line[c].value);
      out.most = std::max(out.most, line[c].value);
    }
  }
  return out;
}

/// Whether all of `values` are beyond the others, on one side.
bool are_outside(const numbers& values, const extremes& others) {
  const auto by_value = [](const sample_cell& a, const sample_cell& b) {
    return a.value < b.value;
  };
  const auto [least, most] = std::minmax_element(values.begin(), values.end(), by_value);
  return least->value > others.most || most->value < others.least;
}

/// Whether the last word of a label, as in gene_id or EntrezID, says that identifiers follow.
bool says_identifiers(std::string_view label) {
  constexpr std::array<std::string_view, 16> words{
      "id",    "ids",    "index",   "idx",   "name",   "names",     "key",  "gene",
      "genes", "entrez", "feature", "probe", "symbol", "accession", "code", "rowid"};
  std::string word;
  bool was_lower = false;
  for (const char c : label) {
    const auto code = static_cast<unsigned char>(c);
    const bool is_upper = std::isupper(code) != 0;
    if (std::isalnum(code) == 0 || (is_upper && was_lower)) word.clear();
    if (std::isalnum(code) != 0) word += static_cast<char>(std::tolower(code));
    was_lower = std::islower(code) != 0;
  }
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Whether all cells from `first` on are quoted.
bool are_quoted(const cells& line, std::size_t first) {
  return line.size() > first &&
         std::all_of(line.begin() + static_cast<std::ptrdiff_t>(first), line.end(),
                     [](const sample_cell& c) { return c.is_quoted; });
}

/// The lines below the first.
class other_lines {
 public:
  /// Numbers begin at cell `first`.
  other_lines(const text_sample& sample, std::size_t first) {
    for (auto line = sample.begin() + 1; line != sample.end(); ++line) {
      if (line->cells.empty()) continue;
      const bool is_named = !line->cells.front().is_number;
      names_.push_back(line->cells.front().text);
      rows_.push_back(numbers_from(line->cells, is_named ? 1 : first));
    }
  }
  template <class Is>
  [[nodiscard]] bool any_row(const Is& is) const {
    return std::any_of(rows_.begin(), rows_.end(),
                       [&](const numbers& row) { return !row.empty() && is(row); });
  }
  template <class Is>
  [[nodiscard]] bool any_name(const Is& is) const {
    return std::any_of(names_.begin(), names_.end(), is);
  }

 private:
  std::vector<std::string_view> names_;
  std::vector<numbers> rows_;
};

/// What the numbers of the first line say, which begin at its cell `first`.
name_sign sign_of_numbers(const numbers& values, std::size_t first, const text_sample& sample,
                          const other_lines& below) {
  const bool has_other_series = below.any_row(is_series);
  const bool is_only_series = is_series(values) && !has_other_series;
  if (is_only_series && is_striking(values)) return likely_names;
  const bool is_outside = first == 1 && are_outside(values, extremes_of(sample, 1, first));
  const bool are_only_years = are_years(values) && !below.any_row(are_years);
  if (are_only_years && is_series(values) && is_outside) return likely_names;
  const bool counts = counts_from_zero(values) && !below.any_row(counts_from_zero);
  // By chance one line of four in 24 ascends.
  constexpr std::size_t enough = 4;
  const bool ascends_alone =
      values.size() >= enough && is_ascending(values) && !below.any_row(is_ascending);
  const bool may_be_labels =
      values.size() >= 3 && are_different_integers(values) && !has_other_series;
  const bool stands_out = may_be_labels && (is_outside || has_decimals(sample, 1, first));
  return is_only_series || are_only_years || counts || ascends_alone || stands_out ? perhaps_names
                                                                                   : no_names;
}

}  // namespace

name_sign sign_of_first_line(const text_sample& sample) {
  const cells& head = sample.front().cells;
  // What programs write above the names of rows that have no name themselves.
  if (head.size() > 1 && head.front().text.empty()) return sure_names;
  const auto is_value = [](const sample_cell& c) {
    return c.is_number || (c.is_missing && !c.text.empty());
  };
  const std::size_t behind_first = head.size() == 1 ? 0 : 1;
  if (std::none_of(head.begin() + static_cast<std::ptrdiff_t>(behind_first), head.end(),
                   is_value)) {
    return sure_names;
  }
  if (sample.size() < 2) return no_names;
  const std::size_t first = head.front().is_number ? 0 : 1;
  const numbers values = numbers_from(head, first);
  if (values.empty()) return no_names;
  const cells& next = sample[1].cells;
  if (are_quoted(head, first) && !are_quoted(next, first)) return sure_names;
  const bool is_one_short = head.size() + 1 == next.size();
  if (is_one_short && first == 0 && next.front().is_text()) return likely_names;

  const other_lines below(sample, first);
  // A label says it even over a single row, where no row has such a name itself.
  if (first == 1 && says_identifiers(head.front().text) && !repeats(values) &&
      !below.any_name(says_identifiers)) {
    return likely_names;
  }
  // One row below could be anything.
  if (sample.size() < 3) return no_names;
  return sign_of_numbers(values, first, sample, below);
}

name_sign sign_of_first_column(const text_sample& sample, std::size_t first_row) {
  const cells& first = sample[first_row].cells;
  const bool has_header = first_row > 0;
  const auto known = std::find_if(
      sample.begin() + static_cast<std::ptrdiff_t>(first_row), sample.end(),
      [](const sample_line& l) { return !l.cells.empty() && !l.cells.front().is_missing; });
  if (known != sample.end() && known->cells.front().is_text()) return sure_names;
  if (has_header) {
    const cells& head = sample.front().cells;
    if (head.size() + 1 == first.size() || head.front().text.empty()) return sure_names;
  }
  const numbers values = column_of(sample, first_row, 0);
  if (first.size() < 2 || values.empty()) return no_names;
  if (are_quoted(values, 0) && !are_quoted(first, 1)) return sure_names;

  const bool are_different = are_different_integers(values);
  const bool is_short = values.size() < 3;
  if (!is_short && are_different && has_decimals(sample, first_row, 1)) return likely_names;
  const std::size_t columns = std::min(first.size(), most_sample_cells);
  std::size_t series = 0;
  std::size_t repeating = 0;
  for (std::size_t c = 1; c < columns; ++c) {
    const numbers other = column_of(sample, first_row, c);
    if (is_series(other)) ++series;
    if (repeats(other)) ++repeating;
  }
  const bool is_only_series = is_series(values) && series == 0;
  if (is_only_series && is_striking(values)) return likely_names;
  const bool is_labelled = has_header && says_identifiers(sample.front().cells.front().text);
  if (are_different && is_labelled) return likely_names;
  // By chance a column has no value twice while all others have, but not often in so many rows.
  constexpr std::size_t enough_rows = 30;
  constexpr std::size_t enough_columns = 6;
  if (are_different && values.size() >= enough_rows && columns >= enough_columns &&
      repeating == columns - 1) {
    return likely_names;
  }
  const bool stands_out = are_different && !is_short &&
                          (has_header || are_outside(values, extremes_of(sample, first_row, 1)));
  return is_only_series || stands_out ? perhaps_names : no_names;
}

}  // namespace gpu::io
