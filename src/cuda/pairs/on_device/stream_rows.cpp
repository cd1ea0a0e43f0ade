#include "cuda/pairs/on_device/stream_rows.hpp"

#include <algorithm>

#include "cuda/pairs/rows/area_walk.hpp"
#include "cuda/pairs/rows/gathered_block.hpp"
#include "cuda/pairs/rows/memory_sizes.hpp"
#include "cuda/pairs/rows/row_products.hpp"
#include "cuda_runtime/device_code.hpp"
#include "cuda_runtime/device_limits.hpp"
#include "kernels/pairs/prepare/kernels.hpp"
#include "pairs/tables.hpp"
#include "plan/forced/forced_ways.hpp"
#include "plan/pair_variants.hpp"

namespace gpu::cuda {
namespace {

using detail::index_range;
using kernels::pair_region;
using kernels::pair_tile_kind;

// Pairs of one launch, far from the limits of a grid and of what a launch counts in 32 bits.
constexpr index_t launch_pairs = index_t{1} << 36;

}  // namespace

call_shape shape_of(const detail::device_pair_call& call, bool may_be_ready) {
  const device_limits& limits = current_limits();
  const index_t cols = call.input.cols();
  const index_t rows = call.input.rows();
  const loaded_code& code = current_code();
  const int capability = limits.compute_major * 10 + limits.compute_minor;
  const pair_variant variant = detail::choose_pair_variant(backend::cuda, call.input.variant,
                                                           {.rows = rows,
                                                            .cols = cols,
                                                            .compute_capability = capability,
                                                            .code_capability = code.capability,
                                                            .warpgroup_code = code.has_warpgroups});
  const bool is_ready =
      may_be_ready && takes_ready(call.what, variant, call.input.tables, call.input.area, limits);
  row_format format =
      is_ready ? ready_format(cols, call.what.centre) : choose_row_format(call.what, variant, cols);
  choose_products(format, variant, call.input.area, limits, code.capability);
  const detail::pair_tables& tables = call.input.tables;
  std::size_t gathered = gathered_row_bytes(detail::device_view(tables.x));
  if (tables.y) gathered = std::max(gathered, gathered_row_bytes(detail::device_view(*tables.y)));
  return {.what = call.what,
          .area = call.input.area,
          .rows = rows,
          .format = format,
          .variant = variant,
          .gathered_row_bytes = gathered,
          .has_warpgroup_products = code.has_warpgroups,
          .estimates = estimating_tile(format, variant, call.input.area, limits),
          .has_room = true,
          .is_never_short = detail::ways_in_force().cuda.never_short,
          .multiprocessors = limits.multiprocessors,
          .block_shared_bytes = limits.block_shared_bytes,
          .device_bytes = limits.memory_bytes,
          .machine = detail::default_cuda_costs};
}

stream_rows::stream_rows(const call_shape& shape, row_extra extra, arena& memory)
    : shape_(shape),
      halves_too_(extra == row_extra::estimates &&
                  shape.estimates == pair_tile_kind::products_half),
      splits_(extra != row_extra::none && extra != row_extra::dense && !halves_too_ &&
              deciding_tile_of(shape.format, extra) == pair_tile_kind::tensor_float),
      tied_(stats::decide_nothing(shape.format.cols)) {
  const row_format& format = shape.format;
  const std::size_t scratch_bytes = scratch_row_bytes(shape.what, format);
  const auto fitting =
      static_cast<index_t>(memory_sizes::unpacked_of_device_result /
                           std::max<std::size_t>(scratch_bytes + shape.gathered_row_bytes, 1));
  block_rows_ = std::clamp<index_t>(fitting, 1, std::max<index_t>(shape.rows, 1));
  memory_ = take_rows(format, shape.rows,
                      {.values = format.tile != pair_tile_kind::tensor_float || splits_,
                       .unit = true,
                       .rounding = extra == row_extra::screens && format.rounded},
                      memory);
  scratch_ = memory.take<std::byte>(static_cast<std::size_t>(block_rows_) * scratch_bytes);
  gathered_ =
      memory.take<std::byte>(static_cast<std::size_t>(block_rows_) * shape.gathered_row_bytes);
  if (format.ready) {
    const index_t statistics = shape.area.rows.size() * shape.area.cols.size();
    const bool are_result = extra == row_extra::dense || extra == row_extra::dense_floats;
    memory_.few = {.unit_rows = memory.take<double>(few_row_elements(format, shape.area)),
                   .square_sums = memory_.square_sums,
                   .count = shape.area.rows.size(),
                   .statistics = memory.take<double>(are_result ? 0 : statistics),
                   .pitch = shape.area.cols.size()};
  }
  const row_format products = product_format();
  memory_.products = memory.take<std::byte>(product_rows_bytes(products, shape.rows));
  if (!products.products) return;
  products_.capacity = product_elements(products, shape.area.rows.size(), shape.area.cols.size());
  products_.sums = memory.take<double>(products_.capacity);
}

void stream_rows::prepare_table(const device_table_view& table, index_t first,
                                cudaStream_t stream) const {
  for (index_t begin = 0; begin < table.rows(); begin += block_rows_) {
    const index_range rows{begin, std::min(begin + block_rows_, table.rows())};
    with_block(table, rows, gathered_, stream, [&](const auto& block) {
      pack_rows(shape_.what, shape_.format, block,
                place_of(shape_.format, memory_, first + begin, scratch_), stream);
    });
  }
}

void stream_rows::prepare(const detail::pair_tables& tables, const kernels::zeroed_words& zeros,
                          cudaStream_t stream) const {
  index_t first = 0;
  const auto prepare_next = [&](const detail::any_table& table) {
    const device_table_view view = detail::device_view(table);
    prepare_table(view, first, stream);
    first += view.rows();
  };
  prepare_next(tables.x);
  if (tables.y) prepare_next(*tables.y);
  const kernels::norm_request norms{memory_.square_sums, shape_.rows, memory_.norms, zeros};
  if (shape_.rows == 0) return kernels::launch_row_norms(norms, nullptr, stream);
  const row_format& format = shape_.format;
  if (halves_too_) {
    split_into_half_planes(format, memory_, stream);
  } else if (format.tile == pair_tile_kind::products_half) {
    clear_half_planes(format, memory_, stream);
  } else if (format.product_row_bytes() != 0) {
    pack_product_rows(format, memory_, stream);
  }
  if (splits_) {
    split_unit_rows(format, memory_, norms, stream);
  } else {
    kernels::launch_row_norms(norms, nullptr, stream);
  }
  if (memory_.rounding != nullptr) {
    measure_rounding(format, {0, shape_.rows}, memory_, stream);
  }
}

screen_origin stream_rows::screened(kernels::screen_operand operand) const {
  if (operand == kernels::screen_operand::rounded) {
    return {.source = screened_rows(shape_.format, {0, shape_.rows}, memory_),
            .rounding = memory_.rounding};
  }
  return {.ranks = screened_ranks(shape_.format, memory_)};
}

row_format stream_rows::product_format() const {
  return halves_too_ ? half_row_format(shape_.format.cols, shape_.format.centre) : shape_.format;
}

kernels::pair_operand stream_rows::operand(index_range rows, pair_tile_kind tile) const {
  return operand_of(shape_.format, tile, rows, memory_);
}

void stream_rows::for_each_panel(
    index_range rows, pair_region region, pair_tile_kind tile,
    const std::function<void(const kernels::pair_panel&)>& launch) const {
  const index_range& cols = shape_.area.cols;
  if (rows.empty() || cols.empty()) return;
  const index_t fitting = launch_pairs / cols.size() / rows_of_tile * rows_of_tile;
  const index_t step = std::max(fitting, rows_of_tile);
  for (index_t begin = rows.begin; begin < rows.end; begin += step) {
    const index_range block{begin, std::min(begin + step, rows.end)};
    index_range met = cols;
    if (region == pair_region::above_diagonal) met.begin = std::max(met.begin, begin);
    if (met.empty()) continue;
    const kernels::product_memory products =
        shape_.format.ready ? ready_products(memory_.few, shape_.area, block, met) : products_;
    launch({operand(block, tile), operand(met, tile), region, products, {}, tied_});
  }
}

}  // namespace gpu::cuda
