// Kendall's tau of rows with missing values, or what stands for it: S and the ties of both rows
// over the columns that they share, counted anew for each pair. A block takes one row x at a time,
// whose places it keeps in shared memory; some lanes take a partner y, and walk through its columns
// in the order of their values.

#include "kernels/common/launch.cuh"
#include "kernels/common/warp.cuh"
#include "kernels/pairs/pairwise/decide.cuh"
#include "kernels/pairs/pairwise/kernels.hpp"
#include "kernels/pairs/pairwise/panel_tile.cuh"
#include "kernels/pairs/pairwise/rank_row.cuh"
#include "kernels/pairs/pairwise/sign_walk.cuh"
#include "kernels/pairs/products/multiply.hpp"
#include "stats/significance/kendall_decision.hpp"

namespace gpu::kernels {
namespace {

constexpr int threads = 128;

// Of a column of x that is not there.
constexpr std::uint32_t no_range = 0;

// Places [begin, end) of equal values; end > 0.
struct place_range {
  int begin;
  int end;

  static __device__ std::uint32_t packed(unsigned begin, unsigned end) { return begin | end << 16; }
  explicit __device__ place_range(std::uint32_t from)
      : begin(static_cast<int>(from & 0xffff)), end(static_cast<int>(from >> 16)) {}
};

// What a block has of a row x in shared memory.
struct row_places {
  std::uint32_t* range;  // [cols] of the values equal to that of a column, or no_range
  std::uint32_t* tied;   // [(cols + 1) / 2] the ranges of several places
  std::uint16_t* place;  // [cols] of a column
  int* tied_count;

  static constexpr std::size_t bytes(index_t cols) {
    return static_cast<std::size_t>(cols + (cols + 1) / 2) * sizeof(std::uint32_t) +
           static_cast<std::size_t>(cols) * sizeof(std::uint16_t);
  }
  __device__ row_places(std::uint32_t* memory, int cols, int* count)
      : range(memory),
        tied(memory + cols),
        place(reinterpret_cast<std::uint16_t*>(memory + cols + (cols + 1) / 2)),
        tied_count(count) {}

  // By all threads of the block.
  __device__ void read(const rank_row& x, int cols) const {
    __syncthreads();  // the row before has been read
    if (threadIdx.x == 0) *tied_count = 0;
    __syncthreads();
    for (int k = static_cast<int>(threadIdx.x); k < cols; k += threads) {
      range[k] =
          x.has(static_cast<unsigned>(k)) ? place_range::packed(x.below[k], x.up_to[k]) : no_range;
    }
    for (int p = static_cast<int>(threadIdx.x); p < cols; p += threads) {
      const unsigned col = x.order[p];
      if (col == no_column) break;
      place[col] = static_cast<std::uint16_t>(p);
      const int begin = x.below[col];
      const int end = x.up_to[col];
      if (p == begin && end - begin > 1) tied[atomicAdd(tied_count, 1)] = range_of(begin, end);
    }
    __syncthreads();
  }

 private:
  static __device__ std::uint32_t range_of(int begin, int end) {
    return place_range::packed(static_cast<unsigned>(begin), static_cast<unsigned>(end));
  }
};

// What is counted of a pair; every lane of it has the same.
struct sign_tally {
  int shared;
  int s;
  row_ties x;
  row_ties y;
};

template <int lanes, int words>
__device__ sign_tally count_pair(const row_places& x, const rank_row& y, int cols) {
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  sign_places<words> own(32 * words * lane);
  tie_counter ties;
  int group = -1;
  sign_tally out{};
  for (int begin = 0; begin < cols; begin += lanes) {
    const int p = begin + lane;
    const unsigned col = p < cols ? y.order[p] : no_column;
    const bool is_there = col != no_column;
    if (!__any_sync(all_lanes, is_there)) break;
    const std::uint32_t range = is_there ? x.range[col] : no_range;
    std::uint32_t at = 0;  // the place in x, and the first place of the value in y
    if (range != no_range) at = x.place[col] | std::uint32_t{y.below[col]} << 16;
#pragma unroll 4
    for (int l = 0; l < lanes; ++l) {
      const std::uint32_t next = __shfl_sync(all_lanes, range, l, lanes);
      const std::uint32_t next_at = __shfl_sync(all_lanes, at, l, lanes);
      if (next == no_range) continue;
      const auto next_group = static_cast<int>(next_at >> 16);
      if (next_group != group) {
        own.end_group();
        ties.end_group();
        group = next_group;
      }
      const place_range of_x(next);
      own.take(of_x.begin, of_x.end, static_cast<int>(next_at & 0xffff));
      ties.take();
      ++out.shared;
    }
  }
  own.end_group();
  out.s = group_sum<lanes>(own.sum());
  out.y = ties.ties();
  const int tied = *x.tied_count;
  for (int g = 0; g < tied; ++g) {
    const place_range of_x(x.tied[g]);
    const std::int64_t size = group_sum<lanes>(own.count(of_x.begin, of_x.end));
    out.x.pairs += size * (size - 1) / 2;
    out.x.triples += size * (size - 1) * (size - 2);
  }
  return out;
}

__device__ double decide_signs(const pairwise_decision& by, const sign_tally& of) {
  const stats::kendall_decision* const decisions = by.kendall;
  const std::int64_t shared = of.shared;
  const std::int64_t pairs = shared * (shared - 1) / 2;
  if (shared < by.min_observations || of.x.pairs == pairs || of.y.pairs == pairs) {
    const bool writes_p = decisions != nullptr && decisions->value == stats::kendall_value::p;
    return writes_p ? pairwise_no_p : detail::no_statistic;
  }
  if (decisions == nullptr) return detail::rho_of(of.s, pairs - of.x.pairs, pairs - of.y.pairs);
  return stats::decide_kendall(decisions[shared - by.least], of.s, of.x, of.y);
}

template <int lanes, int words>
__global__ void __launch_bounds__(threads)
    pairwise_signs(const __grid_constant__ pairwise_job job) {
  extern __shared__ std::uint32_t memory[];
  __shared__ int tied_count;
  const panel_tile tile;
  if (!tile.is_wanted(job)) return;
  const int cols = static_cast<int>(job.rows.columns);
  const row_places x(memory, cols, &tied_count);
  for (int r = 0; r < panel_tile::rows; ++r) {
    const index_t i = tile.first_row + r;
    if (i >= job.rows.count) return;
    x.read(rank_row(job.rows, i), cols);
    for (int c = static_cast<int>(threadIdx.x) / lanes; c < panel_tile::cols;
         c += threads / lanes) {
      const index_t j = tile.first_col + c;
      // All lanes of a warp go through some pair, for their shuffles.
      const bool is_asked = j < job.cols.count && is_pair(job, i, j);
      if (!__any_sync(all_lanes, is_asked)) continue;
      const rank_row y(job.cols, is_asked ? j : tile.first_col);
      const sign_tally found = count_pair<lanes, words>(x, y, cols);
      if (!is_asked || threadIdx.x % lanes != 0) continue;
      job.to.sums[job.to.first + i * job.to.pitch + j] = decide_signs(job.decision, found);
    }
  }
}
static_assert(panel_tile::cols % (threads / 4) == 0, "a warp goes through the columns as one");

template <int lanes, int words>
void launch(const pairwise_job& job, cudaStream_t stream) {
  static_assert(lanes * words * 32 <= most_pairwise_sign_columns);
  const std::size_t shared = row_places::bytes(job.rows.columns);
  allow_shared_memory(pairwise_signs<lanes, words>, shared);
  pairwise_signs<lanes, words><<<panel_tile::all_of(job), threads, shared, stream>>>(job);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace

void launch_pairwise_signs(const pairwise_job& job, cudaStream_t stream) {
  const index_t cols = job.rows.columns;
  if (cols <= 128) return launch<4, 1>(job, stream);
  if (cols <= 256) return launch<8, 1>(job, stream);
  if (cols <= 512) return launch<16, 1>(job, stream);
  if (cols <= 1024) return launch<32, 1>(job, stream);
  if (cols <= 2048) return launch<32, 2>(job, stream);
  launch<32, 4>(job, stream);
}

}  // namespace gpu::kernels
