// The dense result of the CUDA pair engine: blocks of whole rows, computed, copied and stored while
// the next block is computed.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "cuda/pair_engine.hpp"

namespace gpu::cuda {
namespace {
constexpr std::size_t block_bytes = std::size_t{64} << 20;
}  // namespace

template <class Value>
void pair_engine::write_dense(matrix_view<Value> out) {
  const device_guard guard(ordinal_);
  const index_t rows = count();
  if (rows == 0) return;
  const std::size_t row_bytes = static_cast<std::size_t>(rows) * sizeof(Value);
  budget_.require(2 * row_bytes, "two rows of the result");
  const std::size_t room = std::min(block_bytes, budget_.left() / 2);
  index_t step = std::clamp<index_t>(static_cast<index_t>(room / row_bytes), 1, rows);
  if (step > 128) step = step / 128 * 128;

  const std::size_t block = static_cast<std::size_t>(step * rows);
  device_buffer<Value> device_blocks[2] = {{block, stream()}, {block, stream()}};
  pinned_buffer<Value> host_blocks[2] = {pinned_buffer<Value>(block), pinned_buffer<Value>(block)};
  event copied[2];
  row_range pending[2];
  const auto walk = walk_pairs("pairs", rows);
  const pair_walk::piece piece = [&](index_t begin) {
    return static_cast<index_t>(
        walk->fair(static_cast<double>(step), static_cast<double>(rows - begin), 1));
  };
  const auto store = [&](int slot) {
    const row_range range = pending[slot];
    if (range.size() == 0) return;
    GPU_SIMILARITY_CUDA_CHECK(cudaEventSynchronize(copied[slot].get()));
    for (index_t i = 0; i < range.size(); ++i) {
      std::memcpy(out.row(range.begin + i), host_blocks[slot].data() + i * rows, row_bytes);
    }
    pending[slot] = {};
    walk->advance(upper_pairs(range, rows));
  };
  int slot = 0;
  for (;; slot = 1 - slot) {
    store(slot);
    const row_range range = walk->take(piece);
    if (range.empty()) break;
    kernels::dense_sink_args sink{.pitch = rows, .first_row = range.begin, .first_col = 0};
    if constexpr (std::is_same_v<Value, double>) {
      sink.out_double = device_blocks[slot].data();
    } else {
      sink.out_float = device_blocks[slot].data();
    }
    const kernels::pair_tile_kind tile = rows_->format().tile;
    rows_->for_each_panel(range, {0, rows}, kernels::pair_region::whole, tile, stream(),
                          [&](const kernels::pair_panel& panel) {
                            kernels::launch_pairs(tile, panel, sink, stream());
                          });
    GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(host_blocks[slot].data(), device_blocks[slot].data(),
                                              static_cast<std::size_t>(range.size()) * row_bytes,
                                              cudaMemcpyDeviceToHost, stream()));
    GPU_SIMILARITY_CUDA_CHECK(cudaEventRecord(copied[slot].get(), stream()));
    pending[slot] = range;
  }
  store(1 - slot);
  walk->finish();
}

void pair_engine::dense(matrix_view<double> out) {
  write_dense(out);
}

void pair_engine::dense(matrix_view<float> out) {
  write_dense(out);
}

}  // namespace gpu::cuda
