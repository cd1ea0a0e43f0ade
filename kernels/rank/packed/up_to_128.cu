#include "kernels/rank/packed/launch.cuh"

namespace gpu::kernels {

template void launch_count_packed_of<128>(const rank_source&, const rank_target&, cudaStream_t);

}  // namespace gpu::kernels
