#include "fuzz/reference_names.hpp"

#include <cctype>
#include <cmath>
#include <set>

namespace gpu_test {
namespace {

using line = std::vector<reference_field>;

constexpr std::size_t most_columns = 32;

/// The numbers of `fields` from `first` on; empty where one of them is none.
std::vector<double> numbers_of(const line& fields, std::size_t first) {
  std::vector<double> out;
  for (std::size_t i = first; i < fields.size(); ++i) {
    if (!fields[i].is_number) return {};
    out.push_back(fields[i].number);
  }
  return out;
}

line column_of(const reference_lines& rows, std::size_t column) {
  line out;
  for (const line& row : rows) {
    if (column >= row.size() || !row[column].is_number) return {};
    out.push_back(row[column]);
  }
  return out;
}

bool in_equal_steps(const std::vector<double>& v) {
  if (v.size() < 3) return false;
  const double step = v[1] - v[0];
  if (step == 0 || std::isnan(step) || std::isinf(step)) return false;
  for (std::size_t i = 2; i < v.size(); ++i) {
    const double off = std::fabs((v[i] - v[i - 1]) - step);
    if (std::isnan(off) || off > 1e-6 * std::fabs(step)) return false;
  }
  return true;
}

bool all_whole(const line& fields, std::size_t first) {
  for (std::size_t i = first; i < fields.size(); ++i) {
    if (!fields[i].is_whole) return false;
  }
  return true;
}

bool all_quoted(const line& fields, std::size_t first) {
  for (std::size_t i = first; i < fields.size(); ++i) {
    if (!fields[i].is_quoted) return false;
  }
  return fields.size() > first;
}

bool all_different(const std::vector<double>& v) {
  return std::set<double>(v.begin(), v.end()).size() == v.size();
}

/// No chance: one in a million.
bool no_chance(const std::vector<double>& v, bool are_whole) {
  const double step = v[1] - v[0];
  if (v[0] == 0 && step == 1) return true;
  double largest = std::fmax(std::fabs(v.front()), std::fabs(v.back()));
  if (!are_whole) largest /= std::fabs(step);
  return static_cast<double>(v.size() - 1) * std::log10(largest) >= 6;
}

bool mostly_decimals(const reference_lines& rows) {
  const std::size_t end = rows[0].size() < most_columns ? rows[0].size() : most_columns;
  std::size_t with = 0;
  for (std::size_t c = 1; c < end; ++c) {
    bool has = false;
    for (const line& row : rows) {
      has = has || (c < row.size() && row[c].is_number && !row[c].is_whole);
    }
    with += has ? 1U : 0U;
  }
  return end > 1 && 2 * with > end - 1;
}

bool is_year_after_year(const line& fields, std::size_t first) {
  const std::vector<double> v = numbers_of(fields, first);
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (v[i] < 1500 || v[i] > 2200 || (i > 0 && v[i] <= v[i - 1])) return false;
  }
  return v.size() >= 3 && all_whole(fields, first);
}

/// Whether all of `values` are larger than the numbers behind the first of the other lines, or all
/// smaller.
bool is_apart(const std::vector<double>& values, const reference_lines& lines) {
  bool is_larger = true;
  bool is_smaller = true;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    for (std::size_t c = 1; c < lines[i].size() && c < most_columns; ++c) {
      if (!lines[i][c].is_number) continue;
      for (const double value : values) {
        is_larger = is_larger && value > lines[i][c].number;
        is_smaller = is_smaller && value < lines[i][c].number;
      }
    }
  }
  return is_larger || is_smaller;
}

bool names_identifiers(const std::string& label) {
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < label.size(); ++i) {
    const auto c = static_cast<unsigned char>(label[i]);
    const bool begins = std::isupper(c) != 0 && i > 0 &&
                        std::islower(static_cast<unsigned char>(label[i - 1])) != 0;
    if (begins || std::isalnum(c) == 0) words.emplace_back();
    if (std::isalnum(c) != 0) words.back() += static_cast<char>(std::tolower(c));
  }
  static const std::set<std::string> known{
      "id",    "ids",    "index",   "idx",   "name",   "names",     "key",  "gene",
      "genes", "entrez", "feature", "probe", "symbol", "accession", "code", "rowid"};
  return known.count(words.back()) != 0;
}

}  // namespace

bool is_reference_header(const reference_lines& lines) {
  const line& head = lines[0];
  if (head.size() > 1 && head[0].text.empty()) return true;
  bool has_value = false;
  for (std::size_t i = head.size() == 1 ? 0 : 1; i < head.size(); ++i) {
    has_value = has_value || head[i].is_number || (head[i].is_missing && !head[i].text.empty());
  }
  if (!has_value) return true;
  const std::size_t first = head[0].is_number ? 0 : 1;
  const std::vector<double> values = numbers_of(head, first);
  if (lines.size() < 2 || values.empty()) return false;
  if (all_quoted(head, first) && !all_quoted(lines[1], first)) return true;
  const bool starts_with_text = !lines[1][0].is_number && !lines[1][0].is_missing;
  if (first == 0 && head.size() + 1 == lines[1].size() && starts_with_text) return true;
  bool has_label = first == 1 && names_identifiers(head[0].text) && all_different(values);
  bool has_steps = false;
  bool has_years = false;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    const std::size_t begin = lines[i][0].is_number ? first : 1;
    has_label = has_label && !names_identifiers(lines[i][0].text);
    has_steps = has_steps || in_equal_steps(numbers_of(lines[i], begin));
    has_years = has_years || is_year_after_year(lines[i], begin);
  }
  if (has_label) return true;
  if (lines.size() < 3 || !in_equal_steps(values)) return false;
  if (!has_steps && no_chance(values, all_whole(head, first))) return true;
  return first == 1 && !has_years && is_year_after_year(head, 1) && is_apart(values, lines);
}

bool has_reference_names(const line& header, const reference_lines& rows) {
  for (const line& row : rows) {
    if (row.empty() || row[0].is_missing) continue;
    if (!row[0].is_number) return true;
    break;
  }
  if (!header.empty() && (header.size() + 1 == rows[0].size() || header[0].text.empty())) {
    return true;
  }
  const line first = column_of(rows, 0);
  if (rows[0].size() < 2 || first.empty()) return false;
  if (all_quoted(first, 0) && !all_quoted(rows[0], 1)) return true;
  const std::vector<double> values = numbers_of(first, 0);
  const bool are_ids = values.size() >= 2 && all_different(values) && all_whole(first, 0);
  if (values.size() >= 3 && are_ids && mostly_decimals(rows)) return true;
  const std::size_t columns = rows[0].size() < most_columns ? rows[0].size() : most_columns;
  bool is_alone = in_equal_steps(values);
  bool others_repeat = columns >= 6;
  for (std::size_t c = 1; c < columns; ++c) {
    const std::vector<double> other = numbers_of(column_of(rows, c), 0);
    is_alone = is_alone && !in_equal_steps(other);
    others_repeat = others_repeat && !all_different(other);
  }
  if (is_alone && no_chance(values, all_whole(first, 0))) return true;
  if (are_ids && !header.empty() && names_identifiers(header[0].text)) return true;
  return are_ids && values.size() >= 30 && others_repeat;
}

}  // namespace gpu_test
