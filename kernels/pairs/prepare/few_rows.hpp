#pragma once
// Statistics of few unit rows with many others, which are multiplied while they are prepared: their
// unit rows are never in memory.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include <gpu/index.hpp>
#include <gpu/matrix_view.hpp>

#include "stats/unit_rows.hpp"

namespace gpu::kernels {

/// The few rows, and the statistics of each with all others: NaN where a row has none.
struct few_rows {
  double* unit_rows = nullptr;                ///< [count, unit_row_layout(cols).pitch()]
  const std::int64_t* square_sums = nullptr;  ///< [count], as launch_unit_rows writes them.
  index_t count = 0;
  double* statistics = nullptr;  ///< [count, pitch], one of the two.
  float* floats = nullptr;
  index_t pitch = 0;
};
/// Whether a block with so much shared memory holds them and some rows of such elements.
bool fits_few_rows(index_t rows, index_t cols, std::size_t element_bytes, std::size_t shared_bytes);
/// Statistics [0, by.count) x [first, first + data.rows()), of the rows that launch_unit_rows would
/// make of `data`, and square_sums[i] of row i of `data` as there.
template <class T>
void launch_multiply_few_rows(device_matrix_view<const T> data, detail::row_centre centre,
                              const few_rows& by, index_t first, std::int64_t* square_sums,
                              cudaStream_t stream);

}  // namespace gpu::kernels
