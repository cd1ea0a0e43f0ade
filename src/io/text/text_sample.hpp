#pragma once
// The first lines of a text table, field by field: what its layout is told from.

#include <cstddef>
#include <string_view>
#include <vector>

#include <gpu/index.hpp>

#include "io/text/text_fields.hpp"

namespace gpu::io {

/// One field of the sample.
struct sample_cell {
  std::string_view text = {};  ///< Without quotes around it.
  bool is_quoted = false;      ///< In double quotes.
  bool is_number = false;      ///< A number, and no missing value.
  bool is_missing = false;     ///< Without text, or a word for a missing value.
  bool is_integer = false;     ///< Written without a point or an exponent.
  double value = 0;            ///< Of a number.
  [[nodiscard]] bool is_text() const noexcept { return !is_number && !is_missing; }
};

struct sample_line {
  index_t number = 0;  ///< In the file, from 1.
  std::string_view text = {};
  std::size_t begin = 0;                ///< Where it begins in the text, ...
  std::size_t end = 0;                  ///< ... and the next one.
  std::vector<sample_cell> cells = {};  ///< Those of the first two lines, the first few of others.
};

/// Lines that are not blank, the first of them perhaps a header.
using text_sample = std::vector<sample_line>;

/// A sample has at most so many lines, ...
inline constexpr std::size_t most_sample_lines = 100;
/// ... begins none behind so many bytes, but for the second, ...
inline constexpr std::size_t most_sample_bytes = std::size_t{1} << 20;
/// ... and holds so many cells of its third line and later ones.
inline constexpr std::size_t most_sample_cells = 32;

/// Whether `text` holds all lines of the sample, which what follows it then does not change.
[[nodiscard]] bool holds_sample(std::string_view text);

/// The lines of the sample, not split yet.
[[nodiscard]] text_sample take_sample(std::string_view text);

/// Fills the cells of each line.
void split_sample(text_sample& sample, const field_rules& rules);

}  // namespace gpu::io
