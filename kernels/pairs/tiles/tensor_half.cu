// Pearson for cols <= 64, half precision on tensor cores: the candidates of edges alone.

#include "kernels/pairs/sinks/launch.cuh"
#include "kernels/pairs/tiles/launches.hpp"
#include "kernels/pairs/tiles/mma.cuh"

namespace gpu::kernels {

template <>
void launch_tile<pair_tile_kind::tensor_half>(const pair_panel& panel,
                                              const candidate_sink_args& sink,
                                              cudaStream_t stream) {
  if (panel.rows.pitch == 32) {
    run_pair_kernel<short_row_tile<half_products, 2>,
                    tile_candidate_sink<short_row_tile<half_products, 2>>>(panel, sink, stream);
  } else {
    run_pair_kernel<short_row_tile<half_products, 4>,
                    tile_candidate_sink<short_row_tile<half_products, 4>>>(panel, sink, stream);
  }
}

}  // namespace gpu::kernels
