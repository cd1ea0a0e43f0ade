#pragma once
// Norms of rows from the sums of their squares, as a part of a launch or as one of its own.

#include <math_constants.h>

#include "kernels/pairs/prepare/kernels.hpp"

namespace gpu::kernels {

/// Whether the row has no norm.
__device__ inline bool fill_norm(const norm_request& of, index_t row) {
  const std::int64_t sum = of.square_sums[row];
  const double norm = sqrt(static_cast<double>(sum));
  of.norms[row] = sum <= 0 ? row_norm{CUDART_NAN_F, CUDART_NAN_F}
                           : row_norm{static_cast<float>(norm), static_cast<float>(1.0 / norm)};
  return sum <= 0;
}

/// The words that thread `first` of `step` sets to zero.
__device__ inline void fill_zeros(const norm_request& of, index_t first, index_t step) {
  for (index_t at = first; at < of.zeros.count; at += step) of.zeros.words[at] = 0;
}

}  // namespace gpu::kernels
