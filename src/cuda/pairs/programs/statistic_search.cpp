#include "cuda/pairs/programs/statistic_search.hpp"

#include <algorithm>

#include "cuda/pairs/programs/group_search.hpp"
#include "cuda/pairs/rows/area_walk.hpp"
#include "cuda/pairs/rows/memory_sizes.hpp"
#include "plan/top_k_variants.hpp"

namespace gpu::cuda {
namespace {

using kernels::pair_tile_kind;

constexpr index_t more_partners = 2;  // than are asked for whose estimates do not exclude them

bool has_limbs(const call_shape& shape) {
  return shape.format.tile == pair_tile_kind::tensor_limbs;
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
bool halves_pay(const call_shape& shape, index_t k) {
  const detail::cuda_costs& machine = shape.machine;
  const bool is_once = shape.area.rows == shape.area.cols;
  const auto cols = static_cast<double>(shape.format.cols);
  const auto rows = static_cast<double>(std::max<index_t>(shape.area.rows.size(), 1));
  const double fill = std::max(1.0, machine.filling_rows * shape.multiprocessors / rows);
  const double read_byte = machine.unit_byte * (1 + cols / machine.slow_columns) * fill;
  const double bytes = rows * static_cast<double>(k + more_partners) * cols * sizeof(double);
  const double products = rows * static_cast<double>(shape.area.cols.size()) * cols;
  const double exact = products * machine.saved_by_halves * (is_once ? 1 : 2);
  return bytes * read_byte <= exact;
}

float error_of_estimates(const call_shape& shape) {
  if (has_limbs(shape)) return kernels::rounded_statistic_error;
  if (shape.estimates == pair_tile_kind::products_half) {
    return kernels::half_product_error(shape.format.cols);
  }
  return static_cast<float>(estimate_error(shape.format, *shape.estimates));
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

bool estimate_search::takes(const call_shape& shape, index_t k) {
  if (!shape.has_room || !shape.estimates || k > kernels::neighbor_most_listed) return false;
  if (!has_limbs(shape) && shape.format.cols > kernels::most_estimated_columns) return false;
  if (shape.is_never_short) return true;
  if (has_limbs(shape)) return limbs_pay(shape, k);
  return shape.estimates != pair_tile_kind::products_half || halves_pay(shape, k);
}

tile_step<kernels::dense_sink_args> estimate_search::compute(detail::index_range block) const {
  const detail::index_range& cols = shape_.area.cols;
  return dense_step(*shape_.estimates, estimates_, cols.size(), block.begin, cols.begin);
}

void estimate_search::choose(const kernels::pair_operand& source, const detail::pair_cut& keep,
                             detail::index_range block, const kernels::neighbor_result& lists,
                             cudaStream_t stream) const {
  const detail::index_range& cols = shape_.area.cols;
  kernels::launch_estimate_choice(source,
                                  {.estimates = estimates_,
                                   .rows = block.size(),
                                   .cols = cols.size(),
                                   .first_row = block.begin,
                                   .first_col = cols.begin,
                                   .error = error_of_estimates(shape_)},
                                  query_of(keep.widest, k_, order_), lists, stream);
}

bool row_search::takes_whole_table(const call_shape& shape) {
  const detail::cuda_costs& machine = shape.machine;
  const double multiply = shape.format.tile == pair_tile_kind::tensor_float
                              ? machine.selected_double
                              : machine.selected_limb;
  return shape.has_room &&
         multiply * static_cast<double>(shape.format.cols) > machine.mapped_byte * sizeof(double);
}

row_search::row_search(const call_shape& shape, index_t k, neighbor_order order, index_t most_rows,
                       arena& memory)
    : shape_(shape),
      k_(k),
      order_(order),
      job_(job_of(shape,
                  rows_of_block(most_rows, row_bytes(shape), memory_sizes::selected_statistics),
                  std::min(k, shape.area.cols.size()))) {
  statistics_ = memory.take<double>(most_rows * job_.cols);
  // By value the statistics are the keys.
  keys_ = order == neighbor_order::by_value ? nullptr : memory.take<double>(job_.rows * job_.cols);
  best_ = memory.take<double>(job_.rows * job_.k);
  columns_ = memory.take<index_t>(job_.rows * job_.k);
  scratch_ =
      memory.take<std::byte>(job_.rows * job_.k > 0 ? kernels::top_k_workspace<double>(job_) : 0);
}

tile_step<kernels::dense_sink_args> row_search::compute(detail::index_range block) const {
  return dense_step(dense_tile_of<double>(shape_.format), statistics_, job_.cols, block.begin,
                    shape_.area.cols.begin);
}

void row_search::choose(const kernels::pair_operand& source, const detail::pair_cut& keep,
                        detail::index_range block, const kernels::neighbor_result& lists,
                        cudaStream_t stream) const {
  kernels::top_k_job job = job_;
  for (index_t first = 0; first < block.size(); first += job_.rows) {
    job.rows = std::min(job_.rows, block.size() - first);
    double* const statistics = statistics_ + first * job.cols;
    double* const keys = keys_ == nullptr ? statistics : keys_;
    const kernels::statistic_block whole{.statistics = statistics,
                                         .rows = job.rows,
                                         .cols = job.cols,
                                         .first_row = block.begin + first,
                                         .first_col = shape_.area.cols.begin};
    if (job.k > 0) {
      kernels::launch_partner_keys(whole, keep, source.square_sums, order_, keys, stream);
      kernels::launch_top_k<double>(job, {keys, job.rows, job.cols}, {best_, job.rows, job.k},
                                    {columns_, job.rows, job.k}, scratch_, stream);
    }
    kernels::launch_write_partners(whole, best_, columns_, job.k, k_,
                                   {.index = lists.index + first * k_,
                                    .statistic = lists.statistic + first * k_,
                                    .count = lists.count + first},
                                   stream);
  }
}

}  // namespace gpu::cuda
