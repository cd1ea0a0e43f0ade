// The pair screen on ranks rounded to e4m3.
#include "kernels/pairs/screen/launch.cuh"

namespace gpu::kernels {

template void launch_pair_screen<screen_operand::e4m3>(int, const screen_arguments&, int,
                                                       cudaStream_t);

}  // namespace gpu::kernels
