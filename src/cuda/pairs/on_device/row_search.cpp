// Best partners in the caller's device memory, from whole rows: a block of rows of statistics is
// written, and the best entries of each row are selected from it. For what the search by groups
// does not take: long rows, long lists, devices without tensor cores.
#include <algorithm>

#include "cuda/pairs/on_device/sinks.hpp"
#include "cuda/pairs/programs/tile_step.hpp"
#include "kernels/top_k/kernels.hpp"
#include "plan/top_k_variants.hpp"

namespace gpu::cuda {
namespace {

// The most bytes of the statistics of a block; a block has whole tiles of rows in any case.
constexpr std::size_t most_block_bytes = std::size_t{256} << 20;
constexpr index_t tile_rows = 128;

kernels::top_k_job job_of(const call_shape& shape, index_t rows, index_t entries) {
  const index_t cols = shape.area.cols.size();
  const top_k_variant variant =
      detail::choose_top_k_variant({.rows = rows,
                                    .cols = cols,
                                    .k = entries,
                                    .element_bytes = sizeof(double),
                                    .shared_bytes = shape.block_shared_bytes},
                                   backend::cuda, top_k_variant::automatic);
  return {.rows = rows,
          .cols = cols,
          .k = entries,
          .largest = true,
          .sorted = true,
          .variant = variant,
          .multiprocessors = shape.multiprocessors,
          .shared_bytes = shape.block_shared_bytes};
}

}  // namespace

stream_row_search::stream_row_search(const call_shape& shape, const device_top_k_sink& sink,
                                     arena& memory)
    : shape_(shape), sink_(sink), scratch_bytes_(0) {
  const index_t cols = shape.area.cols.size();
  const auto row_bytes = static_cast<std::size_t>(std::max<index_t>(cols, 1)) * sizeof(double);
  const auto fitting = static_cast<index_t>(most_block_bytes / row_bytes) / tile_rows * tile_rows;
  block_rows_ = std::min(std::max(fitting, tile_rows), shape.area.rows.size());
  entries_ = std::min(sink.index.cols(), cols);
  const auto block = static_cast<std::size_t>(block_rows_ * cols);
  const auto listed = static_cast<std::size_t>(block_rows_ * entries_);
  statistics_ = memory.take<double>(block);
  // By value the statistics are the keys.
  keys_ = sink.order == neighbor_order::by_value ? statistics_ : memory.take<double>(block);
  best_ = memory.take<double>(listed);
  columns_ = memory.take<index_t>(listed);
  if (listed > 0) {
    // The last block may have fewer rows, and take another way.
    const index_t last = (shape.area.rows.size() - 1) % block_rows_ + 1;
    for (const index_t rows : {block_rows_, last}) {
      scratch_bytes_ =
          std::max(scratch_bytes_, kernels::top_k_workspace<double>(job_of(shape, rows, entries_)));
    }
  }
  scratch_ = memory.take<std::byte>(scratch_bytes_);
}

void stream_row_search::search(const stream_rows& rows, detail::index_range block,
                               const detail::keep_range& keep, cudaStream_t stream) const {
  const detail::index_range& cols = shape_.area.cols;
  const auto step = dense_step(dense_tile_of<double>(shape_.format), statistics_, cols.size(),
                               block.begin, cols.begin);
  rows.for_each_panel(block, cols, kernels::pair_region::whole, step.tile,
                      [&](const kernels::pair_panel& panel) { step.launch(panel, stream); });
  const kernels::statistic_block whole{.statistics = statistics_,
                                       .rows = block.size(),
                                       .cols = cols.size(),
                                       .first_row = block.begin,
                                       .first_col = cols.begin};
  kernels::launch_partner_keys(whole, keep.at_least, keep.at_most, sink_.order, keys_, stream);
  kernels::launch_top_k<double>(job_of(shape_, block.size(), entries_),
                                {keys_, block.size(), cols.size()}, {best_, block.size(), entries_},
                                {columns_, block.size(), entries_}, scratch_, stream);
  const index_t first = block.begin - shape_.area.rows.begin;
  kernels::launch_write_partners(whole, best_, columns_, entries_,
                                 {.k = sink_.index.cols(),
                                  .index = sink_.index.row(first),
                                  .index_pitch = sink_.index.row_stride(),
                                  .statistic = sink_.statistic.row(first),
                                  .statistic_pitch = sink_.statistic.row_stride(),
                                  .count = sink_.count.data() + first},
                                 stream);
}

void stream_row_search::run(const stream_rows& rows, const detail::keep_range& keep,
                            cudaStream_t stream) const {
  const detail::index_range& all = shape_.area.rows;
  if (entries_ == 0) {
    kernels::launch_write_partners(
        {.statistics = nullptr, .rows = all.size(), .cols = 0, .first_row = 0, .first_col = 0},
        best_, columns_, 0,
        {.k = sink_.index.cols(),
         .index = sink_.index.data(),
         .index_pitch = sink_.index.row_stride(),
         .statistic = sink_.statistic.data(),
         .statistic_pitch = sink_.statistic.row_stride(),
         .count = sink_.count.data()},
        stream);
    return;
  }
  for (index_t begin = all.begin; begin < all.end; begin += block_rows_) {
    search(rows, {begin, std::min(begin + block_rows_, all.end)}, keep, stream);
  }
}

}  // namespace gpu::cuda
