#pragma once
// The text format as docs/command.md describes it, read line by line with plain strings. Slow on
// purpose, and shares nothing with the library but the words for a layout that is asked for.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/text/text_layout.hpp"

namespace gpu_test {

/// What is wrong, by place: both numbers start at 1, 0 means the whole line or file.
struct reference_place {
  std::size_t line = 0;
  std::size_t column = 0;
};

struct reference_table {
  std::vector<double> values;
  std::size_t rows = 0;
  std::size_t cols = 0;
  bool has_names = false;
  std::vector<std::string> names;
  bool all_int32 = true;                     // every value is an integer that fits 32 bits
  std::optional<reference_place> refused;    // then the rest means nothing
  std::optional<reference_place> first_nan;  // where the first NaN stands
};

[[nodiscard]] reference_table read_reference_text(std::string_view text, gpu::io::choice header,
                                                  gpu::io::choice row_names);

}  // namespace gpu_test
