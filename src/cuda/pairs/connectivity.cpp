// Connectivity on CUDA: blocks of whole rows of statistics in device memory, as of a dense result,
// whose powers a second kernel adds up; the block never leaves the device.
#include <algorithm>

#include "cuda/pairs/engine.hpp"
#include "cuda/pairs/programs/call_shape.hpp"
#include "cuda/pairs/rows/memory_sizes.hpp"
#include "kernels/pairs/connectivity/kernels.hpp"

namespace gpu::cuda {
void cuda_engine::connectivity(const detail::connectivity_request& request,
                               matrix_view<double> out) {
  const device_guard guard(ordinal_);
  const index_t rows = area_.rows.size();
  const index_t cols = area_.cols.size();
  if (rows == 0) return;
  const decision_scope deciding = decide_pairs({});
  const auto powers = static_cast<index_t>(request.steps.size());
  const index_t row_partial = kernels::connectivity_segments(cols) * powers;
  const auto row_bytes = static_cast<std::size_t>(cols + row_partial) * sizeof(double);
  const auto result_bytes = static_cast<std::size_t>(rows * powers) * sizeof(double);
  budget_.require(result_bytes + row_bytes, "the sums of all rows and a row of statistics");
  const std::size_t room =
      std::min(memory_sizes::connectivity_block, budget_.left() - result_bytes);
  const index_t block_rows = rows_of_block(rows, row_bytes, room);
  const device_buffer<double> block(static_cast<std::size_t>(block_rows * cols), stream());
  const device_buffer<double> partial(static_cast<std::size_t>(block_rows * row_partial), stream());
  const device_buffer<double> sums(static_cast<std::size_t>(rows * powers), stream());
  const kernels::pair_tile_kind tile = dense_tile_of<double>(rows_->format());
  const auto walk = walk_pairs("pairs", rows);
  event done[2];
  walk_blocks(
      *walk, walk->fair_pieces(block_rows, rows),
      [&](index_range range, int slot) {
        const row_range asked = from_walk(area_, range);
        launch_dense(dense_step(tile, block.data(), cols, asked.begin, area_.cols.begin), asked);
        kernels::launch_connectivity({.statistics = block.data(),
                                      .rows = range.size(),
                                      .cols = cols,
                                      .first_self = asked.begin - area_.cols.begin},
                                     request.network, request.steps, partial.data(),
                                     sums.data() + range.begin * powers, stream());
        GPU_SIMILARITY_CUDA_CHECK(cudaEventRecord(done[slot].get(), stream()));
      },
      [&](index_range range, int slot) {
        GPU_SIMILARITY_CUDA_CHECK(cudaStreamWaitEvent(output_.get(), done[slot].get()));
        read_back(out.row(range.begin), sums.data() + range.begin * powers, range.size() * powers,
                  output_.get());
        walk->advance(pairs_of(from_walk(area_, range)));
      });
  walk->finish();
}

}  // namespace gpu::cuda
