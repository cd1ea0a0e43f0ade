#include "fuzz/reference_names.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

namespace gpu_test {
namespace {

using line = std::vector<reference_field>;
using answer = reference_answer;

constexpr std::size_t most_columns = 32;

/// What there is in some fields.
struct kinds {
  std::size_t numbers = 0;
  std::size_t quoted_numbers = 0;
  std::size_t texts = 0;
  std::size_t missing = 0;
  void count(const reference_field& field) {
    if (field.is_number) {
      ++numbers;
      if (field.is_quoted) ++quoted_numbers;
    } else if (field.is_missing) {
      ++missing;
    } else {
      ++texts;
    }
  }
  [[nodiscard]] bool are_text() const { return numbers == 0 && texts > 0; }
};

kinds kinds_from(const line& fields, std::size_t first) {
  kinds out;
  for (std::size_t i = first; i < fields.size(); ++i) out.count(fields[i]);
  return out;
}

line column_of(const reference_lines& rows, std::size_t column) {
  line out;
  for (const line& row : rows) {
    if (column < row.size()) out.push_back(row[column]);
  }
  return out;
}

/// Of all rows, the fields from `first` on.
kinds kinds_below(const reference_lines& rows, std::size_t first) {
  kinds out;
  for (const line& row : rows) {
    for (std::size_t i = first; i < row.size(); ++i) out.count(row[i]);
  }
  return out;
}

/// Numbers in their order; `are_numbers` is false where a field is none.
struct sequence {
  std::vector<double> numbers;
  bool are_numbers = true;
  bool are_whole = true;

  [[nodiscard]] bool is_long() const { return are_numbers && numbers.size() >= 3; }
  [[nodiscard]] bool are_labels() const {
    return are_numbers && !numbers.empty() && are_whole &&
           std::set<double>(numbers.begin(), numbers.end()).size() == numbers.size();
  }
  /// Whether a number stands twice, whatever else there is.
  [[nodiscard]] bool repeats() const {
    return std::set<double>(numbers.begin(), numbers.end()).size() < numbers.size();
  }
  /// Whether each is larger than the one before, by 1 where `by_one`.
  [[nodiscard]] bool rises(bool by_one) const {
    for (std::size_t i = 1; i < numbers.size(); ++i) {
      if (!(numbers[i] > numbers[i - 1])) return false;
      if (by_one && numbers[i] != numbers[i - 1] + 1) return false;
    }
    return are_numbers;
  }
  [[nodiscard]] bool counts_from(double start) const {
    return are_whole && !numbers.empty() && rises(true) && numbers[0] == start;
  }
  [[nodiscard]] bool are_years() const {
    return is_long() && are_whole && rises(false) && numbers.front() >= 1500 &&
           numbers.back() <= 2200;
  }
};

sequence sequence_from(const line& fields, std::size_t first) {
  sequence out;
  for (std::size_t i = first; i < fields.size(); ++i) {
    out.are_numbers = out.are_numbers && fields[i].is_number;
    out.are_whole = out.are_whole && fields[i].is_whole;
    if (fields[i].is_number) out.numbers.push_back(fields[i].number);
  }
  return out;
}

bool ends_with_word(const std::string& label, const std::set<std::string>& known) {
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < label.size(); ++i) {
    const auto c = static_cast<unsigned char>(label[i]);
    const bool begins = std::isupper(c) != 0 && i > 0 &&
                        std::islower(static_cast<unsigned char>(label[i - 1])) != 0;
    if (begins || std::isalnum(c) == 0) words.emplace_back();
    if (std::isalnum(c) != 0) words.back() += static_cast<char>(std::tolower(c));
  }
  return known.count(words.back()) != 0;
}

const std::set<std::string> number_words{"id",         "ids",   "entrez",   "entrezid",
                                         "entrezgene", "gene",  "geneid",   "probeid",
                                         "sampleid",   "rowid", "accession"};

bool is_identifier_label(const std::string& label) {
  static const std::set<std::string> others{"index", "idx",   "name",    "names", "key",
                                            "genes", "probe", "feature", "code",  "symbol"};
  return ends_with_word(label, number_words) || ends_with_word(label, others);
}

bool mostly_decimals(const reference_lines& rows) {
  const std::size_t end = std::min(rows[0].size(), most_columns);
  std::size_t with = 0;
  for (std::size_t c = 1; c < end; ++c) {
    const line column = column_of(rows, c);
    with += std::any_of(column.begin(), column.end(),
                        [](const auto& f) { return f.is_number && !f.is_whole; })
                ? 1U
                : 0U;
  }
  return end > 1 && 2 * with > end - 1;
}

/// Whether different whole numbers in front of the rows are of another kind than the other columns.
bool are_apart(const sequence& first, const reference_lines& rows) {
  if (!first.is_long() || !first.are_labels()) return false;
  bool only_count = first.counts_from(0) || first.counts_from(1);
  bool only_different = first.numbers.size() >= 30;
  bool has_other = false;
  bool are_larger = true;
  for (std::size_t c = 1; c < std::min(rows[0].size(), most_columns); ++c) {
    const sequence other = sequence_from(column_of(rows, c), 0);
    if (other.is_long() && other.are_whole && other.rises(true)) only_count = false;
    if (!other.repeats()) only_different = false;
  }
  for (const line& row : rows) {
    for (std::size_t c = 1; c < row.size() && c < most_columns; ++c) {
      if (!row[c].is_number) continue;
      has_other = true;
      for (const double number : first.numbers) are_larger = are_larger && number > row[c].number;
    }
  }
  return only_count || only_different || mostly_decimals(rows) || (has_other && are_larger);
}

/// A first line whose first field has no text, over rows that numbers or missing values begin.
answer answer_of_corner(const line& head, const reference_lines& rows) {
  if (kinds_from(head, 1).texts > 0) return answer::names;
  const sequence labels = sequence_from(head, 1);
  const sequence names = sequence_from(column_of(rows, 0), 0);
  if (!labels.are_labels() || !names.are_labels()) return answer::values;
  const bool names_count = names.counts_from(0) || names.counts_from(1);
  const bool labels_count = labels.counts_from(0) || labels.counts_from(1);
  if (names_count && (labels_count || names.is_long())) return answer::names;
  if ((labels.is_long() && labels.counts_from(0)) || labels.are_years()) return answer::names;
  return labels.rises(false) ? answer::refused : answer::values;
}

}  // namespace

reference_answer reference_header(const reference_lines& lines, bool rows_are_named) {
  const line& head = lines[0];
  const std::size_t behind = head.size() > 1 ? 1 : 0;
  if (kinds_from(head, behind).are_text()) return answer::names;
  if (lines.size() < 2) return answer::values;
  const reference_lines rows(lines.begin() + 1, lines.end());
  const std::size_t first = head[0].is_number ? 0 : 1;

  const kinds quotes = kinds_from(head, first);
  const kinds below = kinds_below(rows, behind);
  if (quotes.numbers > 0 && quotes.quoted_numbers == quotes.numbers && below.numbers > 0 &&
      below.quoted_numbers == 0) {
    return answer::names;
  }
  const line column = column_of(rows, 0);
  const bool is_named = rows_are_named || kinds_from(column, 0).are_text();
  if (head.size() > 1 && head[0].text.empty()) {
    return is_named ? answer::names : answer_of_corner(head, rows);
  }
  if (is_named && first == 0 && head.size() + 1 == rows[0].size()) return answer::names;
  const bool is_label = !head[0].is_number && !head[0].is_missing;
  if (is_label && is_identifier_label(head[0].text)) {
    const bool is_usual = std::any_of(column.begin(), column.end(), [](const auto& field) {
      return is_identifier_label(field.text);
    });
    const sequence labels = sequence_from(head, behind);
    if (!is_usual && !(labels.are_numbers && labels.repeats())) return answer::names;
  }
  const sequence numbers = sequence_from(head, first);
  if (!numbers.is_long()) return answer::values;
  bool only_count = numbers.counts_from(0);
  bool only_years = numbers.are_years();
  for (const line& row : rows) {
    const sequence other = sequence_from(row, !row.empty() && row[0].is_number ? first : 1);
    if (other.is_long() && other.are_whole && other.rises(true)) only_count = false;
    if (other.are_years()) only_years = false;
  }
  if (!only_count && !only_years) return answer::values;
  return is_named && rows.size() > 1 ? answer::names : answer::refused;
}

reference_answer reference_names(const line& header, const reference_lines& rows) {
  const line column = column_of(rows, 0);
  const kinds found = kinds_from(column, 0);
  if (found.are_text()) return answer::names;
  if (rows[0].size() < 2) return answer::values;
  if (!header.empty() && (header.size() + 1 == rows[0].size() || header[0].text.empty() ||
                          is_identifier_label(header[0].text))) {
    return answer::names;
  }
  const kinds others = kinds_below(rows, 1);
  if (found.numbers > 0 && found.quoted_numbers == found.numbers && others.numbers > 0 &&
      others.quoted_numbers == 0) {
    return answer::names;
  }
  return are_apart(sequence_from(column, 0), rows) ? answer::refused : answer::values;
}

bool has_reference_identifiers(const line& header, const reference_lines& rows,
                               std::size_t skipped) {
  for (std::size_t c = 1; c < rows[0].size(); ++c) {
    const std::size_t missing = rows[0].size() - header.size();
    if (c < missing || c + 1 == skipped || !ends_with_word(header[c - missing].text, number_words))
      continue;
    bool are_whole = true;
    std::size_t numbers = 0;
    for (const reference_field& field : column_of(rows, c)) {
      if (field.is_missing) continue;
      are_whole = are_whole && field.is_number && field.number == std::trunc(field.number);
      ++numbers;
    }
    if (are_whole && numbers > 0) return true;
  }
  return false;
}

}  // namespace gpu_test
