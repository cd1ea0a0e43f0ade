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

/// Defines launch_tile of `kind` by the type of one tile, for every sink; in files that include
/// kernels/pairs/sinks/launch.cuh.
#define GPU_SIMILARITY_DEFINE_TILE(kind, tile)                                       \
  template <pair_tile_kind Kind, class Sink>                                         \
  void launch_tile(const pair_panel& panel, const Sink& sink, cudaStream_t stream) { \
    run_tile<tile>(panel, sink, stream);                                             \
  }                                                                                  \
  GPU_SIMILARITY_INSTANTIATE_TILE(kind)

}  // namespace gpu::kernels
