#pragma once
// Unit rows of long rows: a block a row.

#include <cuda_runtime_api.h>

#include <gpu/index.hpp>
#include <gpu/matrix_view.hpp>

#include "stats/unit_rows.hpp"

namespace gpu::kernels {

/// Columns from which a row has a block of its own: with fewer, many rows share a block, unless
/// there are too few of them to fill the device.
constexpr index_t long_row_columns(index_t rows) {
  return rows <= 2048 ? 256 : 1024;
}

/// As launch_unit_rows, of rows of any length.
template <class T>
void launch_long_unit_rows(device_matrix_view<const T> data, detail::row_centre centre, double* out,
                           std::int64_t* square_sums, cudaStream_t stream);

}  // namespace gpu::kernels
