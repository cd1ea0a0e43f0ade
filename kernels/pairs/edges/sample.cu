// Statistics of pairs of rows drawn at random: eight lanes take a pair.

#include "base/random_draw.hpp"
#include "kernels/common/launch.cuh"
#include "kernels/common/warp.cuh"
#include "kernels/pairs/edges/kernels.hpp"
#include "kernels/pairs/frame/statistic.cuh"
#include "stats/statistic.hpp"

namespace gpu::kernels {
namespace {

constexpr int sample_threads = 256;
constexpr int lanes_per_pair = 8;
// Each adds to the same few counts: enough of them to fill any device, and no more.
constexpr index_t most_blocks = 2048;

struct drawn_pair {
  index_t i;
  index_t j;
};

// Numbers of rows fit 32 bits. Where left rows meet right ones too, a draw of two left rows with j
// < i counts as no pair, so that pairs of two left rows are not drawn twice as often.
__device__ drawn_pair draw(std::uint64_t place, const row_sides& sides) {
  using detail::draw_below;
  const std::uint64_t random = detail::random_at(place);
  const index_t left = sides.left_end - sides.left_begin;
  const index_t right = sides.right_end - sides.right_begin;
  const index_t i = draw_below(random >> 32, left);
  if (!sides.within) {
    return {sides.left_begin + i, sides.right_begin + draw_below(random & 0xffffffffu, right)};
  }
  // The right side lies behind the left one.
  const index_t other = draw_below(random & 0xffffffffu, left + right - 1);
  return {sides.left_begin + i, sides.left_begin + other + (other >= i ? 1 : 0)};
}

__device__ bool is_pair(const row_sides& sides, const drawn_pair& pair) {
  return !sides.within || !sides.has_right() || pair.i < pair.j;
}

// This lane's part of the product of two rows of ranks: elements, or limbs of 7 bits.
template <class Rank>
__device__ double rank_product(const pair_operand& rows, const drawn_pair& pair, int lane) {
  const auto* x = static_cast<const Rank*>(rows.values) + pair.i * rows.pitch;
  const auto* y = static_cast<const Rank*>(rows.values) + pair.j * rows.pitch;
  std::int64_t sum = 0;
  for (index_t k = lane; k < rows.columns; k += lanes_per_pair) {
    std::int64_t u = 0;
    std::int64_t v = 0;
    for (int limb = rows.limbs - 1; limb >= 0; --limb) {
      u = u * 128 + x[limb * rows.columns + k];
      v = v * 128 + y[limb * rows.columns + k];
    }
    sum += u * v;
  }
  return static_cast<double>(sum);
}

__device__ double unit_product(const double* rows, index_t pitch, const drawn_pair& pair,
                               int lane) {
  double sum = 0;
  for (index_t k = lane; k < pitch; k += lanes_per_pair) {
    sum = fma(rows[pair.i * pitch + k], rows[pair.j * pitch + k], sum);
  }
  return sum;
}

__device__ double product_part(const sample_request& request, const drawn_pair& pair, int lane) {
  const pair_operand& rows = request.rows;
  switch (request.tile) {
    case pair_tile_kind::shared_int16:
      return rank_product<std::int16_t>(rows, pair, lane);
    case pair_tile_kind::shared_int32:
      return rank_product<std::int32_t>(rows, pair, lane);
    case pair_tile_kind::shared_double:
      return unit_product(static_cast<const double*>(rows.values), rows.pitch, pair, lane);
    case pair_tile_kind::tensor_float:
      return unit_product(rows.unit_rows, rows.unit_pitch, pair, lane);
    default:  // the others that can_sample takes
      return rank_product<std::int8_t>(rows, pair, lane);
  }
}

// This lane's part of the statistic. Their sum is not clipped: what rounding leaves beyond 1 does
// not matter to a sample.
// Square sums of unit rows are 1.
__device__ double statistic_part(const pair_operand& rows, const drawn_pair& pair, double product) {
  const double x = static_cast<double>(rows.square_sums[pair.i]);
  const double y = static_cast<double>(rows.square_sums[pair.j]);
  return x > 0 && y > 0 ? product / detail::rho_scale(x, y) : CUDART_NAN;
}

// Adds up the counts of a block's threads, each kind at a place of its own: one place for all would
// be cleared for the next kind while other threads may still read it. All threads.
template <int kinds>
__device__ void add_counts(const unsigned (&counts)[kinds],
                           unsigned long long* const (&to)[kinds]) {
  __shared__ unsigned in_block[kinds];
  if (threadIdx.x < kinds) in_block[threadIdx.x] = 0;
  __syncthreads();
#pragma unroll
  for (int kind = 0; kind < kinds; ++kind) {
    const unsigned sum = warp_sum(counts[kind]);
    if (threadIdx.x % 32 == 0 && sum > 0) atomicAdd(&in_block[kind], sum);
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
#pragma unroll
  for (int kind = 0; kind < kinds; ++kind) {
    if (in_block[kind] > 0) atomicAdd(to[kind], static_cast<unsigned long long>(in_block[kind]));
  }
}

// The statistic of the pair drawn at `place`, on its first lane; NaN on the others, and where there
// is none. All lanes of a warp.
__device__ double statistic_at(const sample_request& request, std::uint64_t place, int lane) {
  double statistic = CUDART_NAN;
  if (place < request.pairs) {
    const drawn_pair pair = draw(place, request.sides);
    statistic = product_part(request, pair, lane);
    statistic = statistic_part(request.rows, pair, statistic);
    if (!is_pair(request.sides, pair)) statistic = CUDART_NAN;
  }
  // Sums over the lanes of a pair; a part that is not there stays NaN in all of them.
  statistic = group_sum<lanes_per_pair>(statistic);
  return lane == 0 ? statistic : CUDART_NAN;
}

// Whether the pair drawn at `place`, of this statistic, is kept; NaN never is.
__device__ bool keeps_drawn(const sample_request& request, std::uint64_t place, double statistic) {
  if (request.keep.is_one()) return request.keep.widest.keeps(statistic);
  if (statistic != statistic) return false;
  const drawn_pair pair = draw(place, request.sides);
  return request.keep.keeps(statistic, request.rows.square_sums[pair.i],
                            request.rows.square_sums[pair.j]);
}

// A thread counts what it sees, and a block adds to memory once.
__global__ void sample_pairs(const __grid_constant__ sample_request request,
                             sample_counts* counts) {
  constexpr int pairs_of_block = sample_threads / lanes_per_pair;
  const int lane = static_cast<int>(threadIdx.x) % lanes_per_pair;
  unsigned seen[2 + detail::most_screens] = {};  // valid, kept, above each magnitude
  for (std::uint64_t first = std::uint64_t{blockIdx.x} * pairs_of_block; first < request.pairs;
       first += std::uint64_t{gridDim.x} * pairs_of_block) {
    const double statistic = statistic_at(request, first + threadIdx.x / lanes_per_pair, lane);
    seen[0] += statistic == statistic;
    seen[1] += keeps_drawn(request, first + threadIdx.x / lanes_per_pair, statistic);
#pragma unroll
    for (int s = 0; s < detail::most_screens; ++s) {
      seen[2 + s] += fabs(statistic) >= request.magnitudes[s];
    }
  }
  unsigned long long* to[2 + detail::most_screens] = {&counts->valid, &counts->kept};
#pragma unroll
  for (int s = 0; s < detail::most_screens; ++s) to[2 + s] = &counts->above[s];
  add_counts(seen, to);
}

}  // namespace

bool can_sample(pair_tile_kind tile) {
  switch (tile) {
    case pair_tile_kind::shared_int8:
    case pair_tile_kind::shared_int16:
    case pair_tile_kind::shared_int32:
    case pair_tile_kind::shared_double:
    case pair_tile_kind::tensor_int8:
    case pair_tile_kind::tensor_limbs:
    case pair_tile_kind::tensor_float:
      return true;
    case pair_tile_kind::naive_spearman:
    case pair_tile_kind::naive_pearson:
    case pair_tile_kind::tensor_half:
    case pair_tile_kind::products_double:
    case pair_tile_kind::products_integer:
    case pair_tile_kind::products_limbs:
    case pair_tile_kind::products_half:
    case pair_tile_kind::pairwise_ranks:
    case pair_tile_kind::pairwise_values:
    case pair_tile_kind::signs:
      break;
  }
  return false;
}

void launch_sample_pairs(const sample_request& request, sample_counts* counts,
                         cudaStream_t stream) {
  const auto threads = static_cast<index_t>(request.pairs) * lanes_per_pair;
  sample_pairs<<<grid_blocks(threads, sample_threads, most_blocks), sample_threads, 0, stream>>>(
      request, counts);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
