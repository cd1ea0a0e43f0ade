#include "kernels/pairs/tiles/ready.hpp"

#include "kernels/pairs/products/tile.cuh"
#include "kernels/pairs/sinks/launch.cuh"

namespace gpu::kernels {

template <class Sink>
void launch_ready(const pair_panel& panel, const Sink& sink, cudaStream_t stream) {
  run_tile<product_tile<ready_statistics>>(panel, sink, stream);
}

template void launch_ready(const pair_panel&, const candidate_sink_args&, cudaStream_t);
template void launch_ready(const pair_panel&, const count_sink_args&, cudaStream_t);
template void launch_ready(const pair_panel&, const bin_sink_args&, cudaStream_t);
template void launch_ready(const pair_panel&, const dense_sink_args&, cudaStream_t);

}  // namespace gpu::kernels
