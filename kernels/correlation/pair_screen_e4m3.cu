// The pair screen on ranks rounded to e4m3.
#include "correlation/pair_screen_launch.cuh"
#include "correlation/pair_screen_variants.cuh"

namespace gpu::kernels {

void launch_pair_screen_e4m3(const screen_arguments& args, int multiprocessors,
                             cudaStream_t stream) {
  launch_pair_screen<screen_operand::e4m3, 32>(args, multiprocessors, stream);
}

}  // namespace gpu::kernels
