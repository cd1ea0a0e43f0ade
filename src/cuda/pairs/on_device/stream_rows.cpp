#include "cuda/pairs/on_device/stream_rows.hpp"

#include <algorithm>
#include <variant>

#include "cuda/pairs/rows/row_products.hpp"
#include "cuda_runtime/cuda_check.hpp"
#include "cuda_runtime/device_code.hpp"
#include "cuda_runtime/device_info.hpp"
#include "cuda_runtime/device_limits.hpp"
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
constexpr index_t tile_rows = 128;
// Of the ranks on their way to limbs.
constexpr std::size_t most_ranks_bytes = std::size_t{256} << 20;

}  // namespace

call_shape shape_of(const detail::device_pair_call& call) {
  const device_limits& limits = current_limits();
  const pair_options& options = call.options;
  const index_t cols = call.input.cols();
  const index_t rows = call.input.rows();
  const loaded_code& code = current_code();
  const int capability = limits.compute_major * 10 + limits.compute_minor;
  const pair_variant variant = detail::choose_pair_variant(backend::cuda, options.variant,
                                                           {.rows = rows,
                                                            .cols = cols,
                                                            .compute_capability = capability,
                                                            .code_capability = code.capability,
                                                            .warpgroup_code = code.has_warpgroups});
  row_format format =
      choose_row_format(call.what, variant, cols, options.variant != pair_variant::automatic);
  choose_products(format, variant, call.input.area, limits, code.capability);
  return {.what = call.what,
          .area = call.input.area,
          .rows = rows,
          .format = format,
          .variant = variant,
          .has_warpgroup_products = code.has_warpgroups,
          .has_estimates = has_estimates(format, variant, call.input.area, limits),
          .has_room = true,
          .is_never_short = detail::ways_in_force().cuda.never_short,
          .multiprocessors = limits.multiprocessors,
          .block_shared_bytes = limits.block_shared_bytes,
          .device_bytes = limits.memory_bytes};
}

stream_rows::stream_rows(const call_shape& shape, row_extra extra, arena& memory)
    : shape_(shape),
      splits_(extra == row_extra::split_floats &&
              shape.format.deciding_tile() == pair_tile_kind::tensor_float),
      halves_too_(extra == row_extra::halves && shape.format.tile == pair_tile_kind::tensor_float),
      tied_(stats::decide_nothing(shape.format.cols)) {
  const auto rows = static_cast<std::size_t>(shape.rows);
  const row_format& format = shape.format;
  const std::size_t ranks_bytes = scratch_row_bytes(shape.what, format);
  const auto fitting =
      static_cast<index_t>(most_ranks_bytes / std::max<std::size_t>(ranks_bytes, 1));
  block_rows_ = std::clamp<index_t>(fitting, 1, std::max<index_t>(shape.rows, 1));
  square_sums_ = memory.take<std::int64_t>(rows);
  norms_ = memory.take<kernels::row_norm>(rows);
  invalid_ = memory.take<unsigned long long>(1);
  const bool has_values = format.tile != pair_tile_kind::tensor_float || splits_;
  values_ = has_values ? memory.take<std::byte>(rows * format.row_bytes) : nullptr;
  unit_ = memory.take<double>(rows * format.unit_bytes / sizeof(double));
  ranks_ = memory.take<std::byte>(static_cast<std::size_t>(block_rows_) * ranks_bytes);
  const row_format products = product_format();
  product_rows_ = memory.take<std::byte>(
      static_cast<std::size_t>(products.product_rows(shape.rows)) * products.product_row_bytes());
  if (!products.products) return;
  products_.capacity = product_elements(products, shape.area.rows.size(), shape.area.cols.size());
  products_.sums = memory.take<double>(products_.capacity);
}

template <class T>
void stream_rows::prepare_table(device_matrix_view<const T> table, index_t first,
                                cudaStream_t stream) const {
  const row_format& format = shape_.format;
  for (index_t begin = 0; begin < table.rows(); begin += block_rows_) {
    const index_t rows = std::min(block_rows_, table.rows() - begin);
    const index_t at = first + begin;
    const auto offset = static_cast<std::size_t>(at);
    const packed_rows to{
        .square_sums = square_sums_ + at,
        .scratch = ranks_,
        .values = values_ == nullptr ? nullptr : values_ + offset * format.row_bytes,
        .unit = unit_ + offset * format.unit_bytes / sizeof(double),
        .halves = halves(),
        .first = at};
    pack_rows(shape_.what, format,
              device_matrix_view<const T>(table.row(begin), rows, table.cols(), table.row_stride()),
              to, stream);
  }
}

void stream_rows::prepare(const detail::pair_tables& tables, cudaStream_t stream) const {
  index_t first = 0;
  const auto prepare_next = [&](const detail::any_table& table) {
    std::visit(
        [&](const auto& view) {
          prepare_table(view, first, stream);
          first += view.rows();
        },
        detail::device_view(table));
  };
  prepare_next(tables.x);
  if (tables.y) prepare_next(*tables.y);
  if (shape_.rows == 0) return;
  GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(invalid_, 0, sizeof *invalid_, stream));
  kernels::launch_row_norms(square_sums_, shape_.rows, norms_, invalid_, stream);
  const row_format& format = shape_.format;
  if (halves_too_) kernels::launch_split_halves(unit_, shape_.rows, format.cols, halves(), stream);
  if (product_format().tile == pair_tile_kind::products_half) {
    kernels::launch_clear_half_rows(halves(), shape_.rows, format.cols, stream);
  } else if (format.product_row_bytes() != 0) {
    pack_product_rows(format, values_, shape_.rows, product_rows_, stream);
  }
  if (!splits_) return;
  kernels::launch_split_floats(unit_, shape_.rows,
                               kernels::unit_row_layout(shape_.format.cols).pitch(),
                               shape_.format.columns, reinterpret_cast<float*>(values_), stream);
}

row_format stream_rows::product_format() const {
  return halves_too_ ? half_row_format(shape_.format.cols, shape_.format.centre) : shape_.format;
}

kernels::half_plane_rows stream_rows::halves() const {
  return {product_rows_, product_format().product_rows(shape_.rows)};
}

kernels::pair_operand stream_rows::operand(index_range rows, pair_tile_kind tile) const {
  const auto first = static_cast<std::size_t>(rows.begin);
  const row_format& format = shape_.format;
  const std::byte* values = values_ == nullptr ? nullptr : values_ + first * format.row_bytes;
  if (takes_planes(tile)) values = product_rows_;
  if (tile == pair_tile_kind::products_integer) {
    values = product_rows_ + first * format.product_row_bytes();
  }
  return operand_of(
      format, tile, rows,
      {.values = values,
       .unit =
           format.unit_bytes == 0 ? nullptr : unit_ + first * format.unit_bytes / sizeof(double),
       .norms = norms_,
       .square_sums = square_sums_,
       .rows = shape_.rows});
}

void stream_rows::for_each_panel(
    index_range rows, index_range cols, pair_region region, pair_tile_kind tile,
    const std::function<void(const kernels::pair_panel&)>& launch) const {
  if (rows.empty() || cols.empty()) return;
  const index_t fitting = launch_pairs / cols.size() / tile_rows * tile_rows;
  const index_t step = std::max(fitting, tile_rows);
  for (index_t begin = rows.begin; begin < rows.end; begin += step) {
    const index_range block{begin, std::min(begin + step, rows.end)};
    index_range met = cols;
    if (region == pair_region::above_diagonal) met.begin = std::max(met.begin, begin);
    if (met.empty()) continue;
    launch({operand(block, tile), operand(met, tile), region, products_, {}, tied_});
  }
}

}  // namespace gpu::cuda
