// What a row with missing values adds to its pairs with the rows of a class: once for each row and
// class, from packed rows.

#include <math_constants.h>

#include "kernels/common/launch.cuh"
#include "kernels/common/warp.cuh"
#include "kernels/pairs/frame/kernel.cuh"
#include "kernels/pairs/pairwise/kernels.hpp"
#include "kernels/pairs/pairwise/rank_row.cuh"
#include "stats/shared_columns.hpp"

namespace gpu::kernels {
namespace {

constexpr int warps = 8;

struct table_arguments {
  pair_operand rows;
  const std::uint32_t* representatives;
  mask_classes out;
};

// The tables are const to all kernels but these.
template <class T>
__device__ T* fill(const T* table) {
  return const_cast<T*>(table);
}

// Columns that two classes share. `words` of a packed row begin `offset` pieces of 8 bytes in it.
__global__ void count_shared(const __grid_constant__ table_arguments args, index_t offset,
                             index_t words) {
  const int pair = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int count = args.out.count;
  if (pair >= count * count) return;
  const auto bits = [&](int of) {
    return static_cast<const std::uint64_t*>(args.rows.values) +
           index_t{args.representatives[of]} * args.rows.pitch + offset;
  };
  const std::uint64_t* const x = bits(pair / count);
  const std::uint64_t* const y = bits(pair % count);
  int shared = 0;
  for (index_t w = 0; w < words; ++w) shared += __popcll(x[w] & y[w]);
  fill(args.out.shared)[pair] = static_cast<std::uint32_t>(shared);
}

// A warp a row, a lane a class: the sums that pairwise_values would make, in its order, and what it
// would make of them.
__global__ void add_class_sums(const __grid_constant__ table_arguments args) {
  const index_t row = index_t{blockIdx.x} * warps + threadIdx.x / 32;
  if (row >= args.rows.count) return;
  const index_t cols = args.rows.columns;
  const auto* const values = static_cast<const double*>(args.rows.values);
  const double* const own = values + row * args.rows.pitch;
  for (int of = static_cast<int>(threadIdx.x % 32); of < args.out.count; of += 32) {
    const auto* const bits = reinterpret_cast<const std::uint64_t*>(
        values + index_t{args.representatives[of]} * args.rows.pitch +
        pairwise_value_layout{cols}.mask());
    double sum = 0;
    double squares = 0;
    for (index_t k = 0; k < cols; ++k) {
      const double x = own[k];
      const double has = (bits[k / 64] >> (k % 64) & 1) != 0 ? 1.0 : 0.0;
      const double square = x * x;
      sum = fma(x, has, sum);
      squares = fma(square, has, squares);
    }
    const double count = args.out.shared[args.out.of_row[row] * args.out.count + of];
    const double own_variance = detail::shared_variance(sum, squares, count, args.rows.centre);
    const bool tells = detail::variance_tells(own_variance, squares, count);
    const double variance = tells ? own_variance : detail::no_statistic;
    fill(args.out.sums)[row * args.out.count + of] = make_double2(sum, 1 / sqrt(variance));
    fill(args.out.variances)[row * args.out.count + of] = variance;
  }
}

__global__ void order_values(const __grid_constant__ table_arguments args) {
  const index_t pitch = args.out.value_pitch;
  const index_t step = index_t{gridDim.x} * blockDim.x;
  for (index_t at = index_t{blockIdx.x} * blockDim.x + threadIdx.x; at < args.rows.count * pitch;
       at += step) {
    const index_t row = args.out.order[at / pitch];
    const index_t col = at % pitch;
    const auto* const values = static_cast<const double*>(args.rows.values);
    fill(args.out.values)[at] = col < args.rows.columns ? values[row * args.rows.pitch + col] : 0.0;
  }
}

// A warp a row and class.
__global__ void rank_for_class(const __grid_constant__ table_arguments args, int words) {
  extern __shared__ std::uint32_t memory[];
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int count = args.out.count;
  const index_t at = index_t{blockIdx.x} * (blockDim.x / 32) + warp;
  if (at >= args.rows.count * count) return;
  const int cols = static_cast<int>(args.rows.columns);
  const rank_row x(args.rows, at / count);
  const rank_row y(args.rows, args.representatives[at % count]);
  std::uint32_t* const own = memory + warp * 2 * (words + 1);
  const shared_places places{own, own + (words + 1)};
  const int total = places.mark(x, y, cols, words);
  __syncwarp();
  std::int64_t squares = 0;
  std::int8_t* const out = fill(args.out.ranks) + at * args.out.limbs * args.out.pitch;
  for (int col = lane; col < static_cast<int>(args.out.pitch); col += 32) {
    int rank = 0;
    if (col < cols && x.has(static_cast<unsigned>(col)) && y.has(static_cast<unsigned>(col))) {
      rank = places.rank(x.below[col], x.up_to[col], total);
    }
    squares += std::int64_t{rank} * rank;
    if (args.out.limbs == 1) {
      out[col] = static_cast<std::int8_t>(rank);
    } else {
      const int high = (rank + 64) >> 7;
      out[col] = static_cast<std::int8_t>(high);
      out[args.out.pitch + col] = static_cast<std::int8_t>(rank - 128 * high);
    }
  }
  squares = warp_sum(squares);
  if (lane == 0) {
    fill(args.out.squares)[at] = squares;
    fill(args.out.roots)[at] = squares > 0 ? rsqrtf(static_cast<float>(squares)) : CUDART_NAN_F;
  }
}

void launch_count_shared(const table_arguments& args, index_t offset, cudaStream_t stream) {
  const auto pairs = index_t{args.out.count} * args.out.count;
  count_shared<<<grid_blocks(pairs, 128), 128, 0, stream>>>(args, offset,
                                                            (args.rows.columns + 63) / 64);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace

void launch_class_sums(const pair_operand& rows, const std::uint32_t* representatives,
                       const mask_classes& out, cudaStream_t stream) {
  const table_arguments args{rows, representatives, out};
  launch_count_shared(args, pairwise_value_layout{rows.columns}.mask(), stream);
  add_class_sums<<<grid_blocks(rows.count, warps), 32 * warps, 0, stream>>>(args);
  constexpr int threads = 256;
  order_values<<<grid_blocks(rows.count * out.value_pitch, threads, 1 << 20), threads, 0, stream>>>(
      args);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

void launch_class_rank_rows(const pair_operand& rows, const std::uint32_t* representatives,
                            const mask_classes& out, cudaStream_t stream) {
  const table_arguments args{rows, representatives, out};
  launch_count_shared(args, 0, stream);
  const auto words = static_cast<int>(ceil_div(rows.columns, index_t{32}));
  const std::size_t of_warp = 2 * static_cast<std::size_t>(words + 1) * sizeof(std::uint32_t);
  constexpr std::size_t most_shared = std::size_t{40} << 10;
  int of_block = warps;
  while (of_block > 1 && static_cast<std::size_t>(of_block) * of_warp > most_shared) of_block /= 2;
  rank_for_class<<<grid_blocks(rows.count * out.count, of_block),
                   static_cast<unsigned>(32 * of_block),
                   static_cast<std::size_t>(of_block) * of_warp, stream>>>(args, words);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
