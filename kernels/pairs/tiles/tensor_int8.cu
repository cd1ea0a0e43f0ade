// Spearman for cols <= 128, int8 tensor cores, with every sink.

#include "kernels/pairs/sinks/launch.cuh"
#include "kernels/pairs/tiles/launches.hpp"
#include "kernels/pairs/tiles/mma.cuh"

namespace gpu::kernels {

template <pair_tile_kind Kind, class Sink>
void launch_tile(const pair_panel& panel, const Sink& sink, cudaStream_t stream) {
  switch (panel.rows.pitch) {
    case 32:
      return run_tile<short_row_tile<int8_products, 1>>(panel, sink, stream);
    case 64:
      return run_tile<short_row_tile<int8_products, 2>>(panel, sink, stream);
    default:
      return run_tile<short_row_tile<int8_products, 4>>(panel, sink, stream);
  }
}
GPU_SIMILARITY_INSTANTIATE_TILE(pair_tile_kind::tensor_int8);

}  // namespace gpu::kernels
