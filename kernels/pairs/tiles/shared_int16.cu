// Spearman for cols <= 32,768 on shared tiles, with every sink.

#include "kernels/pairs/sinks/launch.cuh"
#include "kernels/pairs/tiles/launches.hpp"
#include "kernels/pairs/tiles/shared.cuh"

namespace gpu::kernels {

template <pair_tile_kind Kind, class Sink>
void launch_tile(const pair_panel& panel, const Sink& sink, cudaStream_t stream) {
  run_tile<shared_tile<wide_arithmetic<std::int16_t>>>(panel, sink, stream);
}
GPU_SIMILARITY_INSTANTIATE_TILE(pair_tile_kind::shared_int16);

}  // namespace gpu::kernels
