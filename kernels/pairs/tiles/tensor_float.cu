// Pearson, 3 x tf32 on tensor cores, with every sink.

#include "kernels/pairs/sinks/launch.cuh"
#include "kernels/pairs/tiles/launches.hpp"
#include "kernels/pairs/tiles/tf32.cuh"

namespace gpu::kernels {

GPU_SIMILARITY_DEFINE_TILE(pair_tile_kind::tensor_float, tensor_float_tile);

}  // namespace gpu::kernels
