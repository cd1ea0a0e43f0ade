#include "io/text/column_roles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/parsed.hpp"
#include "io/io_error.hpp"

namespace gpu::io {
namespace {

/// A number from 1 to `fields`, less 1.
std::optional<index_t> number_of(std::string_view word, index_t fields) {
  const auto number = gpu::detail::parsed<index_t>(word);
  if (!number || *number < 1 || *number > fields) return {};
  return *number - 1;
}

std::optional<index_t> column_of(std::string_view word, index_t fields,
                                 const std::vector<std::string>& names) {
  if (const auto number = number_of(word, fields)) return number;
  const auto found = std::find(names.begin(), names.end(), word);
  if (found == names.end() || word.empty()) return {};
  return found - names.begin();
}

/// The two columns that `word` joins by a hyphen; behind an open one all are meant. Names may have
/// hyphens too.
std::optional<std::pair<index_t, index_t>> range_of(std::string_view word, index_t fields,
                                                    const std::vector<std::string>& names) {
  for (std::size_t at = word.find('-'); at != std::string_view::npos; at = word.find('-', at + 1)) {
    const auto first = column_of(word.substr(0, at), fields, names);
    const bool is_open = at + 1 == word.size();
    const auto last = is_open ? fields - 1 : column_of(word.substr(at + 1), fields, names);
    if (first && last && *first <= *last) return std::pair(*first, *last);
  }
  return {};
}

[[noreturn]] void refuse(const char* option, std::string_view word, index_t fields,
                         const std::string& file, std::string_view what_else) {
  throw input_error(file, {},
                    fmt::format("{}: got {}, expected the number of a column from 1 to {}{}",
                                option, quoted(word), fields, what_else));
}

std::vector<index_t> columns_of(const char* option, const std::vector<std::string>& words,
                                index_t fields, const std::vector<std::string>& names,
                                const std::string& file) {
  std::vector<index_t> out;
  for (const std::string& word : words) {
    const bool is_number = number_of(word, fields).has_value();
    if (!is_number && std::count(names.begin(), names.end(), word) > 1) {
      throw input_error(file, {},
                        fmt::format("{}: got {}, which more than one column has, expected the "
                                    "number of a column from 1 to {}",
                                    option, quoted(word), fields));
    }
    if (const auto column = column_of(word, fields, names)) {
      out.push_back(*column);
    } else if (const auto range = range_of(word, fields, names)) {
      for (index_t c = range->first; c <= range->second; ++c) out.push_back(c);
    } else {
      refuse(option, word, fields, file,
             ", a name in the header, or a range of two of them as in 3-8 or 4-");
    }
  }
  return out;
}

}  // namespace

bool chooses_columns(const text_options& options) {
  return !options.columns.empty() || !options.skip_columns.empty() || !options.names_column.empty();
}

bool are_numbers(const text_options& options, index_t fields) {
  const auto is_number = [&](const std::string& word) {
    return number_of(word, fields) || range_of(word, fields, {});
  };
  return std::all_of(options.columns.begin(), options.columns.end(), is_number) &&
         std::all_of(options.skip_columns.begin(), options.skip_columns.end(), is_number) &&
         (options.names_column.empty() || number_of(options.names_column, fields));
}

column_choice choose_columns(const text_options& options, index_t fields,
                             const std::vector<std::string>& names, const std::string& file) {
  column_choice chosen;
  chosen.values = columns_of("--columns", options.columns, fields, names, file);
  chosen.skipped = columns_of("--skip-columns", options.skip_columns, fields, names, file);
  if (options.names_column.empty()) return chosen;
  const auto column = column_of(options.names_column, fields, names);
  if (!column) {
    refuse("--names-column", options.names_column, fields, file, " or a name in the header");
  }
  chosen.names = *column;
  return chosen;
}

std::vector<field_role> roles_of(const column_choice& chosen, index_t fields, index_t names) {
  const field_role other = chosen.values.empty() ? field_role::value : field_role::skipped;
  std::vector<field_role> roles(static_cast<std::size_t>(fields), other);
  for (const index_t column : chosen.values) {
    roles[static_cast<std::size_t>(column)] = field_role::value;
  }
  for (const index_t column : chosen.skipped) {
    roles[static_cast<std::size_t>(column)] = field_role::skipped;
  }
  if (names >= 0) roles[static_cast<std::size_t>(names)] = field_role::name;
  return roles;
}

}  // namespace gpu::io
