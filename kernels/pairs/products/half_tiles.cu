// Products of unit rows in single precision, for dense results alone.

#include "kernels/pairs/products/launch.cuh"
#include "kernels/pairs/tiles/launches.hpp"

namespace gpu::kernels {

template <pair_tile_kind Kind, class Sink>
void launch_tile(const pair_panel& panel, const Sink& sink, cudaStream_t stream) {
  if (panel.rows.count == 0 || panel.cols.count == 0) return;
  product_run<product_tile<half_products>, Sink>(Kind, panel, sink, stream).run();
}
template void launch_tile<pair_tile_kind::products_half>(const pair_panel&, const dense_sink_args&,
                                                         cudaStream_t);

}  // namespace gpu::kernels
