// Biweight midcorrelation of rows with missing values. A warp takes a row and one partner after the
// other; what it writes of a pair is decided for 32 of them together.

#include "kernels/common/launch.cuh"
#include "kernels/pairs/pairwise/biweight_pair.cuh"
#include "kernels/pairs/pairwise/decide.cuh"
#include "kernels/pairs/pairwise/kernels.hpp"
#include "kernels/pairs/pairwise/panel_tile.cuh"
#include "kernels/pairs/products/multiply.hpp"

namespace gpu::kernels {
namespace {

__global__ void __launch_bounds__(32 * most_warps_of_tile, 3)
    pairwise_biweight(const __grid_constant__ pairwise_job job) {
  extern __shared__ double2 memory[];
  const panel_tile tile;
  if (!tile.is_wanted(job)) return;
  const int cols = static_cast<int>(job.rows.columns);
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int warp = static_cast<int>(threadIdx.x / 32);
  double2* const own = memory + warp * biweight_pair::places(cols);
  const int width = tile.width(job);
  for (int r = warp; r < panel_tile::rows; r += static_cast<int>(blockDim.x / 32)) {
    const index_t i = tile.first_row + r;
    if (i >= job.rows.count) break;
    const biweight_row x(job.rows, i);
    double statistic = detail::no_statistic;
    int shared = 0;
    for (int c = 0; c < width; ++c) {
      const index_t j = tile.first_col + c;
      if (!is_pair(job, i, j)) continue;
      const biweight_row y(job.cols, j);
      const biweight_pair pair(x, y, cols, own);
      if (pair.shared() < job.decision.min_observations) continue;
      const double found = pair.statistic();
      if (lane == c) {
        statistic = found;
        shared = pair.shared();
      }
    }
    if (lane >= width) continue;
    job.to.sums[job.to.first + i * job.to.pitch + tile.first_col + lane] =
        decide_pairwise(job.decision, statistic, shared);
  }
}

}  // namespace

void launch_pairwise_biweight(const pairwise_job& job, cudaStream_t stream) {
  const auto places = static_cast<std::size_t>(biweight_pair::places(job.rows.columns));
  launch_by_warps(pairwise_biweight, job, places * sizeof(double2), stream);
}

}  // namespace gpu::kernels
