#include "io/text/names_rule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "base/parsed.hpp"
#include "io/io_error.hpp"

namespace gpu::io {
namespace {

enum class verdict { values, values_noted, names, names_noted, either };

/// What there is in the fields of a line or of a column.
struct content {
  std::vector<double> numbers = {};  // in their order
  bool are_integers = true;          // the numbers
  std::size_t quoted = 0;            // numbers in quotes
  std::size_t texts = 0;
  std::size_t missing = 0;

  void add(const sample_cell& cell) {
    if (cell.is_text()) ++texts;
    if (cell.is_missing) ++missing;
    if (!cell.is_number) return;
    numbers.push_back(cell.value);
    are_integers = are_integers && cell.is_integer;
    if (cell.is_quoted) ++quoted;
  }
  void add(std::span<const sample_cell> cells) {
    for (const sample_cell& cell : cells) add(cell);
  }
  [[nodiscard]] bool is_text() const { return texts > 0 && numbers.empty(); }
  [[nodiscard]] bool is_numbers() const { return !numbers.empty() && texts + missing == 0; }
  /// Whether there are enough numbers to tell an order from chance.
  [[nodiscard]] bool is_long() const { return is_numbers() && numbers.size() >= 3; }
  [[nodiscard]] bool repeats() const {
    std::vector<double> sorted = numbers;
    std::sort(sorted.begin(), sorted.end());
    return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
  }
  [[nodiscard]] bool may_be_labels() const { return is_numbers() && are_integers && !repeats(); }
  [[nodiscard]] bool ascends() const {
    return is_numbers() && std::adjacent_find(numbers.begin(), numbers.end(),
                                              std::greater_equal<>()) == numbers.end();
  }
  /// Whether each number is one more than the number before it.
  [[nodiscard]] bool counts() const {
    return ascends() && are_integers &&
           numbers.back() - numbers.front() == static_cast<double>(numbers.size() - 1);
  }
  [[nodiscard]] bool are_row_numbers() const {
    return counts() && (numbers[0] == 0 || numbers[0] == 1);
  }
  [[nodiscard]] bool are_years() const {
    return is_long() && are_integers && ascends() && numbers[0] >= 1500 && numbers.back() <= 2200;
  }
};

content content_of(std::span<const sample_cell> cells, std::size_t first) {
  content out;
  out.add(cells.subspan(std::min(first, cells.size())));
  return out;
}

content column_of(const text_sample& sample, std::size_t first_row, std::size_t column) {
  content out;
  for (std::size_t row = first_row; row < sample.size(); ++row) {
    if (column < sample[row].cells.size()) out.add(sample[row].cells[column]);
  }
  return out;
}

/// Whether all numbers of `some` are in quotes and none of those from field `first` of the lines
/// from `first_row` on.
bool are_quoted_alone(const content& some, const text_sample& sample, std::size_t first_row,
                      std::size_t first) {
  std::size_t numbers = 0;
  for (std::size_t row = first_row; row < sample.size(); ++row) {
    const content fields = content_of(sample[row].cells, first);
    if (fields.quoted > 0) return false;
    numbers += fields.numbers.size();
  }
  return some.quoted > 0 && some.quoted == some.numbers.size() && numbers > 0;
}

/// Whether different integers of a line, or of a column, differ in kind from the other ones.
bool stand_apart(const content& some, const std::vector<content>& others) {
  if (!some.is_long() || !some.may_be_labels()) return false;
  bool alone_count = some.are_row_numbers();
  constexpr std::size_t many = 30;
  bool alone_differ = some.numbers.size() >= many;
  std::size_t decimals = 0;
  double largest = -HUGE_VAL;
  for (const content& other : others) {
    alone_count = alone_count && !(other.is_long() && other.counts());
    alone_differ = alone_differ && other.repeats();
    if (!other.are_integers) ++decimals;
    for (const double number : other.numbers) largest = std::max(largest, number);
  }
  const double least = *std::min_element(some.numbers.begin(), some.numbers.end());
  return alone_count || alone_differ || 2 * decimals > others.size() ||
         (largest > -HUGE_VAL && least > largest);
}

/// A first line with an empty first field, over rows that do not begin with text.
verdict judge_empty_corner(const content& labels, const content& below) {
  if (labels.texts > 0) return verdict::names_noted;
  if (!labels.may_be_labels() || !below.may_be_labels()) return verdict::values_noted;
  // As pandas writes them.
  if (below.are_row_numbers() && (below.is_long() || labels.are_row_numbers())) {
    return verdict::names;
  }
  if (labels.are_years() || (labels.is_long() && labels.counts() && labels.numbers[0] == 0)) {
    return verdict::names_noted;
  }
  return labels.ascends() ? verdict::either : verdict::values_noted;
}

/// Numbers in the first line that begin at its field `first`.
verdict judge_numbers(const content& numbers, std::size_t first, const text_sample& sample,
                      bool rows_are_named) {
  if (!numbers.is_long()) return verdict::values;
  std::vector<content> others;
  for (std::size_t row = 1; row < sample.size(); ++row) {
    const auto& cells = sample[row].cells;
    others.push_back(content_of(cells, !cells.empty() && cells[0].is_number ? first : 1));
  }
  const auto any_other = [&](const auto& is) {
    return std::any_of(others.begin(), others.end(),
                       [&](const content& c) { return c.is_long() && is(c); });
  };
  const bool counts = numbers.counts() && numbers.numbers[0] == 0;
  const bool has_rows = others.size() > 1;
  if ((counts && !any_other(std::mem_fn(&content::counts))) ||
      (numbers.are_years() && !any_other(std::mem_fn(&content::are_years)))) {
    return rows_are_named && has_rows ? verdict::names_noted : verdict::either;
  }
  const bool ascends = numbers.ascends() && !any_other(std::mem_fn(&content::ascends));
  return has_rows && (ascends || stand_apart(numbers, others)) ? verdict::values_noted
                                                               : verdict::values;
}

verdict first_line_of(const text_sample& sample, bool rows_are_named) {
  const std::vector<sample_cell>& head = sample[0].cells;
  const std::size_t behind_corner = head.size() > 1 ? 1 : 0;
  const content labels = content_of(head, behind_corner);
  if (labels.is_text()) return verdict::names;
  if (sample.size() < 2) return verdict::values;
  const std::size_t first = head[0].is_number ? 0 : 1;
  const content numbers = content_of(head, first);
  if (are_quoted_alone(numbers, sample, 1, behind_corner)) return verdict::names;
  const content below = column_of(sample, 1, 0);
  const bool is_named = rows_are_named || below.is_text();
  if (head.size() > 1 && head[0].text.empty()) {
    return is_named ? verdict::names : judge_empty_corner(labels, below);
  }
  const bool is_short = head.size() + 1 == sample[1].cells.size();
  if (is_short && is_named && first == 0) return verdict::names_noted;
  // A label says it even over a single row, where no row has such a name itself.
  const bool is_labelled =
      head[0].is_text() && says_identifiers(head[0].text) &&
      std::none_of(sample.begin() + 1, sample.end(), [](const sample_line& line) {
        return !line.cells.empty() && says_identifiers(line.cells[0].text);
      });
  if (is_labelled && !(labels.is_numbers() && labels.repeats())) return verdict::names_noted;
  return judge_numbers(numbers, first, sample, is_named);
}

verdict first_column_of(const text_sample& sample, std::size_t first_row) {
  const content column = column_of(sample, first_row, 0);
  if (column.is_text()) return verdict::names;
  const std::size_t fields = sample[first_row].cells.size();
  if (fields < 2) return verdict::values;
  if (first_row > 0) {
    const std::vector<sample_cell>& head = sample[0].cells;
    if (head.size() + 1 == fields || head[0].text.empty()) return verdict::names;
    if (says_identifiers(head[0].text)) {
      return column.texts > 0 ? verdict::names : verdict::names_noted;
    }
  }
  if (are_quoted_alone(column, sample, first_row, 1)) return verdict::names;
  // Text among numbers is refused where it is read, with the options that settle it.
  std::vector<content> others;
  for (std::size_t c = 1; c < std::min(fields, most_sample_cells); ++c) {
    others.push_back(column_of(sample, first_row, c));
  }
  if (stand_apart(column, others)) return verdict::either;
  const bool may_be_labelled = first_row > 0 && column.is_long() && column.may_be_labels();
  return may_be_labelled ? verdict::values_noted : verdict::values;
}

/// The first few of `count` texts.
template <class TextOf>
std::string first_few(std::size_t count, const TextOf& text_of) {
  constexpr std::size_t few = 3;
  std::string out;
  for (std::size_t i = 0; i < std::min(count, few); ++i) {
    out += (i > 0 ? ", " : "") + quoted(text_of(i));
  }
  return count > few ? out + ", ..." : out;
}

/// `option` is what settles it; `names` and `values` are what it was taken for.
names_verdict told(verdict found, const std::string& what, std::string_view option,
                   std::string_view names, std::string_view values, const std::string& file,
                   index_t line) {
  if (found == verdict::either) {
    throw input_error(
        file, {line, 0},
        fmt::format("{} can be read in two ways: {} yes takes it for {}, {} no takes it for {}",
                    what, option, names, option, values));
  }
  const bool are_names = found == verdict::names || found == verdict::names_noted;
  if (found == verdict::names || found == verdict::values) return {.are_names = are_names};
  if (are_names) std::swap(names, values);
  return {are_names, fmt::format("{} was taken for {}: {} {} takes it for {}, {} {} confirms this",
                                 what, values, option, are_names ? "no" : "yes", names, option,
                                 are_names ? "yes" : "no")};
}

// Those of numbers, wherever the column is, come first.
constexpr std::array<std::string_view, 21> identifier_words{
    "id",       "ids",        "entrez", "rowid",    "accession", "geneid", "probeid",
    "entrezid", "entrezgene", "gene",   "sampleid", "index",     "idx",    "name",
    "names",    "key",        "genes",  "feature",  "probe",     "symbol", "code"};
constexpr std::size_t words_of_numbers = 11;

/// Whether the last word of `label`, as id of gene_id and of EntrezID, is one of the first `count`.
bool ends_with_word(std::string_view label, std::size_t count) {
  const auto is = [&](int (*kind)(int), std::size_t at) {
    return kind(static_cast<unsigned char>(label[at])) != 0;
  };
  std::size_t begin = label.size();
  const auto begins_word = [&] {
    return begin < label.size() && is(std::isupper, begin) && is(std::islower, begin - 1);
  };
  while (begin > 0 && is(std::isalnum, begin - 1) && !begins_word()) --begin;
  const std::string word = gpu::detail::lower(label.substr(begin));
  const auto end = identifier_words.begin() + static_cast<std::ptrdiff_t>(count);
  return std::find(identifier_words.begin(), end, word) != end;
}

}  // namespace

bool says_identifiers(std::string_view label) {
  return ends_with_word(label, identifier_words.size());
}

bool holds_identifiers(const text_sample& sample, std::size_t first_row, std::size_t column,
                       std::string_view label) {
  const content fields = column_of(sample, first_row, column);
  return ends_with_word(label, words_of_numbers) && fields.texts == 0 && !fields.numbers.empty() &&
         std::all_of(fields.numbers.begin(), fields.numbers.end(),
                     [](double number) { return number == std::floor(number); });
}

std::string column_text(const text_sample& sample, std::size_t first_row, std::size_t column,
                        std::string_view label) {
  std::vector<std::string_view> fields;
  for (std::size_t row = first_row; row < sample.size(); ++row) {
    if (column < sample[row].cells.size()) fields.push_back(sample[row].cells[column].text);
  }
  return fmt::format("column {} ({}{})", column + 1, label.empty() ? "" : quoted(label) + ": ",
                     first_few(fields.size(), [&](std::size_t i) { return fields[i]; }));
}

names_verdict judge_first_line(const text_sample& sample, bool rows_are_named,
                               const std::string& file) {
  const sample_line& head = sample[0];
  const auto text_of = [&](std::size_t i) { return head.cells[i].text; };
  const std::string what =
      fmt::format("line {} ({})", head.number, first_few(head.cells.size(), text_of));
  return told(first_line_of(sample, rows_are_named), what, "--header", "the names of the columns",
              "a row of values", file, head.number);
}

names_verdict judge_first_column(const text_sample& sample, std::size_t first_row,
                                 const std::string& file) {
  const std::string_view label = first_row > 0 ? sample[0].cells[0].text : std::string_view();
  return told(first_column_of(sample, first_row), column_text(sample, first_row, 0, label),
              "--row-names", "the names of the rows", "values", file, sample[first_row].number);
}

}  // namespace gpu::io
