#pragma once
// A table whose columns are rows.

#include <gpu/index.hpp>

#include "io/table.hpp"

namespace gpu::io {

/// The columns of `in` as rows, with their names, and the rows as columns. Memory: both at once.
[[nodiscard]] table transposed(const table& in, int threads);

}  // namespace gpu::io
