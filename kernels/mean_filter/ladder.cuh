#pragma once
// The ladder up to block_sums. Weights are none, in constant or in global memory.
//
// `direct` and `constant_memory`: one output per thread, its window read from global memory.
// Neighbouring threads read neighbouring windows, so the first-level cache serves all but one of
// the `window` reads per output; bound by its bandwidth from windows of about 10 on. Also the
// kernel for short rows: outputs of all rows are numbered through.
//
// `shared_memory`: a block stages a tile of 1024 outputs' elements with its halo in shared memory,
// then each thread reads 4 windows from there, 256 outputs apart (no bank conflicts). Global memory
// is read (1 + (window - 1) / 1024) times; shared memory `window` times per output.

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

/// Stages `count` places of the extended row from place `first` on.
template <class In, class Out>
__device__ void stage_plainly(const filter_args<In, Out>& args, const In* row, index_t first,
                              int count, In* tile) {
  if (args.inside(first, first + count)) {
    for (int i = threadIdx.x; i < count; i += blockDim.x) tile[i] = row[first + i];
  } else {
    for (int i = threadIdx.x; i < count; i += blockDim.x) tile[i] = args.extended(row, first + i);
  }
}

template <class Sum, class In, class Out, class Weights>
__global__ void __launch_bounds__(window_threads)
    shared_tile_kernel(const __grid_constant__ filter_args<In, Out> args,
                       const __grid_constant__ Weights weights, index_t tiles_per_row) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  In* tile = reinterpret_cast<In*>(shared_bytes);
  constexpr int tile_outputs = window_threads * shared_outputs;
  const int window = static_cast<int>(args.shape.window);
  for (index_t t = blockIdx.x; t < args.shape.rows * tiles_per_row; t += gridDim.x) {
    const auto [row, tile_index] = split_index(t, tiles_per_row);
    const index_t first = tile_index * tile_outputs;
    stage_plainly(args, args.in_row(row), first - args.shape.left, tile_outputs + window - 1, tile);
    __syncthreads();
    Sum sums[shared_outputs];
#pragma unroll 2
    for (int k = 0; k < window; ++k) {
#pragma unroll
      for (int u = 0; u < shared_outputs; ++u) {
        const int at = static_cast<int>(threadIdx.x) + u * window_threads + k;
        add_weighted(sums[u], weights, k, static_cast<double>(tile[at]));
      }
    }
#pragma unroll
    for (int u = 0; u < shared_outputs; ++u) {
      const index_t j = first + threadIdx.x + u * window_threads;
      if (j < args.shape.output_cols) args.out_row(row)[j] = args.mean(sums[u], row, j);
    }
    __syncthreads();
  }
}

template <class Sum, class In, class Out, class Weights>
void launch_shared_tile(const filter_args<In, Out>& args, const Weights& weights,
                        cudaStream_t stream) {
  constexpr int tile_outputs = window_threads * shared_outputs;
  const index_t tiles_per_row = ceil_div(args.shape.output_cols, tile_outputs);
  const std::size_t bytes =
      static_cast<std::size_t>(tile_outputs + args.shape.window - 1) * sizeof(In);
  shared_tile_kernel<Sum>
      <<<grid_blocks(args.shape.rows * tiles_per_row, 1), window_threads, bytes, stream>>>(
          args, weights, tiles_per_row);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
