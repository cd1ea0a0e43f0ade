// Best partners in the caller's device memory, from estimates of all statistics.
#include <algorithm>

#include "cuda/pairs/on_device/sinks.hpp"
#include "cuda/pairs/rows/memory_sizes.hpp"

namespace gpu::cuda {
namespace {

index_t rows_of_block(const call_shape& shape) {
  const std::size_t row_bytes = estimate_search::row_bytes(shape);
  const bool takes_whole =
      fits_whole_table(shape, row_bytes, memory_sizes::parts_of_whole_estimates);
  const std::size_t whole = static_cast<std::size_t>(shape.area.rows.size()) * row_bytes;
  return estimate_search::rows_within(
      shape, takes_whole ? whole : memory_sizes::estimates_of_device_result);
}

}  // namespace

stream_estimate_search::stream_estimate_search(const call_shape& shape,
                                               const device_top_k_sink& sink, arena& memory)
    : shape_(shape),
      sink_(sink),
      block_rows_(rows_of_block(shape)),
      search_(shape, block_rows_, memory),
      lists_(sink, block_rows_, memory) {}

void stream_estimate_search::run(const stream_rows& rows, const detail::keep_range& keep,
                                 cudaStream_t stream) const {
  const kernels::pair_operand source = rows.all(shape_.format.tile);
  const kernels::neighbor_query query = query_of(keep, sink_.index.cols(), sink_.order);
  const detail::index_range& all = shape_.area.rows;
  for (index_t first = all.begin; first < all.end; first += block_rows_) {
    const detail::index_range block{first, std::min(first + block_rows_, all.end)};
    const auto step = search_.estimate(block);
    rows.for_each_panel(block, shape_.area.cols, kernels::pair_region::whole, step.tile,
                        [&](const kernels::pair_panel& panel) { step.launch(panel, stream); });
    search_.choose(source, query, block, lists_.of(first - all.begin), stream);
    lists_.store(first - all.begin, block.size(), stream);
  }
}

}  // namespace gpu::cuda
