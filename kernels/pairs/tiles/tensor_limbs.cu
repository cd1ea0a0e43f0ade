// Spearman for cols > 128, int8 limbs on tensor cores, with every sink.

#include "kernels/pairs/sinks/launch.cuh"
#include "kernels/pairs/tiles/launches.hpp"
#include "kernels/pairs/tiles/limbs.cuh"

namespace gpu::kernels {

template <pair_tile_kind Kind, class Sink>
void launch_tile(const pair_panel& panel, const Sink& sink, cudaStream_t stream) {
  run_tile<tensor_limbs_tile>(panel, sink, stream);
}
GPU_SIMILARITY_INSTANTIATE_TILE(pair_tile_kind::tensor_limbs);

}  // namespace gpu::kernels
