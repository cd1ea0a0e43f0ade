// Neighbour search, second half: from the maxima of a row to its k best partners.
//
// One warp takes one row, or, where rows are few, a slice of the groups of a row. The maxima are
// divided into 256 buckets. The k-th largest bucket maximum, less the error of the products, is a
// lower bound of the k-th best statistic, because k different partners reach it. Only groups whose
// maximum comes within twice that error of it, k or a few more, are looked at: every partner of
// such a group is tested exactly. Groups come in ascending order, so a partner that ties with the
// worst of a full list is not needed, and a list of k partners with a statistic of 1 ends the
// search: with heavy ties only the maxima are read. The group of the row itself contains its
// product with itself, so its maximum is not used as a bound, and the group is always looked at.

#include <math_constants.h>

#include "kernels/common/launch.cuh"
#include "kernels/common/mma_sync.cuh"
#include "kernels/pairs/neighbors/buckets.cuh"
#include "kernels/pairs/neighbors/list.cuh"
#include "kernels/pairs/neighbors/partners.cuh"

namespace gpu::kernels {
namespace {

constexpr int warps = 8;
constexpr int halves_per_piece = 8;  // of 16 bytes

// The recorded maxima of one row.
class row_maxima {
 public:
  __device__ row_maxima(const std::uint16_t* maxima, index_t groups, index_t own)
      : maxima_(maxima), groups_(static_cast<int>(groups)), own_(static_cast<int>(own)) {}

  [[nodiscard]] __device__ int pieces() const {
    return (groups_ + halves_per_piece - 1) / halves_per_piece;
  }
  // Halves of one piece, the row's own group and what is past the end NaN.
  [[nodiscard]] __device__ uint4 piece(int number) const {
    uint4 out = make_uint4(~0U, ~0U, ~0U, ~0U);
    if (number >= pieces()) return out;
    out = *(reinterpret_cast<const uint4*>(maxima_) + number);
    if (number == own_ / halves_per_piece || number == pieces() - 1) {
#pragma unroll
      for (int h = 0; h < halves_per_piece; ++h) {
        const int group = number * halves_per_piece + h;
        if (group == own_ || group >= groups_) word(out, h / 2) |= 0xffffU << (h % 2 * 16);
      }
    }
    return out;
  }
  [[nodiscard]] __device__ bool is_own(int group) const { return group == own_; }
  [[nodiscard]] __device__ float at(int group) const { return half_value(maxima_[group]); }

  static __device__ unsigned& word(uint4& piece, int number) {
    return number == 0 ? piece.x : (number == 1 ? piece.y : (number == 2 ? piece.z : piece.w));
  }

 private:
  const std::uint16_t* maxima_;
  int groups_;
  int own_;
};

// The k-th largest of the maxima of 256 buckets; minus infinity where fewer are there.
__device__ float bucket_bound(const row_maxima& maxima, int k) {
  const int lane = static_cast<int>(threadIdx.x & 31U);
  uint4 best = make_uint4(~0U, ~0U, ~0U, ~0U);
  // Of NaN and a number the number.
  const auto larger = [](unsigned& a, unsigned b) {
    const __half2 both =
        __hmax2(*reinterpret_cast<const __half2*>(&a), *reinterpret_cast<const __half2*>(&b));
    a = *reinterpret_cast<const unsigned*>(&both);
  };
#pragma unroll 8
  for (int number = lane; number < maxima.pieces(); number += 32) {
    const uint4 piece = maxima.piece(number);
    larger(best.x, piece.x);
    larger(best.y, piece.y);
    larger(best.z, piece.z);
    larger(best.w, piece.w);
  }
  unsigned keys[halves_per_piece];
#pragma unroll
  for (int h = 0; h < halves_per_piece; ++h) {
    keys[h] = ordered_half(row_maxima::word(best, h / 2) >> (h % 2 * 16) & 0xffffU);
  }
  const unsigned bound = kth_largest_of_warp(keys, 0x8000U, static_cast<unsigned>(k));
  return bound == 0 ? -CUDART_INF_F : half_of_ordered(bound);
}

struct choice_arguments {
  pair_operand source;
  neighbor_rows packed;
  neighbor_block block;
  neighbor_query query;
  neighbor_result result;
  index_t rows;         // of the block, without padding
  const float* bounds;  // [rows] what bucket_bound finds; null: it is found here
  int slices;           // of the groups of a row: one warp looks at one
};

// Tests every partner of one group of `row`, a row of the input.
template <class Partners>
__device__ void look_at_group(const choice_arguments& args, const Partners& partners, index_t row,
                              int group, float& estimate_bar, neighbor_list& list) {
  constexpr int rounds = neighbor_group_rows / 32;
  const neighbor_query& query = args.query;
  const index_t first =
      static_cast<index_t>(group) * neighbor_group_rows + static_cast<int>(threadIdx.x & 31U);
  index_t others[rounds];
#pragma unroll
  for (int t = 0; t < rounds; ++t) {
    // Past the end any row will do: it is not taken.
    others[t] = args.packed.first + min(first + t * 32, args.packed.rows - 1);
  }
  typename Partners::product products[rounds];
  partners.multiply(others, products);
  float estimates[rounds];
#pragma unroll
  for (int t = 0; t < rounds; ++t) estimates[t] = partners.estimate(products[t], others[t]);
#pragma unroll
  for (int t = 0; t < rounds; ++t) {
    const index_t place = first + t * 32;
    const index_t partner = args.packed.first + place;
    float key = estimates[t];  // neighbor_key, which makes the compiler spill
    if (query.key == detail::bin_key::magnitude) key = fabsf(key);
    if (query.key == detail::bin_key::negated_value) key = -key;
    bool wanted = key >= estimate_bar && partner != row && place < args.packed.rows;
    if (!__any_sync(~0U, wanted)) continue;
    const double statistic = partners.statistic(wanted, products[t], partner);
    wanted = wanted && keeps(statistic, query.at_least, query.at_most) &&
             neighbor_key(statistic, query.key) > list.bar();
    if (list.add(wanted, statistic, static_cast<std::uint32_t>(place))) {
      estimate_bar = fmaxf(estimate_bar, static_cast<float>(list.bar()) - Partners::error);
    }
  }
}

// `place`: of the row in its block.
template <class Partners>
__device__ void search_row(const choice_arguments& args, index_t place, int slice,
                           neighbor_list& list) {
  const int lane = static_cast<int>(threadIdx.x & 31U);
  const neighbor_query& query = args.query;
  const index_t place_of_all = args.block.first + place;
  const index_t row = args.block.left.first + place_of_all;
  const index_t position =
      args.bounds != nullptr ? place : neighbor_position_of(place_of_all) - args.block.first;
  const index_t own = row - args.packed.first;  // in no group where it is no partner itself
  const row_maxima maxima(args.block.maxima + position * args.block.pitch,
                          neighbor_groups(args.packed),
                          own < 0 ? index_t{-1} : own / neighbor_group_rows);
  const Partners partners(args.source, args.block.left, args.packed, row);
  const float error = neighbor_error(args.packed.depth, half_sum_columns);

  // Keys that every wanted partner reaches. Single precision holds halves; the margins have room
  // for its roundings.
  const float reached = (args.bounds != nullptr ? args.bounds[place]
                                                : bucket_bound(maxima, static_cast<int>(query.k))) -
                        error;
  const float bound = static_cast<double>(reached) >= query.certain
                          ? reached
                          : static_cast<float>(query.floor) - 1e-6F;
  const float group_bar = bound - error;
  float estimate_bar = bound - Partners::error;

  const int width = (maxima.pieces() + args.slices - 1) / args.slices;
  const int last = min((slice + 1) * width, maxima.pieces());
  for (int base = slice * width; base < last; base += 32) {
    const int number = base + lane;
    uint4 piece = maxima.piece(number);
    unsigned groups = 0;
#pragma unroll
    for (int h = 0; h < halves_per_piece; ++h) {
      const unsigned half = row_maxima::word(piece, h / 2) >> (h % 2 * 16) & 0xffffU;
      const bool own = maxima.is_own(number * halves_per_piece + h);
      if (number < last && (half_value(half) >= group_bar || own)) groups |= 1U << h;
    }
    for (unsigned lanes = __ballot_sync(~0U, groups != 0); lanes != 0; lanes &= lanes - 1) {
      const int source = __ffs(static_cast<int>(lanes)) - 1;
      for (unsigned left = __shfl_sync(~0U, groups, source); left != 0; left &= left - 1) {
        const int group = (base + source) * halves_per_piece + __ffs(static_cast<int>(left)) - 1;
        // No partner exceeds 1 in magnitude, nor its group's maximum by more than the error.
        const float most = fminf(1.0F, maxima.at(group) + error);
        if (static_cast<double>(most) <= list.bar()) continue;
        look_at_group(args, partners, row, group, estimate_bar, list);
      }
    }
  }
  list.keep_best();
}

template <class Partners>
__global__ void __launch_bounds__(warps * 32, Partners::blocks)
    choice_kernel(const __grid_constant__ choice_arguments args) {
  __shared__ neighbor_list::storage storage[warps];
  const unsigned warp = threadIdx.x / 32;
  const index_t number = static_cast<index_t>(blockIdx.x) * warps + warp;
  const index_t in_block = number / args.slices;
  if (in_block >= args.rows) return;
  const index_t row = args.block.left.first + args.block.first + in_block;
  neighbor_list list(storage[warp], static_cast<int>(args.query.k), args.query.key);
  if (args.source.square_sums[row] > 0) {
    search_row<Partners>(args, in_block, static_cast<int>(number % args.slices), list);
  }
  list.write(args.result, number);
}

template <class Partners>
void launch(const choice_arguments& args, cudaStream_t stream) {
  choice_kernel<Partners>
      <<<grid_blocks(args.rows * args.slices, warps), warps * 32, 0, stream>>>(args);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace

void launch_neighbor_choice(const pair_operand& source, const neighbor_rows& packed,
                            const neighbor_block& block, const neighbor_query& query,
                            const neighbor_result& result, cudaStream_t stream,
                            const neighbor_slices& slices) {
  const index_t left = block.left.rows - block.first;
  const choice_arguments args{.source = source,
                              .packed = packed,
                              .block = block,
                              .query = query,
                              .result = result,
                              .rows = block.count < left ? block.count : left,
                              .bounds = slices.bounds,
                              .slices = slices.count};
  if (args.rows <= 0) return;
  if (source.unit_rows != nullptr) {
    return packed.tiles == nullptr ? launch<plain_partners>(args, stream)
                                   : launch<unit_partners>(args, stream);
  }
  switch (source.pitch) {
    case 32:
      return launch<rank_partners<8>>(args, stream);
    case 64:
      return launch<rank_partners<16>>(args, stream);
    default:
      return launch<rank_partners<32>>(args, stream);
  }
}

}  // namespace gpu::kernels
