#pragma once
// Far windows: windows that reach far beyond their row. What all windows of a row have in common,
// whole periods of the extended row or copies of its ends, is cut off in
// plan/mean_filter_variants.hpp and summed here, one block a row, in two doubles; the kernels of a
// far_sum add it to what their windows hold. Three variants have such kernels: direct, block_sums
// and multi_level. Cost: one more read of the row, or of the elements of a period,
// whatever the window.

#include <cstddef>

#include "kernels/mean_filter/ladder.cuh"
#include "kernels/mean_filter/multi_level.cuh"

namespace gpu::kernels {

/// `count` times `sum`; 0 where `count` is 0, even of an Inf.
template <class Sum>
__device__ row_common times(index_t count, const Sum& sum) {
  if (count == 0) return {0, 0, 0};
  const auto factor = static_cast<double>(count);
  const double high = sum.high;
  const double product = __dmul_rn(factor, high);
  const double missing = factor * static_cast<double>(sum.missing());
  if (!isfinite(product)) return {product, 0, missing};
  const double low = __fma_rn(factor, high, -product) + factor * sum.low;
  return {product, low, missing};
}

/// What the copies of the first and last element of a row sum to.
template <class Sum, class In, class Out>
__device__ row_common sum_copies(const filter_args<In, Out>& args, const In* row) {
  Sum first;
  Sum last;
  first.add(static_cast<double>(row[0]));
  last.add(static_cast<double>(row[args.shape.cols - 1]));
  const row_common before = times(args.shape.first_copies, first);
  const row_common behind = times(args.shape.last_copies, last);
  exact_sum both{before.high};
  both.add(behind.high);
  const double missing = before.missing + behind.missing;
  if (!isfinite(both.high)) return {both.high, 0, missing};
  return {both.high, before.low + behind.low + both.low, missing};
}

template <class Sum, class In, class Out>
__global__ void __launch_bounds__(chunk_threads)
    row_common_kernel(const __grid_constant__ filter_args<In, Out> args, row_common* to) {
  __shared__ Sum room[chunk_threads / 32];
  for (index_t row = blockIdx.x; row < args.shape.rows; row += gridDim.x) {
    const In* in = args.in_row(row);
    if (args.shape.periods == 0) {
      if (threadIdx.x == 0) to[row] = sum_copies<Sum>(args, in);
      continue;
    }
    Sum sum;
#pragma unroll 4
    for (index_t e = threadIdx.x; e < args.shape.period; e += chunk_threads) {
      sum.add(static_cast<double>(args.extended(in, e)));
    }
    sum = block_total(sum, room);
    if (threadIdx.x == 0) to[row] = times(args.shape.periods, sum);
  }
}

/// Room for the sums of all rows, in front of what the variant takes.
inline std::size_t row_common_bytes(const detail::filter_shape& shape) {
  if (!shape.folds()) return 0;
  constexpr std::size_t alignment = 256;
  const auto bytes = static_cast<std::size_t>(shape.rows) * sizeof(row_common);
  return (bytes + alignment - 1) / alignment * alignment;
}

/// Sums what the windows of each row have in common to `workspace`, and lets `args` point there.
template <class Sum, class In, class Out>
void launch_row_common(filter_args<In, Out>& args, void* workspace, cudaStream_t stream) {
  auto* const to = static_cast<row_common*>(workspace);
  row_common_kernel<Sum><<<grid_blocks(args.shape.rows, 1), chunk_threads, 0, stream>>>(args, to);
  GPU_SIMILARITY_CHECK_LAUNCH();
  args.common = to;
}

/// Far windows by `variant`: direct, block_sums or multi_level. `workspace` holds the sums of the
/// rows, and behind them what the variant takes.
template <class Exact, class In, class Out>
void launch_far_window(filter_args<In, Out> args, mean_filter_variant variant, void* workspace,
                       cudaStream_t stream) {
  using sum = far_sum<Exact>;
  constexpr int outputs = chunk_outputs<sizeof(In)>;
  launch_row_common<Exact>(args, workspace, stream);
  if (variant == mean_filter_variant::multi_level) {
    return launch_multi_level<sum>(
        args, static_cast<std::byte*>(workspace) + row_common_bytes(args.shape), stream);
  }
  if (variant == mean_filter_variant::block_sums && args.shape.window >= outputs) {
    return launch_block_sums_of<sum, outputs, 0>(args, no_weights{}, stream);
  }
  launch_direct<sum>(args, no_weights{}, stream);
}

}  // namespace gpu::kernels
