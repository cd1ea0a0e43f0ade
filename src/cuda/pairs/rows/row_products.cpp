#include "cuda/pairs/rows/row_products.hpp"

#include "cuda/pairs/rows/gathered_block.hpp"
#include "kernels/pairs/prepare/few_rows.hpp"
#include "plan/forced/forced_ways.hpp"
#include "plan/neighbor_policy.hpp"

namespace gpu::cuda {

using kernels::pair_tile_kind;

namespace {

// 1 GiB of doubles.
constexpr index_t most_ready_statistics = index_t{1} << 27;

}  // namespace

detail::product_shape product_shape_of(const row_format& format, const detail::pair_area& area) {
  detail::product_kind kind = detail::product_kind::of_values;
  if (format.tile == pair_tile_kind::tensor_limbs) {
    kind = detail::product_kind::of_limbs;
  }
  return {.rows = area.rows.size(),
          .cols = area.cols.size(),
          .observations = format.cols,
          .kind = kind,
          .is_against = area.is_against(),
          .slices = format.slices()};
}

bool can_take_products(const row_format& format, const device_limits& device, int code_capability) {
  if (format.tile != pair_tile_kind::tensor_float && format.tile != pair_tile_kind::tensor_limbs) {
    return false;
  }
  const detail::product_shape shape = product_shape_of(format, {});
  return detail::can_take_products(
      shape.kind, format.cols, device.compute_major * 10 + device.compute_minor, code_capability);
}

bool takes_halves(const row_format& format, pair_variant variant, const detail::pair_area& area,
                  const device_limits& device) {
  const detail::product_shape shape = product_shape_of(format, area);
  const bool is_offered =
      variant == pair_variant::hopper && format.tile == pair_tile_kind::tensor_float &&
      device.compute_major == 9 && device.compute_minor == 0 && detail::can_take_halves(shape);
  return is_offered && detail::ways_in_force().cuda.halves.value_or(
                           detail::takes_halves(shape, device.multiprocessors));
}

bool takes_ready(const detail::measure_traits& what, pair_variant variant,
                 const detail::pair_tables& tables, const detail::pair_area& area,
                 const device_limits& device) {
  const bool is_offered = what.form == detail::row_form::unit_values && !what.is_pairwise &&
                          variant >= pair_variant::tensor && tables.y && area.is_against() &&
                          area.rows == detail::index_range{0, area.cols.begin} &&
                          area.cols.size() <= most_ready_statistics / area.rows.size();
  if (!is_offered || !detail::ways_in_force().cuda.ready.value_or(true)) return false;
  const bool is_transformed = what.transform != detail::row_transform::none;
  const device_table_view y = detail::device_view(*tables.y);
  return kernels::fits_few_rows(area.rows.size(), y.cols(),
                                is_transformed ? sizeof(double) : read_element_bytes(y),
                                device.block_shared_bytes);
}

std::optional<pair_tile_kind> estimating_tile(const row_format& format, pair_variant variant,
                                              const detail::pair_area& area,
                                              const device_limits& device) {
  if (takes_halves(format, variant, area, device)) return pair_tile_kind::products_half;
  const pair_tile_kind tile = format.deciding_tile();
  const bool has_limbs =
      format.tile == pair_tile_kind::tensor_limbs && format.limbs <= kernels::most_estimated_limbs;
  if (has_limbs || tile == pair_tile_kind::tensor_float) return tile;
  return std::nullopt;
}

void choose_products(row_format& format, pair_variant variant, const detail::pair_area& area,
                     const device_limits& device, int code_capability) {
  if (finishes_statistics(format.tile)) return;
  format.double_products = detail::has_double_products(
      device.compute_major * 10 + device.compute_minor, code_capability);
  const detail::forced_cuda_ways& forced = detail::ways_in_force().cuda;
  const bool is_offered =
      format.tile != pair_tile_kind::tensor_limbs || variant == pair_variant::hopper;
  format.products = is_offered && can_take_products(format, device, code_capability) &&
                    forced.products.value_or(detail::takes_products(product_shape_of(format, area),
                                                                    device.multiprocessors));
  // Then there is nothing to screen.
  if (format.products && !forced.screen &&
      detail::products_are_short(product_shape_of(format, area), device.multiprocessors)) {
    format.rounded = false;
  }
}

}  // namespace gpu::cuda
