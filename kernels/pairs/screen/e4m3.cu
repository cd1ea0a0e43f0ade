// The pair screen on ranks rounded to e4m3, one instance per depth.
#include "kernels/pairs/screen/launch.cuh"
#include "kernels/pairs/screen/variants.cuh"

namespace gpu::kernels {

void launch_pair_screen_e4m3(int depth, const screen_arguments& args, int multiprocessors,
                             cudaStream_t stream) {
  switch (depth) {
    case 32:
      return launch_pair_screen<screen_operand::e4m3, 32>(args, multiprocessors, stream);
    case 64:
      return launch_pair_screen<screen_operand::e4m3, 64>(args, multiprocessors, stream);
    case 96:
      return launch_pair_screen<screen_operand::e4m3, 96>(args, multiprocessors, stream);
    default:
      return launch_pair_screen<screen_operand::e4m3, 128>(args, multiprocessors, stream);
  }
}

}  // namespace gpu::kernels
