#pragma once
// Host-callable launches of the ranking kernels. Asynchronous on `stream`.

#include <cuda_runtime_api.h>

#include <cstdint>

#include <gpu/matrix_view.hpp>
#include <gpu/rank.hpp>

namespace gpu::kernels {

/// The Spearman prologue: for each row u = 2 * (average rank) - (cols + 1), as an Integer
/// (int8 for cols <= 128, int16 for cols <= 32768, else int32); columns cols .. ranks.cols() - 1
/// of `ranks` are set to 0. `square_sums` [rows] receives sum u^2 (0 for a constant row).
/// Allocates what the long-row path needs from the stream's memory pool (cudaMallocAsync).
template <class T, class Integer>
void launch_centred_ranks(device_matrix_view<const T> data, device_matrix_view<Integer> ranks,
                          std::int64_t* square_sums, cudaStream_t stream);

}  // namespace gpu::kernels
