#pragma once
// Variants `direct` and `constant_memory`: one output per thread, its window read from global
// memory. Neighbouring threads read neighbouring windows, so the first-level cache serves all but
// one of the `window` reads per output; bound by its bandwidth from windows of about 10 on. Also
// the kernel for short rows: outputs of all rows are numbered through.

#include "kernels/mean_filter/filter_args.cuh"
#include "kernels/mean_filter/policy.hpp"

namespace gpu::kernels {

template <class Sum, class In, class Out, class Weights>
__global__ void __launch_bounds__(window_threads)
    direct_kernel(const __grid_constant__ filter_args<In, Out> args,
                  const __grid_constant__ Weights weights) {
  const index_t outputs = args.shape.rows * args.shape.output_cols;
  const index_t step = static_cast<index_t>(gridDim.x) * window_threads;
  for (index_t i = static_cast<index_t>(blockIdx.x) * window_threads + threadIdx.x; i < outputs;
       i += step) {
    const auto [row, j] = split_index(i, args.shape.output_cols);
    const In* in = args.in_row(row);
    const index_t first = j - args.shape.left;
    const index_t window = args.shape.window;
    Sum sum;
    if (args.inside(first, first + window)) {
#pragma unroll 4
      for (index_t k = 0; k < window; ++k) {
        add_weighted(sum, weights, k, static_cast<double>(in[first + k]));
      }
    } else {
      for (index_t k = 0; k < window; ++k) {
        add_weighted(sum, weights, k, static_cast<double>(args.extended(in, first + k)));
      }
    }
    args.out_row(row)[j] = args.mean(sum, row, j);
  }
}

template <class Sum, class In, class Out, class Weights>
void launch_direct(const filter_args<In, Out>& args, const Weights& weights, cudaStream_t stream) {
  const index_t outputs = args.shape.rows * args.shape.output_cols;
  direct_kernel<Sum>
      <<<grid_blocks(outputs, window_threads), window_threads, 0, stream>>>(args, weights);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
