#pragma once
// Host-callable launches of sums of powers over rows of a dense result. Asynchronous on `stream`;
// no allocation, no synchronisation.

#include <cuda_runtime_api.h>

#include <span>

#include <gpu/connectivity.hpp>
#include <gpu/index.hpp>

#include "stats/soft_power.hpp"

namespace gpu::kernels {

/// Columns whose sum one block writes.
inline constexpr index_t connectivity_segment = 8192;
/// Blocks that share a row of `cols` columns.
constexpr index_t connectivity_segments(index_t cols) {
  return (cols + connectivity_segment - 1) / connectivity_segment;
}

/// A block of whole rows of statistics, [rows, cols].
struct connectivity_block {
  const double* statistics;
  index_t rows;
  index_t cols;
  index_t first_self;  ///< The column that row 0 itself is; row i is first_self + i.
};

/// sums[i, step.column] = the sum over all columns but the row itself, in an order that depends on
/// `cols` alone. `partial` is memory for [rows, connectivity_segments(cols), steps]; `sums` has
/// [rows, steps].
void launch_connectivity(const connectivity_block& block, network_kind network,
                         std::span<const stats::power_step> steps, double* partial, double* sums,
                         cudaStream_t stream);

}  // namespace gpu::kernels
