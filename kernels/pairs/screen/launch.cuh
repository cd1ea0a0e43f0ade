#pragma once
// Launches the pair screen for one operand type and depth.

#include "kernels/common/launch.cuh"
#include "kernels/pairs/screen/screen_tiles.cuh"

namespace gpu::kernels {

template <screen_operand operand, int depth>
void launch_pair_screen(const screen_arguments& args, int multiprocessors, cudaStream_t stream) {
  constexpr std::size_t bytes = screen_shared_bytes<operand, depth>();
  static_assert(bytes <= 227 * 1024 - 1024);
  auto* kernel = pair_screen_kernel<operand, depth>;
  allow_shared_memory(kernel, bytes);
  kernel<<<static_cast<unsigned>(multiprocessors), select_screen_policy(depth).warpgroups * 128,
           bytes, stream>>>(args);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
