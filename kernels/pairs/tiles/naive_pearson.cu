// Pearson, rows centred and scaled per pair, with every sink.

#include "kernels/pairs/sinks/launch.cuh"
#include "kernels/pairs/tiles/launches.hpp"
#include "kernels/pairs/tiles/naive.cuh"

namespace gpu::kernels {

GPU_SIMILARITY_DEFINE_TILE(pair_tile_kind::naive_pearson, naive_pearson_tile);

}  // namespace gpu::kernels
