// Spearman for cols > 128, int8 limbs on tensor cores, with every sink.

#include "kernels/pairs/sinks/launch.cuh"
#include "kernels/pairs/tiles/launches.hpp"
#include "kernels/pairs/tiles/limbs.cuh"

namespace gpu::kernels {

GPU_SIMILARITY_DEFINE_TILE(pair_tile_kind::tensor_limbs, tensor_limbs_tile);

}  // namespace gpu::kernels
