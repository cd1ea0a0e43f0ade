#pragma once
// Which columns are read, where the user chooses some.

#include <cstdint>
#include <string>
#include <vector>

#include <gpu/index.hpp>

#include "io/text/text_options.hpp"

namespace gpu::io {

/// What a field of each line is; `empty` is behind a separator that ends each line.
enum class field_role : std::uint8_t { value, name, skipped, empty };

/// The columns that the user chose, by position from 0.
struct column_choice {
  std::vector<index_t> values = {};   ///< Of columns; empty: all that are not skipped.
  std::vector<index_t> skipped = {};  ///< Of skip_columns.
  index_t names = -1;                 ///< Of names_column; -1: not said.
};

/// Whether `options` choose columns.
[[nodiscard]] bool chooses_columns(const text_options& options);

/// Whether all of them are chosen by number, of `fields` that there are.
[[nodiscard]] bool are_numbers(const text_options& options, index_t fields);

/// The columns that `options` mean. A word is a number from 1 to `fields`, else one of `names`,
/// where it stands as often as there are fields ("" where it has no name), else a range of two
/// such; without its second end, as in "4-", it goes to the last column.
/// @throw input_error for another word
[[nodiscard]] column_choice choose_columns(const text_options& options, index_t fields,
                                           const std::vector<std::string>& names,
                                           const std::string& file);

/// The role of each of `fields` fields; the names are in column `names` (-1: nowhere).
[[nodiscard]] std::vector<field_role> roles_of(const column_choice& chosen, index_t fields,
                                               index_t names);

}  // namespace gpu::io
