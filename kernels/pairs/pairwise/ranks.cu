// Spearman of rows with missing values: both rows of a pair are ranked anew over the columns that
// they share. A warp takes a pair at a time. The columns of a row, in the order of its values,
// become bits: whether the partner has the column too. The rank of a value is then the number of
// bits before its own place, by the sums of whole words and the bits of one.

#include "kernels/common/launch.cuh"
#include "kernels/common/warp.cuh"
#include "kernels/pairs/frame/kernel.cuh"
#include "kernels/pairs/pairwise/decide.cuh"
#include "kernels/pairs/pairwise/kernels.hpp"
#include "kernels/pairs/pairwise/panel_tile.cuh"
#include "kernels/pairs/pairwise/rank_row.cuh"
#include "kernels/pairs/products/multiply.hpp"
#include "stats/statistic.hpp"

namespace gpu::kernels {
namespace {

// Sums of products of two rows of so many ranks fit 32 bits.
constexpr index_t most_short_columns = 1860;

template <class Sum>
__device__ double pairwise_rho(const rank_row& x, const rank_row& y, const shared_places& of_x,
                               const shared_places& of_y, int cols, int words, int total) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  Sum xy = 0;
  Sum xx = 0;
  Sum yy = 0;
  for (int w = 0; w < words; ++w) {
    const int col = w * 32 + lane;
    if (col >= cols) break;
    const unsigned shared = x.present[w] & y.present[w];
    if ((shared >> lane & 1) == 0) continue;
    const Sum a = of_x.rank(x.below[col], x.up_to[col], total);
    const Sum b = of_y.rank(y.below[col], y.up_to[col], total);
    xy += a * b;
    xx += a * a;
    yy += b * b;
  }
  __syncwarp();
  xy = warp_sum(xy);
  xx = warp_sum(xx);
  yy = warp_sum(yy);
  return detail::rho_or_none(xy, xx, yy);
}

template <class Sum>
__global__ void pairwise_ranks(const __grid_constant__ pairwise_job job) {
  extern __shared__ std::uint32_t memory[];
  const panel_tile tile;
  if (!tile.is_wanted(job)) return;
  const int cols = static_cast<int>(job.rows.columns);
  const int words = (cols + 31) / 32;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int warps = static_cast<int>(blockDim.x / 32);
  std::uint32_t* const own = memory + warp * 4 * (words + 1);
  const shared_places of_x{own, own + (words + 1)};
  const shared_places of_y{own + 2 * (words + 1), own + 3 * (words + 1)};
  for (int pair = warp; pair < panel_tile::rows * panel_tile::cols; pair += warps) {
    const index_t i = tile.first_row + pair / panel_tile::cols;
    const index_t j = tile.first_col + pair % panel_tile::cols;
    if (i >= job.rows.count || j >= job.cols.count || !is_pair(job, i, j)) continue;
    const rank_row x(job.rows, i);
    const rank_row y(job.cols, j);
    __syncwarp();  // the places of the pair before have been read
    const int total = of_x.mark(x, y, cols, words);
    static_cast<void>(of_y.mark(y, x, cols, words));
    __syncwarp();
    const double rho = pairwise_rho<Sum>(x, y, of_x, of_y, cols, words, total);
    if (lane == 0) {
      job.to.sums[job.to.first + i * job.to.pitch + j] = decide_pairwise(job.decision, rho, total);
    }
  }
}

// ---- short rows -------------------------------------------------------------------------------

// The places of a row whose columns the partner has, in registers: lane w has word w, and the
// number of places in the words before; lane `words` what is behind the last.
template <int words>
class short_places {
 public:
  __device__ int mark(const unsigned (&order)[words], unsigned partner) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    int total = 0;
    bits_ = 0;
    before_ = 0;
#pragma unroll
    for (int w = 0; w < words; ++w) {
      // No column is beyond the words of the partner, whose bits are 0.
      const unsigned of_partner = __shfl_sync(all_lanes, partner, static_cast<int>(order[w] / 32));
      const unsigned word = __ballot_sync(all_lanes, (of_partner >> (order[w] % 32) & 1) != 0);
      if (lane == w) {
        bits_ = word;
        before_ = total;
      }
      total += __popc(word);
    }
    if (lane == words) before_ = total;
    return total;
  }
  [[nodiscard]] __device__ int count_before(unsigned place) const {
    const int word = static_cast<int>(place / 32);
    const unsigned within = __shfl_sync(all_lanes, bits_, word) & ((1u << (place % 32)) - 1);
    return __shfl_sync(all_lanes, before_, word) + __popc(within);
  }

 private:
  unsigned bits_;
  int before_;
};

template <int words>
struct short_row {
  unsigned present;  // lane w < words: word w; else 0
  unsigned order[words];
  unsigned below[words];
  unsigned up_to[words];

  __device__ short_row(const pair_operand& from, index_t row, int cols) {
    const rank_row of(from, row);
    const int lane = static_cast<int>(threadIdx.x % 32);
    present = lane < words ? of.present[lane] : 0;
#pragma unroll
    for (int w = 0; w < words; ++w) {
      const int place = w * 32 + lane;
      const bool there = place < cols;
      const unsigned col = there ? of.order[place] : no_column;
      order[w] = col == no_column ? 31 * 32 : col;
      below[w] = there ? of.below[place] : 0;
      up_to[w] = there ? of.up_to[place] : 0;
    }
  }
};

template <int words>
__global__ void __launch_bounds__(256)
    short_pairwise_ranks(const __grid_constant__ pairwise_job job) {
  const panel_tile tile;
  if (!tile.is_wanted(job)) return;
  const int cols = static_cast<int>(job.rows.columns);
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int width = tile.width(job);
  for (int r = static_cast<int>(threadIdx.x / 32); r < panel_tile::rows;
       r += static_cast<int>(blockDim.x / 32)) {
    const index_t i = tile.first_row + r;
    if (i >= job.rows.count) break;
    const short_row<words> x(job.rows, i, cols);
    int own_xy = 0;
    int own_xx = 0;
    int own_yy = 0;
    int own_total = 0;
    for (int c = 0; c < width; ++c) {
      const short_row<words> y(job.cols, tile.first_col + c, cols);
      short_places<words> of_x;
      short_places<words> of_y;
      const int total = of_x.mark(x.order, y.present);
      static_cast<void>(of_y.mark(y.order, x.present));
      const unsigned shared = x.present & y.present;
      int xy = 0;
      int xx = 0;
      int yy = 0;
#pragma unroll
      for (int w = 0; w < words; ++w) {
        const int keep = -static_cast<int>(__shfl_sync(all_lanes, shared, w) >> lane & 1);
        const int a =
            (of_x.count_before(x.below[w]) + of_x.count_before(x.up_to[w]) - total) & keep;
        const int b =
            (of_y.count_before(y.below[w]) + of_y.count_before(y.up_to[w]) - total) & keep;
        xy += a * b;
        xx += a * a;
        yy += b * b;
      }
      xy = warp_sum(xy);
      xx = warp_sum(xx);
      yy = warp_sum(yy);
      if (lane == c) {
        own_xy = xy;
        own_xx = xx;
        own_yy = yy;
        own_total = total;
      }
    }
    if (lane >= width) continue;
    const double rho = detail::rho_or_none(own_xy, own_xx, own_yy);
    job.to.sums[job.to.first + i * job.to.pitch + tile.first_col + lane] =
        decide_pairwise(job.decision, rho, own_total);
  }
}

template <int words>
void launch_short(const pairwise_job& job, cudaStream_t stream) {
  short_pairwise_ranks<words><<<panel_tile::all_of(job), 256, 0, stream>>>(job);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

template <class Sum>
void launch(const pairwise_job& job, cudaStream_t stream) {
  const auto words = static_cast<std::size_t>(ceil_div(job.rows.columns, index_t{32}) + 1);
  launch_by_warps(pairwise_ranks<Sum>, job, 4 * words * sizeof(std::uint32_t), stream);
}

}  // namespace

void launch_pairwise_ranks(const pairwise_job& job, cudaStream_t stream) {
  if (job.classes.count != 0) return launch_class_ranks(job, stream);
  switch (ceil_div(job.rows.columns, index_t{32})) {
    case 1:
      return launch_short<1>(job, stream);
    case 2:
      return launch_short<2>(job, stream);
    case 3:
      return launch_short<3>(job, stream);
    case 4:
      return launch_short<4>(job, stream);
    default:
      break;
  }
  if (job.rows.columns <= most_short_columns) return launch<std::int32_t>(job, stream);
  launch<std::int64_t>(job, stream);
}

}  // namespace gpu::kernels
