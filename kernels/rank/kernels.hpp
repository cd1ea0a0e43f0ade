#pragma once
// Host-callable launches of the ranking kernels. Asynchronous on `stream`, no synchronisation,
// capturable in a CUDA graph.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include <gpu/matrix_view.hpp>
#include <gpu/rank.hpp>

namespace gpu::kernels {

/// The Spearman prologue: for each row u = 2 * (average rank) - (cols + 1), as an Integer
/// (int8 for cols <= 128, int16 for cols <= 32768, else int32); columns cols .. ranks.cols() - 1
/// of `ranks` are set to 0. `square_sums` [rows] receives sum u^2 (0 for a constant row); it fits
/// 64 bits up to 3,000,000 columns. A NaN ranks last; rows with a NaN are the caller's business.
template <class T, class Integer>
void launch_centred_ranks(device_matrix_view<const T> data, device_matrix_view<Integer> ranks,
                          std::int64_t* square_sums, cudaStream_t stream);

/// How launch_ranks ranks.
struct rank_request {
  tie_method ties = tie_method::average;
  rank_order order = rank_order::ascending;
  rank_variant variant = rank_variant::automatic;  ///< Resolved: not automatic, and not sort.
  std::size_t workspace_bytes = 0;  ///< Limit of the segmented sort; 0: the policy's.
  /// Device memory of rank_workspace_bytes(), 256-byte aligned; null: from the stream's pool.
  void* workspace = nullptr;
};

/// Scratch memory that launch_ranks takes for rows of type T: of the segmented sort alone. Asks the
/// current device. Throws gpu::out_of_memory as launch_ranks.
template <class T>
std::size_t rank_workspace_bytes(index_t rows, index_t cols, const rank_request& request);

/// Ranks of each row, 1-based; a row with a NaN gets NaN ranks.
/// Throws gpu::out_of_memory where request.workspace_bytes does not hold one row of the segmented
/// sort.
template <class T>
void launch_ranks(device_matrix_view<const T> data, device_matrix_view<double> ranks,
                  const rank_request& request, cudaStream_t stream);

}  // namespace gpu::kernels
