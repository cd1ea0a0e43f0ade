// Products of unit rows in single precision: they are dense results, and estimates for other sinks.

#include <type_traits>

#include "kernels/pairs/products/launch.cuh"
#include "kernels/pairs/tiles/launches.hpp"

namespace gpu::kernels {

template <pair_tile_kind Kind, class Sink>
void launch_tile(const pair_panel& panel, const Sink& sink, cudaStream_t stream) {
  if (panel.rows.count == 0 || panel.cols.count == 0) return;
  using products =
      std::conditional_t<std::is_same_v<Sink, dense_sink_args>, half_products, half_estimates>;
  product_run<product_tile<products>, Sink>(Kind, panel, sink, stream).run();
}
GPU_SIMILARITY_INSTANTIATE_TILE(pair_tile_kind::products_half);

}  // namespace gpu::kernels
