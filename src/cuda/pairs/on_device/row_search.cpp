// Best partners in the caller's device memory, from whole rows: their statistics are written, and
// the best entries of each row are selected from them, a block of rows at a time. For what the
// search by groups does not take: long rows, long lists, devices without tensor cores.
#include <algorithm>

#include "cuda/pairs/on_device/sinks.hpp"
#include "cuda/pairs/programs/tile_step.hpp"
#include "cuda/pairs/rows/area_walk.hpp"
#include "cuda/pairs/rows/memory_sizes.hpp"
#include "kernels/top_k/kernels.hpp"
#include "plan/top_k_variants.hpp"

namespace gpu::cuda {
namespace {

// Whether the statistics of all rows are in memory at a time. The product of two rows is then
// computed once, and not for each of them; but memory of that size is mapped anew for every call.
bool takes_whole_table(const call_shape& shape, std::size_t bytes_of_row) {
  const detail::cuda_costs& machine = shape.machine;
  const double multiply = shape.format.tile == kernels::pair_tile_kind::tensor_float
                              ? machine.selected_double
                              : machine.selected_limb;
  const bool pays =
      multiply * static_cast<double>(shape.format.cols) > machine.mapped_byte * sizeof(double);
  return pays && shape.has_room &&
         fits_whole_table(shape, bytes_of_row, memory_sizes::parts_of_whole_statistics);
}

// Rows of statistics that are selected from at a time: whole tiles in any case.
index_t rows_of_block(const call_shape& shape, std::size_t bytes_of_row) {
  const index_t rows = shape.area.rows.size();
  const auto fitting =
      static_cast<index_t>(memory_sizes::selected_of_device_result / bytes_of_row) / rows_of_tile *
      rows_of_tile;
  return std::min(std::max(fitting, rows_of_tile), rows);
}

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
  block_rows_ = rows_of_block(shape, row_bytes);
  computed_rows_ = takes_whole_table(shape, row_bytes) ? shape.area.rows.size() : block_rows_;
  entries_ = std::min(sink.index.cols(), cols);
  const auto listed = static_cast<std::size_t>(block_rows_ * entries_);
  statistics_ = memory.take<double>(computed_rows_ * cols);
  // By value the statistics are the keys.
  const bool keys_are_values = sink.order == neighbor_order::by_value;
  keys_ = keys_are_values ? nullptr : memory.take<double>(block_rows_ * cols);
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

void stream_row_search::compute(const stream_rows& rows, detail::index_range block,
                                cudaStream_t stream) const {
  const detail::index_range& cols = shape_.area.cols;
  const auto step = dense_step(dense_tile_of<double>(shape_.format), statistics_, cols.size(),
                               block.begin, cols.begin);
  rows.for_each_panel(block, cols, kernels::pair_region::whole, step.tile,
                      [&](const kernels::pair_panel& panel) { step.launch(panel, stream); });
}

void stream_row_search::select(detail::index_range block, double* statistics,
                               const detail::keep_range& keep, cudaStream_t stream) const {
  const detail::index_range& cols = shape_.area.cols;
  const kernels::statistic_block whole{.statistics = statistics,
                                       .rows = block.size(),
                                       .cols = cols.size(),
                                       .first_row = block.begin,
                                       .first_col = cols.begin};
  double* const keys = keys_ == nullptr ? statistics : keys_;
  kernels::launch_partner_keys(whole, keep.at_least, keep.at_most, sink_.order, keys, stream);
  kernels::launch_top_k<double>(job_of(shape_, block.size(), entries_),
                                {keys, block.size(), cols.size()}, {best_, block.size(), entries_},
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
  for (index_t first = all.begin; first < all.end; first += computed_rows_) {
    const detail::index_range computed{first, std::min(first + computed_rows_, all.end)};
    compute(rows, computed, stream);
    for (index_t begin = computed.begin; begin < computed.end; begin += block_rows_) {
      select({begin, std::min(begin + block_rows_, computed.end)},
             statistics_ + (begin - first) * shape_.area.cols.size(), keep, stream);
    }
  }
}

}  // namespace gpu::cuda
