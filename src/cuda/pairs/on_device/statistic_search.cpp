// Best partners in the caller's device memory, from whole rows of statistics or of estimates.
#include <algorithm>

#include "cuda/pairs/on_device/sinks.hpp"
#include "cuda/pairs/rows/area_walk.hpp"
#include "cuda/pairs/rows/memory_sizes.hpp"

namespace gpu::cuda {
namespace {

// Rows whose statistics are there at a time: a tile at least, and all where a table meets itself
// and they take a small part of the device's memory. Each product is then computed once, and not
// for both rows.
template <class Search>
index_t rows_at_a_time(const call_shape& shape) {
  const index_t rows = shape.area.rows.size();
  const std::size_t doubles = static_cast<std::size_t>(rows) * row_search::row_bytes(shape);
  if (shape.area.rows == shape.area.cols &&
      doubles <= shape.device_bytes / memory_sizes::parts_of_whole_statistics &&
      Search::takes_whole_table(shape)) {
    return rows;
  }
  return std::max(rows_of_block(rows, Search::row_bytes(shape), memory_sizes::selected_statistics),
                  std::min<index_t>(rows, kernels::policy::half_tile_rows));
}

}  // namespace

template <class Search>
stream_statistic_search<Search>::stream_statistic_search(const call_shape& shape,
                                                         const device_top_k_sink& sink,
                                                         arena& memory)
    : shape_(shape),
      block_rows_(rows_at_a_time<Search>(shape)),
      search_(shape, sink.index.cols(), sink.order, block_rows_, memory),
      lists_(sink, block_rows_, memory) {}

template <class Search>
void stream_statistic_search<Search>::run(const stream_rows& rows, const detail::keep_range& keep,
                                          cudaStream_t stream) const {
  const kernels::pair_operand source = rows.all(shape_.format.tile);
  const detail::index_range& all = shape_.area.rows;
  for (index_t first = all.begin; first < all.end; first += block_rows_) {
    const detail::index_range block{first, std::min(first + block_rows_, all.end)};
    const auto step = search_.compute(block);
    rows.for_each_panel(block, shape_.area.cols, kernels::pair_region::whole, step.tile,
                        [&](const kernels::pair_panel& panel) { step.launch(panel, stream); });
    search_.choose(source, detail::pair_cut::of(keep), block, lists_.of(first - all.begin), stream);
    lists_.store(first - all.begin, block.size(), stream);
  }
}

template class stream_statistic_search<estimate_search>;
template class stream_statistic_search<row_search>;

}  // namespace gpu::cuda
