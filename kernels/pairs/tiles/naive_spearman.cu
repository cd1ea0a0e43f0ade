// Spearman, ranks recomputed per pair, with every sink.

#include "kernels/pairs/sinks/launch.cuh"
#include "kernels/pairs/tiles/launches.hpp"
#include "kernels/pairs/tiles/naive.cuh"

namespace gpu::kernels {

template <pair_tile_kind Kind, class Sink>
void launch_tile(const pair_panel& panel, const Sink& sink, cudaStream_t stream) {
  run_tile<naive_spearman_tile>(panel, sink, stream);
}
GPU_SIMILARITY_INSTANTIATE_TILE(pair_tile_kind::naive_spearman);

}  // namespace gpu::kernels
