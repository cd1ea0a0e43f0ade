// The dense result of the CUDA pair engine: blocks of whole rows, computed while the block before
// is copied and stored.
#include <algorithm>
#include <type_traits>

#include "cuda/pairs/engine.hpp"
#include "cuda/pairs/programs/call_shape.hpp"
#include "cuda/pairs/rows/memory_sizes.hpp"
#include "cuda/transfer/row_download.hpp"

namespace gpu::cuda {
template <class Value>
kernels::pair_tile_kind cuda_engine::dense_tile() {
  const row_format& format = rows_->format();
  if constexpr (std::is_same_v<Value, float>) {
    if (takes_halves(format, variant_, area_, limits_of(ordinal_)) &&
        rows_->make_half_rows(budget_, stream())) {
      return kernels::pair_tile_kind::products_half;
    }
  }
  return dense_tile_of<Value>(format);
}

template <class Value>
void cuda_engine::write_dense(matrix_view<Value> out) {
  const device_guard guard(ordinal_);
  const index_t rows = area_.rows.size();
  const index_t cols = area_.cols.size();
  if (rows == 0 || cols == 0) return;
  const decision_scope deciding = decide_pairs({});
  const std::size_t row_bytes = static_cast<std::size_t>(cols) * sizeof(Value);
  budget_.require(2 * row_bytes, "two rows of the result");
  const std::size_t room = std::min(memory_sizes::downloaded_block, budget_.left() / 2);
  const index_t block_rows = rows_of_block(rows, row_bytes, room);

  const std::size_t block = static_cast<std::size_t>(block_rows * cols);
  const device_buffer<Value> blocks[2] = {{block, stream()}, {block, stream()}};
  const kernels::pair_tile_kind tile = dense_tile<Value>();
  event computed[2];
  event sent[2];
  row_download<Value> download(out, cpu_threads_, output_.get());
  const auto walk = walk_pairs("pairs", rows);
  walk_blocks(
      *walk, walk->fair_pieces(block_rows, rows),
      [&](index_range range, int slot) {
        GPU_SIMILARITY_CUDA_CHECK(cudaStreamWaitEvent(stream(), sent[slot].get()));
        const row_range taken = from_walk(area_, range);
        launch_dense(dense_step(tile, blocks[slot].data(), cols, taken.begin, area_.cols.begin),
                     taken);
        GPU_SIMILARITY_CUDA_CHECK(cudaEventRecord(computed[slot].get(), stream()));
      },
      [&](index_range range, int slot) {
        GPU_SIMILARITY_CUDA_CHECK(cudaStreamWaitEvent(output_.get(), computed[slot].get()));
        download.copy(blocks[slot].data(), range);
        GPU_SIMILARITY_CUDA_CHECK(cudaEventRecord(sent[slot].get(), output_.get()));
        walk->advance(pairs_of(from_walk(area_, range)));
      });
  download.finish();
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream()));
  walk->finish();
}

void cuda_engine::dense(matrix_view<double> out) {
  write_dense(out);
}

void cuda_engine::dense(matrix_view<float> out) {
  write_dense(out);
}

}  // namespace gpu::cuda
