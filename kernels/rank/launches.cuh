#pragma once
// What launch_ranks.cu calls; one .cu each, so that they compile side by side.

#include <cuda_runtime_api.h>

#include "kernels/rank/kernels.hpp"
#include "kernels/rank/row_access.cuh"

namespace gpu::kernels {

/// 1 <= cols <= rank_packed_cols.back(), average ties, ascending.
void launch_count_packed(const rank_source& source, const rank_target& target, cudaStream_t stream);
/// The same for rows of up to Cols columns, one of rank_packed_cols. Long kernels: the wide ones
/// have a file each, so that a driver that compiles code for its device compiles what a call uses.
template <int Cols>
void launch_count_packed_of(const rank_source& source, const rank_target& target,
                            cudaStream_t stream);
/// cols <= rank_counting_max_cols.
void launch_count_warp(const rank_source& source, const rank_target& target, tie_method ties,
                       cudaStream_t stream);
/// cols <= rank_block_sort_max_cols(key bytes).
void launch_block_sort_32(const rank_source& source, const rank_target& target, tie_method ties,
                          cudaStream_t stream);
void launch_block_sort_64(const rank_source& source, const rank_target& target, tie_method ties,
                          cudaStream_t stream);
/// Any number of columns, within request.workspace_bytes of scratch.
void launch_segmented_sort(const rank_source& source, const rank_target& target,
                           const rank_request& request, cudaStream_t stream);
/// The scratch that this takes; `source` needs no data.
std::size_t segmented_sort_bytes(const rank_source& source, const rank_request& request);

}  // namespace gpu::kernels
