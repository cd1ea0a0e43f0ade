#include "fuzz/reference_text.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "fuzz/reference_names.hpp"

namespace gpu_test {
namespace {

using gpu::io::choice;

struct line {
  std::size_t number;
  std::string text;
  std::size_t begin;  // in the text, behind a byte order mark
};

struct value {
  bool is_number = false;  // in form
  bool is_taken = false;   // also in range
  bool is_int32 = false;
  double number = 0;
};

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

std::string without_blanks(const std::string& text) {
  std::size_t begin = 0;
  std::size_t end = text.size();
  while (begin < end && is_blank(text[begin])) ++begin;
  while (begin < end && is_blank(text[end - 1])) --end;
  return text.substr(begin, end - begin);
}

std::vector<line> lines_of(std::string_view text) {
  if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);
  std::vector<line> lines;
  std::string current;
  std::size_t number = 1;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] != '\n') {
      current += text[i];
      continue;
    }
    if (!current.empty()) lines.push_back({number, current, i - current.size()});
    current.clear();
    ++number;
  }
  return lines;
}

std::vector<std::string> fields_of(const std::string& text, char separator) {
  std::vector<std::string> fields;
  std::string current;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] != separator) {
      current += text[i];
      continue;
    }
    const std::string field = without_blanks(current);
    if (separator != ' ' || !field.empty()) fields.push_back(field);
    current.clear();
  }
  return fields;
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// Digits from `at` on; moves behind them.
std::string take_digits(const std::string& text, std::size_t& at) {
  std::string digits;
  while (at < text.size() && text[at] >= '0' && text[at] <= '9') digits += text[at++];
  return digits;
}

value value_of(const std::string& field) {
  value result;
  if (field == "NA") return {true, true, false, std::nan("")};
  std::size_t at = 0;
  if (!field.empty() && (field[0] == '+' || field[0] == '-')) ++at;
  const std::string word = lower(field.substr(at));
  if (word == "nan") return {true, true, false, std::nan("")};
  if (word == "inf" || word == "infinity") {
    return {true, true, false, field[0] == '-' ? -HUGE_VAL : HUGE_VAL};
  }
  const std::string whole = take_digits(field, at);
  bool is_integer = true;
  std::string fraction;
  if (at < field.size() && field[at] == '.') {
    is_integer = false;
    fraction = take_digits(field, ++at);
  }
  if (whole.empty() && fraction.empty()) return result;
  if (at < field.size() && (field[at] == 'e' || field[at] == 'E')) {
    is_integer = false;
    ++at;
    if (at < field.size() && (field[at] == '+' || field[at] == '-')) ++at;
    if (take_digits(field, at).empty()) return result;
  }
  if (at != field.size()) return result;
  result.is_number = true;
  result.number = std::strtod(field.c_str(), nullptr);
  if (is_integer) {
    // Compared as text: a double cannot tell 2^53 from the next integer.
    const std::string digits = whole.substr(std::min(whole.find_first_not_of('0'), whole.size()));
    const std::string largest = "9007199254740992";
    result.is_taken =
        digits.size() < largest.size() || (digits.size() == largest.size() && digits <= largest);
    result.is_int32 = result.number >= INT32_MIN && result.number <= INT32_MAX;
  } else {
    result.is_taken = !std::isinf(result.number);
  }
  return result;
}

/// Whether there is nothing but spaces, and tabs where they do not separate.
bool is_blank_line(const std::string& text, char separator) {
  for (const char c : text) {
    if (!is_blank(c) || (c == '\t' && separator == '\t')) return false;
  }
  return true;
}

reference_field field_of(std::string text) {
  reference_field field;
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    text = text.substr(1, text.size() - 2);
    field.is_quoted = true;
  }
  const value v = value_of(text);
  field.text = text;
  field.is_missing = text.empty() || (v.is_number && std::isnan(v.number));
  field.is_number = v.is_number && !field.is_missing;
  field.is_whole = field.is_number && text.find_first_not_of("+-0123456789") == std::string::npos;
  field.number = v.number;
  return field;
}

/// The lines that tell what is a name: a hundred, and those that begin in the first megabyte.
reference_lines sample_of(const std::vector<line>& lines, char separator) {
  reference_lines sample;
  for (const line& each : lines) {
    if (without_blanks(each.text).empty()) continue;
    if (sample.size() == 100 || (sample.size() >= 2 && each.begin >= 1048576)) break;
    sample.emplace_back();
    for (const std::string& text : fields_of(each.text, separator)) {
      if (sample.size() > 2 && sample.back().size() == 32) break;
      sample.back().push_back(field_of(text));
    }
  }
  return sample;
}

/// A name without the quotes around it, tabs as blanks, other control characters as '?'.
std::string name_of(std::string field) {
  if (field.size() >= 2 && field.front() == '"' && field.back() == '"') {
    field = field.substr(1, field.size() - 2);
  }
  std::string name;
  for (std::size_t i = 0; i < field.size(); ++i) {
    const auto code = static_cast<unsigned char>(field[i]);
    const auto next = i + 1 < field.size() ? static_cast<unsigned char>(field[i + 1]) : 0;
    if (code == 0xC2 && next >= 0x80 && next <= 0x9F) {
      name += '?';
      ++i;
    } else if (code == '\t') {
      name += ' ';
    } else {
      name += code < 0x20 || code == 0x7F ? '?' : field[i];
    }
  }
  return name;
}

/// Adds the numbers of one line; false where it is refused.
bool add_row(const line& row, char separator, reference_table& table) {
  std::vector<std::string> fields = fields_of(row.text, separator);
  const std::size_t skipped = table.has_names ? 1 : 0;
  if (table.has_names && fields[0].empty()) {
    table.refused = reference_place{row.number, 1};
    return false;
  }
  for (std::size_t i = skipped; i < std::min(fields.size(), skipped + table.cols); ++i) {
    const value v = value_of(fields[i]);
    if (!v.is_taken) {
      table.refused = reference_place{row.number, i + 1};
      return false;
    }
    if (std::isnan(v.number) && !table.first_nan) table.first_nan = {row.number, i + 1};
    table.all_int32 = table.all_int32 && v.is_int32;
    table.values.push_back(v.number);
  }
  if (fields.size() != skipped + table.cols) {
    table.refused = reference_place{row.number, 0};
    return false;
  }
  if (table.has_names) table.names.push_back(name_of(fields[0]));
  ++table.rows;
  return true;
}

}  // namespace

reference_table read_reference_text(std::string_view text, choice header, choice row_names) {
  reference_table table;
  const auto refuse = [&](std::size_t line_number, std::size_t column) {
    table.refused = reference_place{line_number, column};
    return table;
  };
  std::vector<line> lines = lines_of(text);
  while (!lines.empty() && without_blanks(lines[0].text).empty()) lines.erase(lines.begin());
  if (lines.empty()) return refuse(0, 0);
  std::string telling = lines[0].text;
  for (std::size_t i = lines.size() - 1; i > 0; --i) {
    if (!without_blanks(lines[i].text).empty()) telling = lines[i].text;
  }
  const auto has = [&](char c) { return telling.find(c) != std::string::npos; };
  const char separator = has('\t') ? '\t' : has(',') ? ',' : ' ';

  reference_lines sample = sample_of(lines, separator);
  const line first = lines[0];
  const std::vector<std::string> head = fields_of(first.text, separator);
  const bool has_header =
      header == choice::automatic ? is_reference_header(sample) : header == choice::yes;
  if (has_header && sample.size() == 1) return refuse(first.number, 0);
  std::vector<reference_field> names_of_columns;
  std::size_t data_line = 0;
  if (has_header) {
    names_of_columns = sample[0];
    sample.erase(sample.begin());
    lines.erase(lines.begin());
    while (without_blanks(lines[data_line].text).empty()) ++data_line;
  }
  const std::vector<std::string> data = fields_of(lines[data_line].text, separator);
  table.has_names = row_names == choice::automatic ? has_reference_names(names_of_columns, sample)
                                                   : row_names == choice::yes;
  table.cols = data.size() - (table.has_names ? 1 : 0);
  if (table.cols == 0) return refuse(lines[data_line].number, 1);
  if (has_header && head.size() != data.size() &&
      !(table.has_names && head.size() + 1 == data.size())) {
    return refuse(first.number, 0);
  }
  for (const line& row : lines) {
    if (is_blank_line(row.text, separator)) continue;
    if (!add_row(row, separator, table)) break;
  }
  return table;
}

}  // namespace gpu_test
