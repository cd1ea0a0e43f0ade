#pragma once
// From rows of input on the device to rows as a tile takes them.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "cuda/pairs/rows/row_format.hpp"
#include "kernels/pairs/kernels.hpp"
#include "kernels/pairs/prepare/few_rows.hpp"
#include "kernels/pairs/prepare/half_rows.hpp"
#include "pairs/measures/measures.hpp"

namespace gpu::cuda {

/// Bytes of a row on its way to a row of `format`: centred ranks, or the doubles of a row that is
/// transformed; 0 where there is no such way.
std::size_t scratch_row_bytes(const detail::measure_traits& what, const row_format& format);

/// Where a block of rows goes.
struct packed_rows {
  std::int64_t* square_sums;             ///< [rows]
  std::byte* scratch;                    ///< scratch_row_bytes() a row.
  std::byte* values;                     ///< format.row_bytes a row; not written for tensor_float.
  double* unit;                          ///< format.unit_bytes a row.
  kernels::half_plane_rows halves = {};  ///< Of all rows, of products_half,
  index_t first = 0;                     ///< where the first row of the block is this one.
  kernels::few_rows few = {};            ///< Those of x, of a format that is ready.
};

/// Ranks a block of rows, or transforms and scales it, and packs it. Values of tensor_float are
/// split from the unit rows later, where tiles need them. Takes memory from the stream's pool for
/// naive_pearson alone.
template <class T>
void pack_rows(const detail::measure_traits& what, const row_format& format,
               device_matrix_view<const T> block, const packed_rows& to, cudaStream_t stream);

}  // namespace gpu::cuda
