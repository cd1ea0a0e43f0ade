// Spearman, ranks recomputed per pair, with every sink.

#include "kernels/pairs/sinks/launch.cuh"
#include "kernels/pairs/tiles/launches.hpp"
#include "kernels/pairs/tiles/naive.cuh"

namespace gpu::kernels {

GPU_SIMILARITY_DEFINE_TILE(pair_tile_kind::naive_spearman, naive_spearman_tile);

}  // namespace gpu::kernels
