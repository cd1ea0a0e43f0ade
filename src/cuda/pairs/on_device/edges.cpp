// Edges in the caller's device memory: found, decided and put in order as those of host results, all
// in one queue. kernels/pairs/on_device/edges.cu says what becomes of a queue that overflows.
#include <algorithm>

#include "cuda/pairs/on_device/sinks.hpp"
#include "cuda_runtime/cuda_check.hpp"
#include "kernels/pairs/edges/kernels.hpp"
#include "pairs/area.hpp"
#include "stats/significance/significance.hpp"

namespace gpu::cuda {

using kernels::pair_tile_kind;

stream_edges::stream_edges(const call_shape& shape, const device_edge_sink& sink, arena& memory)
    : shape_(shape),
      sink_(sink),
      pairs_(detail::pairs_in(shape.area)),
      capacity_(std::min(pairs_, static_cast<std::uint64_t>(sink.edges.size()) +
                                     static_cast<std::uint64_t>(shape.area.cols.size()))),
      table_(stats::p_table_for(shape.what.info.test, shape.format.cols)) {
  const bool may_overflow = capacity_ < pairs_;
  const auto rows = static_cast<std::size_t>(may_overflow ? shape.rows : 0);
  table_there_ = memory.take<stats::p_table>(1);
  state_ = memory.take<kernels::edge_state>(1);
  for (candidate_places& queue : queues_) queue = candidate_places::in(memory, capacity_);
  per_row_ = memory.take<unsigned long long>(rows);
  sums_ = memory.take<unsigned long long>(rows);
  scratch_.bytes = kernels::sort_scratch_bytes(capacity_);
  if (may_overflow) {
    scratch_.bytes = std::max(scratch_.bytes, kernels::limit_scratch_bytes(shape.rows));
  }
  scratch_.data = memory.take<std::byte>(scratch_.bytes);
}

// Fills the queue, with the edges that come first where not all fit.
void stream_edges::find(const stream_rows& rows, const detail::keep_range& keep,
                        cudaStream_t stream) const {
  const pair_tile_kind tile = shape_.format.deciding_tile();
  kernels::candidate_sink_args args = queues_[0].sink(
      kernels::estimate_cut(keep, estimate_error(shape_.format, tile)), &state_->queued);
  args.content = kernels::queue_content::kept;
  const auto pass = [&] {
    rows.for_each_pair_panel(tile, [&](const kernels::pair_panel& panel) {
      kernels::launch_pairs(tile, panel, args, stream);
    });
  };
  pass();
  kernels::launch_note_found(state_, capacity_, shape_.rows, stream);
  if (capacity_ == pairs_) return;
  GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(
      per_row_, 0, static_cast<std::size_t>(shape_.rows) * sizeof *per_row_, stream));
  args.end_row = &state_->end_row;
  args.per_row = per_row_;
  pass();
  kernels::launch_limit_rows(state_, per_row_, sums_, shape_.rows,
                             static_cast<std::uint64_t>(sink_.edges.size()), capacity_,
                             scratch_.data, scratch_.bytes, stream);
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
  if (capacity_ > 0) {
    find(rows, keep, stream);
    const pair_tile_kind tile = shape_.format.deciding_tile();
    sorted = settle_candidates({.tile = tile,
                                .rows = rows.all(tile),
                                .keep = detail::pair_cut::of(keep),
                                .layout = layout},
                               queues_, capacity_, &state_->queued, nullptr, scratch_, stream);
  }
  const candidate_places& edges = queues_[sorted];
  kernels::launch_write_edges({edges.keys, edges.values, layout, &state_->found}, 0,
                              static_cast<std::uint64_t>(sink_.edges.size()),
                              {table_there_, sink_.keep.side}, sink_.edges.data(), nullptr, stream);
  static_assert(sizeof state_->found == sizeof *sink_.found.data());
  GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(sink_.found.data(), &state_->found,
                                            sizeof state_->found, cudaMemcpyDeviceToDevice,
                                            stream));
}

}  // namespace gpu::cuda
