#pragma once
// Variant `register_window`: each thread holds the windows of several outputs, a block's width
// apart, in registers. All loads of a thread are independent and issued before the first sum, so a
// warp keeps (window * outputs) * 32 elements in flight; the reads of overlapping windows hit the
// first-level cache. There is no shared memory and no synchronisation: for short windows the time
// is that of a copy.

#include "kernels/mean_filter/filter_args.cuh"
#include "kernels/mean_filter/policy.hpp"

namespace gpu::kernels {

// Most: the register window, at least args.shape.window elements.
template <class Sum, int Most, int Outputs, class In, class Out, class Weights>
__global__ void __launch_bounds__(window_threads)
    register_window_kernel(const __grid_constant__ filter_args<In, Out> args,
                           const __grid_constant__ Weights weights, index_t tiles_per_row) {
  constexpr int tile_outputs = window_threads * Outputs;
  const int window = static_cast<int>(args.shape.window);
  for (index_t t = blockIdx.x; t < args.shape.rows * tiles_per_row; t += gridDim.x) {
    const auto [row, tile_index] = split_index(t, tiles_per_row);
    const index_t tile_first = tile_index * tile_outputs;
    const index_t place = tile_first - args.shape.left;
    const In* in = args.in_row(row);
    In elements[Outputs][Most];
    if (args.inside(place, place + tile_outputs + Most - 1)) {
      const In* from = in + place + threadIdx.x;
#pragma unroll
      for (int u = 0; u < Outputs; ++u) {
#pragma unroll
        for (int k = 0; k < Most; ++k) elements[u][k] = __ldg(from + u * window_threads + k);
      }
    } else {
#pragma unroll
      for (int u = 0; u < Outputs; ++u) {
#pragma unroll
        for (int k = 0; k < Most; ++k) {
          elements[u][k] =
              k < window ? args.extended(in, place + threadIdx.x + u * window_threads + k) : In{};
        }
      }
    }
#pragma unroll
    for (int u = 0; u < Outputs; ++u) {
      Sum sum;
#pragma unroll
      for (int k = 0; k < Most; ++k) {
        if (k < window) add_weighted(sum, weights, k, static_cast<double>(elements[u][k]));
      }
      const index_t j = tile_first + threadIdx.x + u * window_threads;
      if (j < args.shape.output_cols) args.out_row(row)[j] = args.mean(sum, row, j);
    }
  }
}

template <class Sum, int Most, int Outputs, class In, class Out, class Weights>
void launch_register_window_of(const filter_args<In, Out>& args, const Weights& weights,
                               cudaStream_t stream) {
  constexpr int tile_outputs = window_threads * Outputs;
  const index_t tiles_per_row = ceil_div(args.shape.output_cols, tile_outputs);
  register_window_kernel<Sum, Most, Outputs>
      <<<grid_blocks(args.shape.rows * tiles_per_row, 1), window_threads, 0, stream>>>(
          args, weights, tiles_per_row);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

template <class Sum, class In, class Out, class Weights>
void launch_register_window(const filter_args<In, Out>& args, const Weights& weights,
                            cudaStream_t stream) {
  const index_t window = args.shape.window;
  if (window <= 3)
    return launch_register_window_of<Sum, 3, register_outputs(sizeof(In), 3)>(args, weights,
                                                                              stream);
  if (window <= 5)
    return launch_register_window_of<Sum, 5, register_outputs(sizeof(In), 5)>(args, weights,
                                                                              stream);
  if (window <= 9)
    return launch_register_window_of<Sum, 9, register_outputs(sizeof(In), 9)>(args, weights,
                                                                              stream);
  static_assert(detail::max_register_window == 16);
  launch_register_window_of<Sum, 16, register_outputs(sizeof(In), 16)>(args, weights, stream);
}

}  // namespace gpu::kernels
