#pragma once
// Launches the pair screen for one operand type and depth.

#include "kernels/common/launch.cuh"
#include "kernels/pairs/screen/screen_tiles.cuh"

namespace gpu::kernels {

template <screen_operand operand, int depth>
void launch_pair_screen(const screen_arguments& args, int multiprocessors, cudaStream_t stream) {
  using shape = screen_shape<depth>;
  static_assert(shape::shared_bytes <= 227 * 1024 - 1024);
  auto* const kernel = args.candidates.stops ? pair_screen_kernel<operand, depth, true>
                                             : pair_screen_kernel<operand, depth, false>;
  allow_shared_memory(kernel, shape::shared_bytes);
  kernel<<<static_cast<unsigned>(multiprocessors), shape::threads, shape::shared_bytes, stream>>>(
      args);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
