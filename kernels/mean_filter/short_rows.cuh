#pragma once
// Short rows, by the variant `block_sums`: a block takes several whole rows, by one bulk copy where
// they follow each other in memory. A thread sums K neighbouring outputs of a row at a time, as
// block_sums does, with the base from single elements: (window + 2 K) / K additions an output.
// Elements beyond the ends of a row are looked up.

#include "kernels/mean_filter/block_sums.cuh"

namespace gpu::kernels {

/// Outputs of a thread, and elements of a block at most.
inline constexpr int short_row_outputs = 9;
inline constexpr index_t most_short_elements = 3072;

/// Whether rows are short enough for a block to take several.
inline bool are_short_rows(const detail::filter_shape& shape) {
  return shape.cols <= detail::longest_short_row && shape.window <= 2 * detail::longest_short_row;
}

/// Means of K outputs from output `first` of a row on; `row` are its elements in shared memory.
template <class Sum, int K, class In, class Out, class Mean>
__device__ void short_row_windows(const filter_args<In, Out>& args, const In* row, int first,
                                  const Mean& mean) {
  const int window = static_cast<int>(args.shape.window);
  const int begin = first - static_cast<int>(args.shape.left);
  const bool inside = args.inside(begin, begin + window + K - 1);
  const auto at = [&](int e) {
    return static_cast<double>(inside ? row[begin + e] : args.extended(row, begin + e));
  };
  if (window < K) {
#pragma unroll
    for (int j = 0; j < K; ++j) {
      Sum sum;
      for (int e = j; e < j + window; ++e) sum.add(at(e));
      mean(j, sum);
    }
    return;
  }
  Sum suffix[K];
  Sum running;
#pragma unroll
  for (int j = K - 1; j >= 0; --j) {
    running.add(at(j));
    suffix[j] = running;
  }
  Sum prefix;
  for (int e = K; e < window; ++e) prefix.add(at(e));
#pragma unroll
  for (int j = 0; j < K; ++j) {
    if (j > 0) prefix.add(at(window + j - 1));
    suffix[j].add(prefix);
    mean(j, suffix[j]);
  }
}

/// Dynamic shared memory: the elements of `together` rows and stage_slack, and their results.
template <class Sum, class In, class Out>
__global__ void __launch_bounds__(chunk_threads)
    short_rows_kernel(const __grid_constant__ filter_args<In, Out> args, index_t together,
                      unsigned results_at) {
  constexpr int K = short_row_outputs;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ copy_barrier barrier;
  init_barriers(&barrier, 1);
  unsigned phase = 0;
  Out* const results = reinterpret_cast<Out*>(shared_bytes + results_at);
  const int cols = static_cast<int>(args.shape.cols);
  const int outputs = static_cast<int>(args.shape.output_cols);
  const int chunks = (outputs + K - 1) / K;
  // The rows as one, for the copy of several.
  filter_args<In, Out> flat = args;
  flat.shape.cols = args.shape.rows * args.shape.cols;
  for (index_t row = blockIdx.x * together; row < args.shape.rows; row += gridDim.x * together) {
    const int rows = static_cast<int>(min(together, args.shape.rows - row));
    const In* elements = reinterpret_cast<const In*>(shared_bytes);
    bool bulk = false;
    if (args.in_stride == args.shape.cols) {
      elements = begin_tile(flat, args.in, row * cols, rows * cols, shared_bytes, barrier, bulk);
    } else {
      In* const to = reinterpret_cast<In*>(shared_bytes);
      for (int i = threadIdx.x; i < rows * cols; i += chunk_threads) {
        to[i] = args.in_row(row + i / cols)[i % cols];
      }
    }
    await_tile(barrier, bulk, phase);
    for (int c = threadIdx.x; c < rows * chunks; c += chunk_threads) {
      const int own = c / chunks;
      const int first = c % chunks * K;
      short_row_windows<Sum, K>(args, elements + own * cols, first, [&](int j, const Sum& sum) {
        if (first + j < outputs) {
          results[own * outputs + first + j] = args.mean(sum, row + own, first + j);
        }
      });
    }
    __syncthreads();
    for (int i = threadIdx.x; i < rows * outputs; i += chunk_threads) {
      args.out_row(row + i / outputs)[i % outputs] = results[i];
    }
#if __CUDA_ARCH__ >= 900
    async_proxy_fence();
#endif
    __syncthreads();
  }
}

/// Rows for which are_short_rows() holds.
template <class Sum, class In, class Out>
void launch_short_rows(const filter_args<In, Out>& args, cudaStream_t stream) {
  const index_t chunks = ceil_div(args.shape.output_cols, short_row_outputs);
  const index_t together = std::max<index_t>(
      1, std::min(2 * chunk_threads / chunks, most_short_elements / args.shape.cols));
  const auto bytes = static_cast<std::size_t>(together * args.shape.cols) * sizeof(In);
  const std::size_t results_at = (bytes + stage_slack + 127) / 128 * 128;
  const std::size_t shared =
      results_at + static_cast<std::size_t>(together * args.shape.output_cols) * sizeof(Out);
  const auto kernel = short_rows_kernel<Sum, In, Out>;
  allow_shared_memory(kernel, shared);
  kernel<<<grid_blocks(args.shape.rows, together), chunk_threads, shared, stream>>>(
      args, together, static_cast<unsigned>(results_at));
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
