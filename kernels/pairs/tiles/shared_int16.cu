// Spearman for cols <= 32,768 on shared tiles, with every sink.

#include "kernels/pairs/sinks/launch.cuh"
#include "kernels/pairs/tiles/launches.hpp"
#include "kernels/pairs/tiles/shared.cuh"

namespace gpu::kernels {

GPU_SIMILARITY_DEFINE_TILE(pair_tile_kind::shared_int16,
                           shared_tile<wide_arithmetic<std::int16_t>>);

}  // namespace gpu::kernels
