#include "io/text/text_sample.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

#include "io/text/number.hpp"

namespace gpu::io {
namespace {

/// About the value of a number that is not taken.
double beyond_range(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto status = std::from_chars(text.data(), text.data() + text.size(), value).ec;
  if (status == std::errc{}) return value;
  const double infinity = std::numeric_limits<double>::infinity();
  return text.starts_with('-') ? -infinity : infinity;
}

sample_cell cell_of(std::string_view field) {
  sample_cell cell{.text = field};
  if (field.size() >= 2 && field.front() == '"' && field.back() == '"') {
    cell.text = field.substr(1, field.size() - 2);
    cell.is_quoted = true;
  }
  const number value = parse_number(cell.text);
  cell.is_missing =
      cell.text.empty() || (value.kind == number_kind::real && std::isnan(value.real));
  cell.is_number = !cell.is_missing && value.kind != number_kind::not_a_number;
  cell.is_integer =
      cell.is_number && cell.text.find_first_not_of("+-0123456789") == std::string_view::npos;
  cell.value = value.kind == number_kind::integer ? static_cast<double>(value.integer) : value.real;
  if (value.kind == number_kind::overflow) cell.value = beyond_range(cell.text);
  return cell;
}

}  // namespace

bool holds_sample(std::string_view text) {
  std::size_t lines = 0;
  for (std::size_t begin = 0; lines < most_sample_lines;) {
    if (lines >= 2 && begin >= most_sample_bytes) return true;
    const std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) return false;
    if (!trimmed(text.substr(begin, end - begin)).empty()) ++lines;
    begin = end + 1;
  }
  return true;
}

text_sample take_sample(std::string_view text) {
  text_sample sample;
  index_t number = 0;
  for (std::size_t begin = 0; begin < text.size() && sample.size() < most_sample_lines;) {
    if (sample.size() >= 2 && begin >= most_sample_bytes) break;
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    const std::size_t next = std::min(end + 1, text.size());
    ++number;
    if (!trimmed(line).empty()) {
      sample.push_back({.number = number, .text = line, .begin = begin, .end = next});
    }
    begin = next;
  }
  return sample;
}

void split_sample(text_sample& sample, const field_rules& rules) {
  for (std::size_t i = 0; i < sample.size(); ++i) {
    std::vector<sample_cell>& cells = sample[i].cells;
    cells.clear();
    field_cursor cursor(sample[i].text, rules);
    for (std::string_view field; cursor.next(field);) {
      if (i >= 2 && cells.size() == most_sample_cells) break;
      cells.push_back(cell_of(field));
    }
  }
}

}  // namespace gpu::io
