// Spearman for cols <= 128, dp4a on shared tiles, with every sink.

#include "kernels/pairs/sinks/launch.cuh"
#include "kernels/pairs/tiles/launches.hpp"
#include "kernels/pairs/tiles/shared.cuh"

namespace gpu::kernels {

GPU_SIMILARITY_DEFINE_TILE(pair_tile_kind::shared_int8, shared_tile<int8_arithmetic>);

}  // namespace gpu::kernels
