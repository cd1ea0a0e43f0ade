#pragma once
// One launch per operand type, each compiled in a file of its own.

#include <cuda_runtime_api.h>

#include <gpu/index.hpp>

namespace gpu::kernels {

struct screen_arguments;
struct screen_rows;

void launch_pair_screen_e4m3(int depth, const screen_arguments& args, int multiprocessors,
                             cudaStream_t stream);
void launch_pair_screen_s8(int depth, const screen_arguments& args, int multiprocessors,
                           cudaStream_t stream);
void launch_pair_screen_wide(const screen_rows& packed, const screen_arguments& common,
                             int multiprocessors, cudaStream_t stream);
index_t wide_screen_items(const screen_rows& packed);

}  // namespace gpu::kernels
