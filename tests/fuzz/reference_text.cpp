#include "fuzz/reference_text.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace gpu_test {
namespace {

using gpu::io::choice;

struct line {
  std::size_t number;
  std::string text;  // without blanks at its ends
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
    const std::string trimmed = without_blanks(current);
    if (!trimmed.empty()) lines.push_back({number, trimmed});
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

bool is_header(const std::vector<std::string>& fields) {
  if (fields.size() == 1) return !value_of(fields[0]).is_number;
  for (std::size_t i = 1; i < fields.size(); ++i) {
    if (value_of(fields[i]).is_number) return false;
  }
  return true;
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
  if (lines.empty()) return refuse(0, 0);
  const std::string& telling = lines[lines.size() > 1 ? 1 : 0].text;
  const auto has = [&](char c) { return telling.find(c) != std::string::npos; };
  const char separator = has('\t') ? '\t' : has(',') ? ',' : ' ';

  const line first = lines[0];
  const std::vector<std::string> head = fields_of(first.text, separator);
  const bool has_header = header == choice::automatic ? is_header(head) : header == choice::yes;
  if (has_header) lines.erase(lines.begin());
  if (lines.empty()) return refuse(first.number, 0);
  const std::vector<std::string> data = fields_of(lines[0].text, separator);
  const bool is_named = (!data[0].empty() && !value_of(data[0]).is_number) ||
                        (has_header && (head.size() + 1 == data.size() || head[0].empty()));
  table.has_names = row_names == choice::automatic ? is_named : row_names == choice::yes;
  table.cols = data.size() - (table.has_names ? 1 : 0);
  if (table.cols == 0) return refuse(lines[0].number, 1);
  if (has_header && head.size() != data.size() &&
      !(table.has_names && head.size() + 1 == data.size())) {
    return refuse(first.number, 0);
  }
  for (const line& row : lines) {
    if (!add_row(row, separator, table)) break;
  }
  return table;
}

}  // namespace gpu_test
