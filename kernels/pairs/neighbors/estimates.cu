// Best partners of long rows, from estimates of all their statistics.
//
// One warp takes one row. Its estimates are divided into 256 buckets. The k-th largest bucket
// maximum, less the error of the estimates, is a lower bound of the k-th best statistic, because k
// different partners reach it. Only partners whose estimate comes within twice that error of it, k
// or a few more, are computed from the rows themselves. They come in ascending order, so a partner
// that ties with the worst of a full list is not needed, and a list of k partners with a statistic
// of 1 ends the search.

#include <math_constants.h>

#include "base/ordered_key.hpp"
#include "kernels/common/launch.cuh"
#include "kernels/common/warp.cuh"
#include "kernels/pairs/neighbors/buckets.cuh"
#include "kernels/pairs/neighbors/list.cuh"
#include "kernels/pairs/neighbors/partners.cuh"

namespace gpu::kernels {
namespace {

constexpr int warps = 8;
constexpr int held = 8;  // estimates that a lane reads at a time, each of a bucket of its own

struct search_arguments {
  pair_operand source;
  estimate_block block;
  neighbor_query query;
  neighbor_result result;
};

// The keys of the estimates of one row.
class row_keys {
 public:
  __device__ row_keys(const search_arguments& args, index_t place)
      : estimates_(args.block.estimates + place * args.block.cols),
        cols_(args.block.cols),
        own_(args.block.first_row + place - args.block.first_col),
        key_(args.query.key),
        high_(static_cast<float>(args.query.at_least - static_cast<double>(args.block.error))),
        low_(static_cast<float>(args.query.at_most + static_cast<double>(args.block.error))) {}

  // Those of `held` columns, 32 apart from `first` on; -infinity where a pair is not kept for
  // certain, has no statistic, is none, or is the row itself.
  __device__ void read(index_t first, float (&out)[held]) const {
    float estimates[held];
#pragma unroll
    for (int h = 0; h < held; ++h) {
      const index_t col = first + 32 * h;
      estimates[h] = col < cols_ ? __ldg(estimates_ + col) : CUDART_NAN_F;
    }
#pragma unroll
    for (int h = 0; h < held; ++h) {
      const bool may_be_kept = estimates[h] >= high_ || estimates[h] <= low_;
      const bool is_taken = may_be_kept && first + 32 * h != own_;
      out[h] = is_taken ? neighbor_key(estimates[h], key_) : -CUDART_INF_F;
    }
  }

 private:
  const float* estimates_;
  index_t cols_;
  index_t own_;
  detail::bin_key key_;
  float high_;
  float low_;
};

// The k-th largest of the maxima of the buckets; minus infinity where fewer are there.
__device__ float bucket_bound(const row_keys& keys, index_t cols, int k) {
  float best[held];
#pragma unroll
  for (float& key : best) key = -CUDART_INF_F;
  for (index_t first = threadIdx.x % 32; first < cols; first += 32 * held) {
    float read[held];
    keys.read(first, read);
#pragma unroll
    for (int h = 0; h < held; ++h) best[h] = fmaxf(best[h], read[h]);
  }
  unsigned ordered[held];
#pragma unroll
  for (int h = 0; h < held; ++h) ordered[h] = detail::ordered_key(best[h]);
  const unsigned bound = kth_largest_of_warp(ordered, 0x80000000U, static_cast<unsigned>(k));
  return bound == 0 ? -CUDART_INF_F : detail::value_of_key<float>(bound);
}

// Takes the best of the partners whose keys reach `bar`, which are certain to be the best of all
// where the list is full or `bar` is minus infinity.
template <bool of_ranks>
__device__ void search_row(const search_arguments& args, const row_keys& keys, index_t row,
                           float bar, neighbor_list& list) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const neighbor_query& query = args.query;
  for (index_t begin = 0; begin < args.block.cols; begin += 32 * held) {
    float read[held];
    keys.read(begin + lane, read);
#pragma unroll
    for (int h = 0; h < held; ++h) {
      bool wanted = read[h] >= bar && read[h] > -CUDART_INF_F;
      if (!__any_sync(all_lanes, wanted)) continue;
      const index_t place = begin + 32 * h + lane;
      const index_t partner = args.block.first_col + min(place, args.block.cols - 1);
      const double statistic = of_ranks ? refined_rho(args.source, row, wanted, partner)
                                        : refined_statistic(args.source, row, wanted, partner);
      wanted = wanted && keeps(statistic, query.at_least, query.at_most) &&
               neighbor_key(statistic, query.key) > list.bar();
      if (!list.add(wanted, statistic, static_cast<std::uint32_t>(place))) continue;
      if (list.bar() >= 1.0) return;  // which none exceeds
      bar = fmaxf(bar, static_cast<float>(list.bar()) - args.block.error);
    }
  }
}

template <bool of_ranks>
__global__ void __launch_bounds__(warps * 32, 2)
    estimate_choice(const __grid_constant__ search_arguments args) {
  __shared__ neighbor_list::storage storage[warps];
  const unsigned warp = threadIdx.x / 32;
  const index_t place = index_t{blockIdx.x} * warps + warp;
  if (place >= args.block.rows) return;
  const index_t row = args.block.first_row + place;
  const int k = static_cast<int>(args.query.k);
  neighbor_list list(storage[warp], k, args.query.key);
  if (args.source.square_sums[row] > 0) {
    const row_keys keys(args, place);
    const float bound = bucket_bound(keys, args.block.cols, k) - 2 * args.block.error;
    search_row<of_ranks>(args, keys, row, bound, list);
    list.keep_best();
    // Some of the k that the bound is of may be just beyond the cut.
    if (list.count() < k && bound > -CUDART_INF_F) {
      list.clear();
      search_row<of_ranks>(args, keys, row, -CUDART_INF_F, list);
      list.keep_best();
    }
  }
  list.write(args.result, place);
}

}  // namespace

void launch_estimate_choice(const pair_operand& source, const estimate_block& block,
                            const neighbor_query& query, const neighbor_result& result,
                            cudaStream_t stream) {
  if (block.rows == 0) return;
  const search_arguments args{source, block, query, result};
  const unsigned blocks = grid_blocks(block.rows, warps);
  const auto kernel = source.unit_rows != nullptr ? estimate_choice<false> : estimate_choice<true>;
  kernel<<<blocks, warps * 32, 0, stream>>>(args);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
