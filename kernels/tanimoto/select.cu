// Tanimoto similarities from the sizes of |a or b| that a product has written: a block of 8 warps
// takes 16 rows by 256 columns, each warp 32 of these.

#include <algorithm>

#include "kernels/common/launch.cuh"
#include "kernels/tanimoto/sinks.cuh"

namespace gpu::kernels {
namespace {

constexpr int threads = 256;
constexpr int block_rows = 16;
constexpr index_t most_grid_rows = 65535;

template <class Sink>
__global__ void __launch_bounds__(threads)
    select_kernel(const __grid_constant__ bit_area area,
                  const __grid_constant__ device_matrix_view<const std::int32_t> unions,
                  const __grid_constant__ Sink sink) {
  typename taker_of<Sink>::type taker(sink, area.of);
  const index_t col_in_panel = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
  const index_t col = area.cols.begin + col_in_panel;
  const bool valid = col < area.cols.end;
  const std::int32_t ones = valid ? area.right.row_offsets[col] : 0;
  const index_t rows = area.rows.end - area.rows.begin;
  for (index_t first = static_cast<index_t>(blockIdx.y) * block_rows; first < rows;
       first += static_cast<index_t>(gridDim.y) * block_rows) {
    take_group(area, taker, area.rows.begin + first, col, [&](int r) {
      if (!valid) return 0;
      const std::int32_t all = unions.data()[(first + r) * unions.row_stride() + col_in_panel];
      return area.left.row_offsets[area.rows.begin + first + r] - all + ones;
    });
  }
}

}  // namespace

template <class Sink>
void launch_tanimoto_select(const bit_area& area, device_matrix_view<const std::int32_t> unions,
                            const Sink& sink, cudaStream_t stream) {
  if (area.rows.empty() || area.cols.empty()) return;
  const dim3 grid(grid_blocks(area.cols.size(), threads),
                  grid_blocks(area.rows.size(), block_rows, most_grid_rows));
  select_kernel<Sink><<<grid, threads, 0, stream>>>(area, unions, sink);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

template void launch_tanimoto_select(const bit_area&, device_matrix_view<const std::int32_t>,
                                     const tanimoto_matrix<double>&, cudaStream_t);
template void launch_tanimoto_select(const bit_area&, device_matrix_view<const std::int32_t>,
                                     const tanimoto_matrix<float>&, cudaStream_t);
template void launch_tanimoto_select(const bit_area&, device_matrix_view<const std::int32_t>,
                                     const tanimoto_edges&, cudaStream_t);
template void launch_tanimoto_select(const bit_area&, device_matrix_view<const std::int32_t>,
                                     const tanimoto_counts&, cudaStream_t);
template void launch_tanimoto_select(const bit_area&, device_matrix_view<const std::int32_t>,
                                     const tanimoto_partners&, cudaStream_t);

}  // namespace gpu::kernels
