#pragma once
// What the user is told of a layout that was found out.

#include <cstddef>
#include <string>

#include "io/text/text_sample.hpp"

namespace gpu::io {

/// Of the first line of `sample`, taken for the names of the columns or not.
[[nodiscard]] std::string line_note(const text_sample& sample, bool are_names);

/// Of the first column of the lines from `first_row` on, taken for the names of the rows or not.
[[nodiscard]] std::string column_note(const text_sample& sample, std::size_t first_row,
                                      bool are_names);

}  // namespace gpu::io
