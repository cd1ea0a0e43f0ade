#pragma once
// One launch per operand type, each compiled in a file of its own.

#include <cuda_runtime_api.h>

namespace gpu::kernels {

struct screen_arguments;

void launch_pair_screen_e4m3(const screen_arguments& args, int multiprocessors,
                             cudaStream_t stream);
void launch_pair_screen_s8(int depth, const screen_arguments& args, int multiprocessors,
                           cudaStream_t stream);

}  // namespace gpu::kernels
