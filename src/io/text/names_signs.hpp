#pragma once
// Whether the first line of a table names its columns, and the first column its rows. Names may
// be numbers (years, identifiers, row numbers), so what else the table holds has to tell.

#include <cstddef>

#include "io/text/text_sample.hpp"

namespace gpu::io {

struct name_sign {
  bool are_names = false;
  bool is_doubtful = false;  ///< Then the user is told what was taken for what.
};

/// The first line of `sample`, which has one.
[[nodiscard]] name_sign sign_of_first_line(const text_sample& sample);

/// The first column of the lines from number `first_row` of `sample` on; those before are a header.
[[nodiscard]] name_sign sign_of_first_column(const text_sample& sample, std::size_t first_row);

}  // namespace gpu::io
