// Edges in the caller's device memory: see kernels/pairs/on_device/edges.cu.
#include <algorithm>

#include "cuda/pairs/on_device/sinks.hpp"
#include "cuda_runtime/cuda_check.hpp"
#include "pairs/area.hpp"
#include "stats/significance/significance.hpp"

namespace gpu::cuda {

using kernels::pair_tile_kind;

stream_edges::stream_edges(const call_shape& shape, const device_edge_sink& sink, arena& memory)
    : shape_(shape),
      sink_(sink),
      pairs_(detail::pairs_in(shape.area)),
      queue_(std::min(pairs_, static_cast<std::uint64_t>(sink.edges.size()) +
                                  static_cast<std::uint64_t>(shape.area.cols.size()))),
      table_(stats::p_table_for(shape.what.info.test, shape.format.cols)) {
  const bool may_overflow = queue_ < pairs_;
  const auto rows = static_cast<std::size_t>(may_overflow ? shape.rows : 0);
  table_there_ = memory.take<stats::p_table>(1);
  state_ = memory.take<kernels::edge_state>(1);
  for (std::uint64_t*& keys : keys_) keys = memory.take<std::uint64_t>(queue_);
  for (std::uint64_t*& values : values_) values = memory.take<std::uint64_t>(queue_);
  per_row_ = memory.take<unsigned long long>(rows);
  sums_ = memory.take<unsigned long long>(rows);
  scratch_bytes_ = kernels::sort_scratch_bytes(queue_);
  if (may_overflow) {
    scratch_bytes_ = std::max(scratch_bytes_, kernels::limit_scratch_bytes(shape.rows));
  }
  scratch_ = memory.take<std::byte>(scratch_bytes_);
}

// Fills the queue, with the edges that come first where not all fit.
void stream_edges::find(const stream_rows& rows, const detail::keep_range& keep,
                        cudaStream_t stream) const {
  const pair_tile_kind tile = shape_.format.deciding_tile();
  kernels::candidate_sink_args args{
      .cut = kernels::estimate_cut(keep, estimate_error(shape_.format, tile)),
      .keys = keys_[0],
      .products = values_[0],
      .capacity = queue_,
      .count = &state_->queued,
      .content = kernels::queue_content::kept};
  const auto pass = [&] {
    rows.for_each_pair_panel(tile, [&](const kernels::pair_panel& panel) {
      kernels::launch_pairs(tile, panel, args, stream);
    });
  };
  pass();
  kernels::launch_note_found(state_, queue_, shape_.rows, stream);
  if (queue_ == pairs_) return;
  GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(
      per_row_, 0, static_cast<std::size_t>(shape_.rows) * sizeof *per_row_, stream));
  args.end_row = &state_->end_row;
  args.per_row = per_row_;
  pass();
  const auto capacity = static_cast<std::uint64_t>(sink_.edges.size());
  kernels::launch_limit_rows(state_, per_row_, sums_, shape_.rows, capacity, queue_, scratch_,
                             scratch_bytes_, stream);
  args.per_row = nullptr;
  pass();
}

void stream_edges::run(const stream_rows& rows, const detail::keep_range& keep,
                       cudaStream_t stream) const {
  GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(state_, 0, sizeof *state_, stream));
  kernels::launch_store(table_.get(), sizeof *table_, table_there_, stream);
  const detail::pair_area& area = shape_.area;
  const auto layout = kernels::edge_key_layout::of_rows(area.rows.begin, area.rows.end,
                                                        area.cols.begin, area.cols.size());
  int sorted = 0;
  if (queue_ > 0) {
    find(rows, keep, stream);
    const pair_tile_kind tile = shape_.format.deciding_tile();
    kernels::launch_finish_queue({.tile = tile,
                                  .rows = rows.all(tile),
                                  .cols = rows.all(tile),
                                  .keep = detail::pair_cut::of(keep),
                                  .keys = keys_[0],
                                  .values = values_[0],
                                  .count = 0,
                                  .kept = nullptr,
                                  .layout = layout},
                                 state_, queue_, stream);
    sorted = kernels::sort_candidates(scratch_, scratch_bytes_, keys_, values_, queue_, layout.bits,
                                      stream);
  }
  kernels::launch_write_found(state_, keys_[sorted], values_[sorted], layout,
                              {table_there_, sink_.keep.side},
                              static_cast<std::uint64_t>(sink_.edges.size()), sink_.edges.data(),
                              sink_.found.data(), stream);
}

}  // namespace gpu::cuda
