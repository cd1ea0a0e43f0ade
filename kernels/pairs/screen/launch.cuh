#pragma once
// Launches the pair screen for one operand type.

#include "kernels/pairs/screen/screen_tiles.cuh"

namespace gpu::kernels {

template <screen_operand operand>
void launch_pair_screen(int depth, const screen_arguments& args, int multiprocessors,
                        cudaStream_t stream) {
  const auto launch = [&]<int bytes>() {
    using shape = screen_shape<bytes>;
    static_assert(shape::shared_bytes <= 227 * 1024 - 1024);
    launch_persistent(args.candidates.stops ? pair_screen_kernel<operand, bytes, true>
                                            : pair_screen_kernel<operand, bytes, false>,
                      args, shape::threads, shape::shared_bytes, multiprocessors, stream);
  };
  switch (depth) {
    case 32:
      return launch.template operator()<32>();
    case 64:
      return launch.template operator()<64>();
    case 96:
      return launch.template operator()<96>();
    default:
      return launch.template operator()<128>();
  }
}

}  // namespace gpu::kernels
