#pragma once
// The text format as docs/input_files.md describes it, read character by character with plain
// strings. Slow on purpose, and shares nothing with the library but the words for what a user says.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/text/text_options.hpp"

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
  bool all_int32 = true;                   // every value is an integer that fits 32 bits
  std::optional<reference_place> refused;  // then the rest means nothing
  /// Whether a quote is wrong in the lines that tell what is a name: these then say nothing for
  /// sure, and so not where the table is refused.
  bool has_fault_in_head = false;
  std::optional<reference_place> first_nan;  // where the first NaN stands
  std::size_t missing = 0;
};

/// Columns are chosen by skip_columns alone, by number, and only where header and row_names are
/// said.
[[nodiscard]] reference_table read_reference_text(std::string_view text,
                                                  const gpu::io::text_options& options);

}  // namespace gpu_test
