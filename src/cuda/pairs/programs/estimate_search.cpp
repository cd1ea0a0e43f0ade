#include "cuda/pairs/programs/estimate_search.hpp"

#include <algorithm>

namespace gpu::cuda {
namespace {

constexpr index_t tile_rows = kernels::policy::half_tile_rows;
constexpr index_t more_partners = 2;  // than are asked for whose estimates do not exclude them

bool has_limbs(const call_shape& shape) {
  return shape.format.tile == kernels::pair_tile_kind::tensor_limbs;
}

// Whether to read the ranks of k partners and some anew is less than what exact statistics in
// double precision cost, which are written, and read several times.
bool limbs_pay(const call_shape& shape, index_t k) {
  constexpr double times_read = 4;
  const double anew = static_cast<double>(k + more_partners) *
                      static_cast<double>(shape.format.limbs * shape.format.columns);
  return anew <= times_read * sizeof(double) * static_cast<double>(shape.area.cols.size());
}

// The same of unit rows, where what exact statistics cost is the time of their products in double
// precision, less that by halves.
bool halves_pay(const call_shape& shape, index_t k, estimate_search::other_way instead) {
  const detail::cuda_costs& machine = shape.machine;
  const bool selects = instead == estimate_search::other_way::selection;
  const bool is_once = selects && shape.area.rows == shape.area.cols;
  const auto cols = static_cast<double>(shape.format.cols);
  const auto rows = static_cast<double>(std::max<index_t>(shape.area.rows.size(), 1));
  const double fill = std::max(1.0, machine.filling_rows * shape.multiprocessors / rows);
  const double read_byte = machine.unit_byte * (1 + cols / machine.slow_columns) * fill;
  const double bytes = rows * static_cast<double>(k + more_partners) * cols * sizeof(double);
  const double products = rows * static_cast<double>(shape.area.cols.size()) * cols;
  const double exact = products * machine.saved_by_halves * (is_once ? 1 : 2);
  return bytes * read_byte <= exact + (selects ? 0 : machine.candidate_start);
}

}  // namespace

bool estimate_search::takes(const call_shape& shape, index_t k, other_way instead) {
  if (!shape.has_room || !shape.has_estimates || k > kernels::neighbor_most_listed) return false;
  if (!has_limbs(shape) && shape.format.cols > kernels::most_estimated_columns) return false;
  return shape.is_never_short ||
         (has_limbs(shape) ? limbs_pay(shape, k) : halves_pay(shape, k, instead));
}

index_t estimate_search::rows_within(const call_shape& shape, std::size_t bytes) {
  const index_t rows = shape.area.rows.size();
  const auto fitting = static_cast<index_t>(bytes / std::max<std::size_t>(row_bytes(shape), 1));
  if (fitting >= rows) return rows;
  return std::min(std::max(fitting / tile_rows * tile_rows, tile_rows), rows);
}

tile_step<kernels::dense_sink_args> estimate_search::estimate(detail::index_range block) const {
  const detail::index_range& cols = shape_.area.cols;
  const kernels::pair_tile_kind tile =
      has_limbs(shape_) ? shape_.format.deciding_tile() : kernels::pair_tile_kind::products_half;
  return dense_step(tile, estimates_, cols.size(), block.begin, cols.begin);
}

void estimate_search::choose(const kernels::pair_operand& source,
                             const kernels::neighbor_query& query, detail::index_range block,
                             const kernels::neighbor_result& lists, cudaStream_t stream) const {
  const detail::index_range& cols = shape_.area.cols;
  kernels::launch_estimate_choice(
      source,
      {.estimates = estimates_,
       .rows = block.size(),
       .cols = cols.size(),
       .first_row = block.begin,
       .first_col = cols.begin,
       .error = has_limbs(shape_) ? kernels::rounded_statistic_error
                                  : kernels::half_product_error(shape_.format.cols)},
      query, lists, stream);
}

}  // namespace gpu::cuda
