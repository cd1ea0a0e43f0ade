#include "kernels/rank/packed/launch.cuh"

namespace gpu::kernels {

template void launch_count_packed_of<8>(const rank_source&, const rank_target&, cudaStream_t);
template void launch_count_packed_of<16>(const rank_source&, const rank_target&, cudaStream_t);
template void launch_count_packed_of<24>(const rank_source&, const rank_target&, cudaStream_t);
template void launch_count_packed_of<32>(const rank_source&, const rank_target&, cudaStream_t);

}  // namespace gpu::kernels
