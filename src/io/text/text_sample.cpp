#include "io/text/text_sample.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace gpu::io {
namespace {

sample_cell cell_of(std::string_view field, bool is_quoted, const value_rules& rules) {
  sample_cell cell{.text = std::string(field), .is_quoted = is_quoted};
  const std::string_view text = trimmed(field);
  const number value = parse_value(text, rules);
  cell.is_missing = value.kind == number_kind::real && std::isnan(value.real);
  cell.is_number = !cell.is_missing && value.kind != number_kind::not_a_number;
  cell.is_integer =
      cell.is_number && text.find_first_not_of("+-0123456789") == std::string_view::npos;
  cell.value = value.kind == number_kind::integer ? static_cast<double>(value.integer) : value.real;
  return cell;
}

/// The bytes of the sample, and whether they hold all its lines.
struct extent {
  std::size_t bytes = 0;
  bool is_whole = false;
};

extent sample_extent(std::string_view text) {
  std::size_t lines = 0;
  std::size_t bytes = 0;  // without blank lines
  const auto is_whole = [&] {
    return lines == most_sample_lines || (lines >= 2 && bytes >= most_sample_bytes);
  };
  std::size_t begin = 0;
  while (begin < text.size() && !is_whole()) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) return {text.size(), false};
    if (!trimmed(text.substr(begin, end - begin)).empty()) {
      ++lines;
      bytes += end - begin;
    }
    begin = end + 1;
  }
  return {begin, is_whole()};
}

/// Whether `c` separates fields in some layout.
bool may_separate(char c) {
  return c == '\t' || c == ',' || c == ';' || c == '|' || c == ' ';
}

/// Replaces what is in quotes, also line breaks, by 'q's. Before the separator is known: quotes of
/// a field stand behind something that separates in some layout, and in front of such.
std::string without_quoted(std::string_view text) {
  std::string out(text);
  for (std::size_t open = text.find('"'); open != std::string_view::npos;) {
    std::size_t next = open + 1;
    const bool opens = open == 0 || text[open - 1] == '\n' || may_separate(text[open - 1]);
    if (opens) {
      std::size_t close = text.find('"', next);
      while (close != std::string_view::npos && close + 1 < text.size() && text[close + 1] == '"') {
        close = text.find('"', close + 2);
      }
      const char behind =
          close == std::string_view::npos || close + 1 >= text.size() ? '\n' : text[close + 1];
      if (close != std::string_view::npos &&
          (behind == '\n' || behind == '\r' || may_separate(behind))) {
        std::fill(out.begin() + static_cast<std::ptrdiff_t>(open),
                  out.begin() + static_cast<std::ptrdiff_t>(close + 1), 'q');
        next = close + 1;
      }
    }
    open = text.find('"', next);
  }
  return out;
}

/// The second line of `text` that is neither blank nor a comment, or the only one.
std::string_view telling_line(std::string_view text, const field_rules& rules) {
  std::string_view found;
  int lines = 0;
  for (std::size_t begin = 0; begin < text.size() && lines < 2;) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    if (trimmed(line).empty() || is_comment(line, rules)) continue;
    found = line;
    ++lines;
  }
  return found;
}

/// How many fields of `line` are numbers. Where the comma does not separate, it may be the decimal
/// mark of a file whose user did not say so: reading it then says what to do.
std::size_t count_numbers(std::string_view line, char separator, const value_rules& values) {
  const field_rules rules{.separator = separator, .merges = separator == ' '};
  value_rules with_comma = values;
  with_comma.decimal = ',';
  field_cursor cursor(line, rules);
  std::size_t count = 0;
  for (std::string_view field; cursor.next(field);) {
    const bool is_number =
        parse_value(field, values).kind != number_kind::not_a_number ||
        (separator != ',' && parse_value(field, with_comma).kind != number_kind::not_a_number);
    if (is_number && !field.empty()) ++count;
  }
  return count;
}

}  // namespace

bool holds_sample(std::string_view text) {
  return sample_extent(text).is_whole;
}

std::string_view sample_text(std::string_view text) {
  return text.substr(0, sample_extent(text).bytes);
}

char likely_separator(std::string_view text, const field_rules& rules, const value_rules& values) {
  const std::string plain = without_quoted(text);
  const std::string_view line = telling_line(plain, rules);
  if (trimmed(line).find('\t') != std::string_view::npos || line.find('\t') == 0) return '\t';
  // The first of equals: a name may hold a blank or a semicolon sooner than a comma.
  constexpr std::array<char, 4> candidates{',', ';', '|', ' '};
  char best = ' ';
  std::size_t most = 0;
  bool has_any = false;
  for (const char separator : candidates) {
    if (separator == ',' && values.decimal == ',') continue;
    if (separator != ' ' && line.find(separator) == std::string_view::npos) continue;
    const std::size_t count = count_numbers(line, separator, values);
    if (!has_any || count > most) best = separator;
    most = std::max(most, count);
    has_any = true;
  }
  return best;
}

text_sample take_sample(std::string_view text, const field_rules& rules) {
  text_sample sample;
  index_t number = 1;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = record_end(text, begin, rules);
    const bool is_open = end == std::string_view::npos;
    if (is_open && sample.size() >= 2) break;
    const std::size_t size = (is_open ? text.size() : end) - begin;
    const std::string_view record = text.substr(begin, size);
    const std::size_t next = std::min(begin + size + 1, text.size());
    if (!trimmed(record).empty() && !is_comment(record, rules)) {
      sample.push_back({.number = number, .text = record, .begin = begin, .end = next});
    }
    number += 1 + std::count(record.begin(), record.end(), '\n');
    begin = next;
  }
  return sample;
}

void split_sample(text_sample& sample, const field_rules& rules, const value_rules& values,
                  std::size_t most_cells) {
  for (std::size_t i = 0; i < sample.size(); ++i) {
    sample_line& line = sample[i];
    field_cursor cursor(line.text, rules);
    for (std::string_view field; cursor.next(field);) {
      if (i >= 2 && line.cells.size() == most_cells) break;
      line.cells.push_back(cell_of(field, cursor.is_quoted(), values));
    }
    line.fault = cursor.fault();
  }
}

}  // namespace gpu::io
