#include "cuda/pairs/programs/estimate_search.hpp"

#include <algorithm>

namespace gpu::cuda {
namespace {

constexpr index_t tile_rows = kernels::policy::half_tile_rows;

}  // namespace

bool estimate_search::takes(const call_shape& shape, index_t k) {
  return shape.has_room && shape.has_half_products && k <= kernels::neighbor_most_listed &&
         shape.format.cols <= kernels::most_estimated_columns;
}

index_t estimate_search::rows_within(const call_shape& shape, std::size_t bytes) {
  const index_t rows = shape.area.rows.size();
  const auto fitting = static_cast<index_t>(bytes / std::max<std::size_t>(row_bytes(shape), 1));
  if (fitting >= rows) return rows;
  return std::min(std::max(fitting / tile_rows * tile_rows, tile_rows), rows);
}

tile_step<kernels::dense_sink_args> estimate_search::estimate(detail::index_range block) const {
  const detail::index_range& cols = shape_.area.cols;
  return dense_step(tile, estimates_, cols.size(), block.begin, cols.begin);
}

void estimate_search::choose(const kernels::pair_operand& source,
                             const kernels::neighbor_query& query, detail::index_range block,
                             const kernels::neighbor_result& lists, cudaStream_t stream) const {
  const detail::index_range& cols = shape_.area.cols;
  kernels::launch_estimate_choice(source,
                                  {.estimates = estimates_,
                                   .rows = block.size(),
                                   .cols = cols.size(),
                                   .first_row = block.begin,
                                   .first_col = cols.begin,
                                   .error = kernels::half_product_error(shape_.format.cols)},
                                  query, lists, stream);
}

}  // namespace gpu::cuda
