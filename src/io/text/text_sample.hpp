#pragma once
// The first lines of a text table, field by field: what its layout is told from.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <gpu/index.hpp>

#include "io/text/field_value.hpp"
#include "io/text/text_fields.hpp"

namespace gpu::io {

struct sample_cell {
  std::string text = {};
  bool is_quoted = false;   ///< Stood in double quotes.
  bool is_number = false;   ///< A number, and no missing value.
  bool is_missing = false;  ///< Without text, or a word for a missing value.
  bool is_integer = false;  ///< Written without a point or an exponent.
  double value = 0;         ///< Of a number.
  [[nodiscard]] bool is_text() const noexcept { return !is_number && !is_missing; }
};

struct sample_line {
  index_t number = 0;  ///< In the file, from 1.
  std::string_view text = {};
  std::size_t begin = 0;                ///< Where it begins in the text, ...
  std::size_t end = 0;                  ///< ... and the next one.
  std::vector<sample_cell> cells = {};  ///< All of the first two lines, some of others.
  field_fault fault = field_fault::none;
};

/// Records that are not blank, the first of them perhaps a header.
using text_sample = std::vector<sample_line>;

/// A sample ends behind so many lines that are not blank, ...
inline constexpr std::size_t most_sample_lines = 100;
/// ... at the line that begins behind so many bytes of such lines, except for the second, ...
inline constexpr std::size_t most_sample_bytes = std::size_t{1} << 20;
/// ... and holds so many cells of its third line and later ones.
inline constexpr std::size_t most_sample_cells = 32;

/// Whether `text` holds all lines of the sample: then what follows does not change it.
[[nodiscard]] bool holds_sample(std::string_view text);

/// What of `text` the sample is taken from.
[[nodiscard]] std::string_view sample_text(std::string_view text);

/// What separates the fields of `text`, by its first lines: the tab where there is one, else what
/// gives most numbers, where the comma may also be the decimal mark.
[[nodiscard]] char likely_separator(std::string_view text, const field_rules& rules,
                                    const value_rules& values);

/// The records of `text`, not split yet. The last is left out where it does not end, unless it is
/// one of the first two.
[[nodiscard]] text_sample take_sample(std::string_view text, const field_rules& rules);

/// Fills the cells of each line, at most `most_cells` of the third and later ones.
void split_sample(text_sample& sample, const field_rules& rules, const value_rules& values,
                  std::size_t most_cells);

}  // namespace gpu::io
