#include "fuzz/reference_text.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iomanip>
#include <set>
#include <sstream>
#include <utility>

#include "fuzz/reference_names.hpp"
#include "fuzz/reference_records.hpp"

namespace gpu_test {
namespace {

using gpu::io::choice;
using gpu::io::delimiter;
using gpu::io::text_options;

struct value {
  bool is_number = false;  // in form
  bool is_taken = false;   // also in range
  bool is_int32 = false;
  double number = 0;
};

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

/// A number with a decimal point.
value number_of(const std::string& field) {
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
    // Taken where a double is the very number, compared as text: all up to 2^53, some above.
    const std::string digits = whole.substr(std::min(whole.find_first_not_of('0'), whole.size()));
    std::ostringstream exact;
    exact << std::fixed << std::setprecision(0) << std::fabs(result.number);
    result.is_taken = digits.empty() || digits == exact.str();
    result.is_int32 = result.number >= INT32_MIN && result.number <= INT32_MAX;
  } else {
    result.is_taken = !std::isinf(result.number);
  }
  return result;
}

value value_of(const std::string& field, const text_options& options) {
  value result;
  if (options.decimal == '.') {
    result = number_of(field);
  } else if (field.find('.') == std::string::npos) {
    std::string text = field;
    std::replace(text.begin(), text.end(), ',', '.');
    result = number_of(text);
  }
  static const std::set<std::string> usual{"",     "NA",   "na",   "N/A",  "n/a",
                                           "#N/A", "<NA>", "null", "NULL", "."};
  const auto& words = options.missing;
  bool is_missing = !result.is_number &&
                    (usual.count(field) != 0 || std::count(words.begin(), words.end(), field) != 0);
  for (const std::string& word : words) {
    const value other = number_of(word);
    is_missing = is_missing || (result.is_taken && other.is_taken && other.number == result.number);
  }
  return is_missing ? value{true, true, false, std::nan("")} : result;
}

reference_field field_of(const std::string& text, bool is_quoted, const text_options& options) {
  reference_field field;
  field.is_quoted = is_quoted;
  field.text = text;
  const std::string trimmed = without_blanks(text);
  const value v = value_of(trimmed, options);
  field.is_missing = v.is_number && std::isnan(v.number);
  field.is_number = v.is_number && !field.is_missing;
  field.is_whole =
      field.is_number && trimmed.find_first_not_of("+-0123456789") == std::string::npos;
  field.number = v.number;
  return field;
}

/// The fields that tell what is a name.
reference_lines sample_of(const std::vector<reference_record>& head, const text_options& options) {
  reference_lines sample;
  for (const reference_record& record : head) {
    if (!record.is_whole && sample.size() >= 2) break;
    sample.emplace_back();
    for (std::size_t i = 0; i < record.fields.size(); ++i) {
      if (sample.size() > 2 && i == 32) break;
      sample.back().push_back(field_of(record.fields[i], record.quoted[i], options));
    }
  }
  return sample;
}

/// A name with tabs and line breaks as blanks, other control characters as '?'.
std::string name_of(const std::string& field) {
  std::string name;
  for (std::size_t i = 0; i < field.size(); ++i) {
    const auto code = static_cast<unsigned char>(field[i]);
    const auto next = i + 1 < field.size() ? static_cast<unsigned char>(field[i + 1]) : 0;
    if (code == '\r' && next == '\n') continue;
    if (code == 0xC2 && next >= 0x80 && next <= 0x9F) {
      name += '?';
      ++i;
    } else if (code == '\t' || code == '\n') {
      name += ' ';
    } else {
      name += code < 0x20 || code == 0x7F ? '?' : field[i];
    }
  }
  return name;
}

/// Adds the numbers of one record; false where it is refused.
bool add_row(const reference_record& row, std::size_t fields, std::size_t skipped,
             bool ends_with_separator, const text_options& options, reference_table& table) {
  const auto refuse = [&](std::size_t column) {
    table.refused = reference_place{row.line, column};
    return false;
  };
  std::size_t values = 0;
  for (std::size_t i = 0; i < row.fields.size(); ++i) {
    if (table.has_names && i == 0) {
      if (row.fields[0].empty()) return refuse(1);
      table.names.push_back(name_of(row.fields[0]));
      continue;
    }
    if (ends_with_separator && i + 1 == fields) {
      if (!row.fields[i].empty()) return refuse(i + 1);
      continue;
    }
    if (i + 1 == skipped || i >= fields || ++values > table.cols) continue;
    const value v = value_of(without_blanks(row.fields[i]), options);
    if (!v.is_taken) return refuse(i + 1);
    if (std::isnan(v.number)) {
      ++table.missing;
      if (!table.first_nan) table.first_nan = reference_place{row.line, i + 1};
    }
    table.all_int32 = table.all_int32 && v.is_int32;
    table.values.push_back(v.number);
  }
  if (row.is_faulty) return refuse(row.fields.size() + 1);
  if (row.fields.size() != fields) return refuse(0);
  ++table.rows;
  return true;
}

char separator_said(delimiter which) {
  switch (which) {
    case delimiter::tab:
      return '\t';
    case delimiter::semicolon:
      return ';';
    case delimiter::comma:
      return ',';
    case delimiter::bar:
      return '|';
    default:
      return ' ';
  }
}

}  // namespace

bool is_reference_value(const std::string& field, const text_options& options) {
  return !field.empty() && value_of(field, options).is_number;
}

reference_table read_reference_text(std::string_view whole, const text_options& options) {
  reference_table table;
  const auto refuse = [&](std::size_t line_number, std::size_t column) {
    table.refused = reference_place{line_number, column};
    return table;
  };
  if (whole.substr(0, 3) == "\xEF\xBB\xBF") whole.remove_prefix(3);
  const std::string text(whole);
  const std::string head = reference_head(text);
  const char separator = options.separator == delimiter::automatic
                             ? reference_separator(head, options)
                             : separator_said(options.separator);
  // Lines of tabs in front of the table, and between the lines that tell, mean nothing.
  const auto without_tab_lines = [](std::vector<reference_record> records) {
    std::erase_if(records, [](const reference_record& r) {
      return !r.is_faulty &&
             std::all_of(r.fields.begin(), r.fields.end(),
                         [](const std::string& f) { return f.empty(); }) &&
             std::find(r.quoted.begin(), r.quoted.end(), true) == r.quoted.end();
    });
    return records;
  };
  const auto telling = separator == '\t'
                           ? without_tab_lines(reference_records(head, separator, options.comment))
                           : reference_records(head, separator, options.comment);
  if (telling.empty()) return refuse(0, 0);
  table.has_fault_in_head = std::any_of(telling.begin(), telling.end(),
                                        [](const reference_record& r) { return r.is_faulty; });
  for (std::size_t i = 0; i < std::min<std::size_t>(telling.size(), 2); ++i) {
    if (telling[i].is_faulty) return refuse(telling[i].line, telling[i].fields.size() + 1);
  }
  reference_lines sample = sample_of(telling, options);
  reference_answer header =
      options.header == choice::yes ? reference_answer::names : reference_answer::values;
  if (options.header == choice::automatic) {
    header = reference_header(sample, options.row_names == choice::yes);
  }
  if (header == reference_answer::refused) return refuse(telling[0].line, 0);
  const bool has_header = header == reference_answer::names;
  if (has_header && sample.size() == 1) return refuse(telling[0].line, 0);
  std::vector<reference_field> names_of_columns;
  if (has_header) {
    names_of_columns = sample[0];
    sample.erase(sample.begin());
  }
  const reference_record& data = telling[has_header ? 1 : 0];
  const std::size_t fields = data.fields.size();
  // Rows that end with a separator, behind which the header has no name.
  const bool has_no_last_name =
      has_header && options.skip_columns.empty() && separator != ' ' && fields > 1 &&
      (names_of_columns.size() + 1 == fields ||
       (names_of_columns.size() == fields && names_of_columns.back().text.empty()));
  bool ends_with_separator = has_no_last_name;
  for (std::size_t i = 0; has_no_last_name && i < sample.size(); ++i) {
    const reference_record& row = telling[i + 1];
    ends_with_separator = ends_with_separator && row.fields.size() > 1 &&
                          row.fields.back().empty() && !row.quoted.back();
  }
  if (ends_with_separator) {
    for (auto& row : sample) row.resize(std::min(row.size(), fields - 1));
    names_of_columns.resize(fields - 1);
  }
  const std::size_t width = fields - (ends_with_separator ? 1 : 0);
  reference_answer names =
      options.row_names == choice::yes ? reference_answer::names : reference_answer::values;
  if (options.row_names == choice::automatic) names = reference_names(names_of_columns, sample);
  if (names == reference_answer::refused) return refuse(data.line, 0);
  table.has_names = names == reference_answer::names;
  std::size_t skipped = 0;  // counted from 1
  if (!options.skip_columns.empty()) {
    const std::string& word = options.skip_columns[0];
    skipped = std::stoul(word);
    if (skipped > fields) {
      // Beyond the fields a number may be a name.
      const std::size_t missing_fields = fields - std::min(fields, names_of_columns.size());
      skipped = 0;
      for (std::size_t i = 0; missing_fields < 2 && i < std::min(fields, names_of_columns.size());
           ++i) {
        const bool is_named = names_of_columns.size() <= fields && names_of_columns[i].text == word;
        if (is_named && skipped == 0) skipped = i + 1 + missing_fields;
      }
      if (skipped == 0) return refuse(0, 0);
    }
  }
  const bool skips_one = skipped > 0 && !(table.has_names && skipped == 1);
  table.cols = width - (table.has_names ? 1 : 0) - (skips_one ? 1 : 0);
  if (table.cols == 0) return refuse(data.line, 1);
  if (has_header && names_of_columns.size() != width &&
      !(table.has_names && names_of_columns.size() + 1 == width)) {
    return refuse(telling[0].line, 0);
  }
  if (has_header && has_reference_identifiers(names_of_columns, sample, skipped)) {
    return refuse(telling[0].line, 0);
  }
  for (const reference_record& row : reference_records(text, separator, options.comment)) {
    if (row.line < telling[0].line || (has_header && row.line == telling[0].line)) continue;
    if (!add_row(row, fields, skipped, ends_with_separator, options, table)) break;
  }
  return table;
}

}  // namespace gpu_test
