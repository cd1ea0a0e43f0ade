// The pair screen on exact 8-bit ranks, and on rows rounded to 8 bits.
#include "kernels/pairs/screen/launch.cuh"

namespace gpu::kernels {

template void launch_pair_screen<screen_operand::int8>(int, const screen_arguments&, int,
                                                       cudaStream_t);

}  // namespace gpu::kernels
