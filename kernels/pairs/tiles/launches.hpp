#pragma once
// The launches of one tile kind with every sink: each kind is compiled in its own .cu file.

#include "kernels/pairs/kernels.hpp"

namespace gpu::kernels {

template <pair_tile_kind Kind, class Sink>
void launch_tile(const pair_panel& panel, const Sink& sink, cudaStream_t stream);

/// Instantiates launch_tile of `kind`, defined just before, for every sink.
#define GPU_SIMILARITY_INSTANTIATE_TILE(kind)                                                   \
  template void launch_tile<kind>(const pair_panel&, const candidate_sink_args&, cudaStream_t); \
  template void launch_tile<kind>(const pair_panel&, const count_sink_args&, cudaStream_t);     \
  template void launch_tile<kind>(const pair_panel&, const bin_sink_args&, cudaStream_t);       \
  template void launch_tile<kind>(const pair_panel&, const dense_sink_args&, cudaStream_t)

}  // namespace gpu::kernels
