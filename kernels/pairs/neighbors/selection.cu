// Best partners from whole rows of statistics: keys and lists.

#include <math_constants.h>

#include "kernels/common/launch.cuh"
#include "kernels/pairs/neighbors/kernels.hpp"

namespace gpu::kernels {
namespace {

constexpr int threads = 256;
constexpr index_t most_grid_rows = 65535;

__global__ void partner_keys(const statistic_block block, const detail::pair_cut keep,
                             const std::int64_t* square_sums, neighbor_order order, double* keys) {
  const index_t col = index_t{blockIdx.x} * threads + threadIdx.x;
  if (col >= block.cols) return;
  for (index_t row = blockIdx.y; row < block.rows; row += gridDim.y) {
    const index_t at = row * block.cols + col;
    const double statistic = block.statistics[at];
    const index_t i = block.first_row + row;
    const index_t j = block.first_col + col;
    const bool is_kept = keep.is_one() ? keep.widest.keeps(statistic)
                                       : keep.keeps(statistic, square_sums[i], square_sums[j]);
    const double key = order == neighbor_order::by_absolute_value ? fabs(statistic) : statistic;
    keys[at] = is_kept && i != j ? key : CUDART_NAN;
  }
}

// A block a row. Entries that are not there come last.
__global__ void write_partners(const statistic_block block, const double* best,
                               const index_t* columns, index_t entries, index_t k,
                               const neighbor_result lists) {
  const index_t row = blockIdx.x;
  const double* keys = best + row * entries;
  unsigned found = 0;
  for (index_t first = 0; first < k; first += threads) {
    const index_t entry = first + threadIdx.x;
    const bool there = entry < entries && keys[entry] == keys[entry];
    if (entry < k) {
      const index_t col = there ? columns[row * entries + entry] : 0;
      lists.index[row * k + entry] = there ? static_cast<std::uint32_t>(col) : ~std::uint32_t{0};
      lists.statistic[row * k + entry] =
          there ? block.statistics[row * block.cols + col] : CUDART_NAN;
    }
    found += static_cast<unsigned>(__syncthreads_count(there));
  }
  if (threadIdx.x == 0) lists.count[row] = found;
}

}  // namespace

void launch_partner_keys(const statistic_block& block, const detail::pair_cut& keep,
                         const std::int64_t* square_sums, neighbor_order order, double* keys,
                         cudaStream_t stream) {
  if (block.rows == 0 || block.cols == 0) return;
  const dim3 grid(grid_blocks(block.cols, threads), grid_blocks(block.rows, 1, most_grid_rows));
  partner_keys<<<grid, threads, 0, stream>>>(block, keep, square_sums, order, keys);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

void launch_write_partners(const statistic_block& block, const double* best, const index_t* columns,
                           index_t entries, index_t k, const neighbor_result& lists,
                           cudaStream_t stream) {
  if (block.rows == 0) return;
  write_partners<<<static_cast<unsigned>(block.rows), threads, 0, stream>>>(block, best, columns,
                                                                            entries, k, lists);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
