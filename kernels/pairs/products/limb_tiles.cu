// Products of limbs of centred ranks, with every sink.

#include "kernels/pairs/products/launch.cuh"
#include "kernels/pairs/tiles/launches.hpp"

namespace gpu::kernels {

template <pair_tile_kind Kind, class Sink>
void launch_tile(const pair_panel& panel, const Sink& sink, cudaStream_t stream) {
  if (panel.rows.count == 0 || panel.cols.count == 0) return;
  if (panel.rows.limbs == 2) {
    product_run<product_tile<limb_products<2>>, Sink>(Kind, panel, sink, stream).run();
  } else {
    product_run<product_tile<limb_products<3>>, Sink>(Kind, panel, sink, stream).run();
  }
}
GPU_SIMILARITY_INSTANTIATE_TILE(pair_tile_kind::products_limbs);

}  // namespace gpu::kernels
