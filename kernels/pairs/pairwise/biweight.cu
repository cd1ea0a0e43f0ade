// Biweight midcorrelation of rows with missing values. A warp takes a row and one partner after the
// other; what it writes of a pair is decided for 32 of them together.

#include "kernels/common/launch.cuh"
#include "kernels/pairs/pairwise/biweight_pair.cuh"
#include "kernels/pairs/pairwise/decide.cuh"
#include "kernels/pairs/pairwise/kernels.hpp"
#include "kernels/pairs/products/multiply.hpp"

namespace gpu::kernels {
namespace {

constexpr int tile_rows = 16;
constexpr int tile_cols = 32;  // a lane has one of them to decide
constexpr int most_warps = 8;

__global__ void __launch_bounds__(32 * most_warps, 3)
    pairwise_biweight(const __grid_constant__ pairwise_job job) {
  extern __shared__ double2 memory[];
  const index_t first_row = index_t{blockIdx.y} * tile_rows;
  const index_t first_col = index_t{blockIdx.x} * tile_cols;
  if (!is_wanted(job, first_row, first_col, tile_cols)) return;
  const int cols = static_cast<int>(job.rows.columns);
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int warp = static_cast<int>(threadIdx.x / 32);
  double2* const own = memory + warp * biweight_pair::places(cols);
  const int last = static_cast<int>(min(index_t{tile_cols}, job.cols.count - first_col));
  for (int r = warp; r < tile_rows; r += static_cast<int>(blockDim.x / 32)) {
    const index_t i = first_row + r;
    if (i >= job.rows.count) break;
    const biweight_row x(job.rows, i);
    double statistic = detail::no_statistic;
    int shared = 0;
    for (int c = 0; c < last; ++c) {
      const index_t j = first_col + c;
      if (job.blocks == product_blocks::above_diagonal && j + job.offset <= i) continue;
      const biweight_row y(job.cols, j);
      const biweight_pair pair(x, y, cols, own);
      if (pair.shared() < job.decision.min_observations) continue;
      const double found = pair.statistic();
      if (lane == c) {
        statistic = found;
        shared = pair.shared();
      }
    }
    if (lane >= last) continue;
    job.to.sums[job.to.first + i * job.to.pitch + first_col + lane] =
        decide_pairwise(job.decision, statistic, shared);
  }
}

}  // namespace

void launch_pairwise_biweight(const pairwise_job& job, cudaStream_t stream) {
  const dim3 blocks(static_cast<unsigned>(ceil_div(job.cols.count, index_t{tile_cols})),
                    static_cast<unsigned>(ceil_div(job.rows.count, index_t{tile_rows})));
  const std::size_t of_warp =
      static_cast<std::size_t>(biweight_pair::places(job.rows.columns)) * sizeof(double2);
  constexpr std::size_t most_shared = std::size_t{40} << 10;
  int warps = most_warps;
  while (warps > 1 && static_cast<std::size_t>(warps) * of_warp > most_shared) warps /= 2;
  const std::size_t shared = static_cast<std::size_t>(warps) * of_warp;
  allow_shared_memory(pairwise_biweight, shared);
  pairwise_biweight<<<blocks, static_cast<unsigned>(32 * warps), shared, stream>>>(job);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
