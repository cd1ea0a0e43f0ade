// Best partners in the caller's device memory, from estimates of all statistics.
#include <algorithm>

#include "cuda/pairs/on_device/sinks.hpp"

namespace gpu::cuda {
namespace {

// The most bytes of estimates, but for those of whole tiles of rows, and the share of the device's
// memory that those of a whole table may take: its products are then computed once for both rows.
constexpr std::size_t most_block_bytes = std::size_t{256} << 20;
constexpr std::size_t whole_table_share = 20;

index_t rows_of_block(const call_shape& shape) {
  const std::size_t whole =
      static_cast<std::size_t>(shape.area.rows.size()) * estimate_search::row_bytes(shape);
  const bool takes_whole =
      shape.area.rows == shape.area.cols && whole <= shape.device_bytes / whole_table_share;
  return estimate_search::rows_within(shape, takes_whole ? whole : most_block_bytes);
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
