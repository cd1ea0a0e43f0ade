// Statistics that a kernel has finished, of rows with missing values and of signs, with every sink.

#include "kernels/pairs/products/launch.cuh"
#include "kernels/pairs/tiles/launches.hpp"

namespace gpu::kernels {

template <pair_tile_kind Kind, class Sink>
void launch_tile(const pair_panel& panel, const Sink& sink, cudaStream_t stream) {
  if (panel.rows.count == 0 || panel.cols.count == 0) return;
  product_run<product_tile<ready_statistics>, Sink>(Kind, panel, sink, stream).run();
}
GPU_SIMILARITY_INSTANTIATE_TILE(pair_tile_kind::pairwise_ranks);
GPU_SIMILARITY_INSTANTIATE_TILE(pair_tile_kind::pairwise_values);
GPU_SIMILARITY_INSTANTIATE_TILE(pair_tile_kind::signs);

}  // namespace gpu::kernels
