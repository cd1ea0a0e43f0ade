// The pair screen on exact 8-bit ranks, one instance per depth.
#include "kernels/pairs/screen/launch.cuh"
#include "kernels/pairs/screen/variants.cuh"

namespace gpu::kernels {

void launch_pair_screen_s8(int depth, const screen_arguments& args, int multiprocessors,
                           cudaStream_t stream) {
  switch (depth) {
    case 32:
      return launch_pair_screen<screen_operand::int8, 32>(args, multiprocessors, stream);
    case 64:
      return launch_pair_screen<screen_operand::int8, 64>(args, multiprocessors, stream);
    case 96:
      return launch_pair_screen<screen_operand::int8, 96>(args, multiprocessors, stream);
    default:
      return launch_pair_screen<screen_operand::int8, 128>(args, multiprocessors, stream);
  }
}

}  // namespace gpu::kernels
