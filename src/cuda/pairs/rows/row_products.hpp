#pragma once
// Whether rows of a format are decided by products in memory, and by which.

#include <optional>

#include "cuda/pairs/rows/row_format.hpp"
#include "cuda_runtime/device_limits.hpp"
#include "pairs/area.hpp"
#include "pairs/tables.hpp"
#include "plan/products/product_choice.hpp"

namespace gpu::cuda {

/// Whether there are products of rows packed so on a device that runs code of `code_capability`.
bool can_take_products(const row_format& format, const device_limits& device, int code_capability);
/// Says in `format` whether they decide every pair of an area, and which.
void choose_products(row_format& format, pair_variant variant, const detail::pair_area& area,
                     const device_limits& device, int code_capability);
/// Whether an area's statistics are computed while the rows of y are prepared, of tables on this
/// device: where x has few rows.
bool takes_ready(const detail::measure_traits& what, pair_variant variant,
                 const detail::pair_tables& tables, const detail::pair_area& area,
                 const device_limits& device);
detail::product_shape product_shape_of(const row_format& format, const detail::pair_area& area);
/// Whether a dense result in float of rows packed so is products of halves.
bool takes_halves(const row_format& format, pair_variant variant, const detail::pair_area& area,
                  const device_limits& device);
/// The tile of fast estimates of all statistics, where there is one: those products, the tile of
/// floats, or the exact ones of ranks.
std::optional<kernels::pair_tile_kind> estimating_tile(const row_format& format,
                                                       pair_variant variant,
                                                       const detail::pair_area& area,
                                                       const device_limits& device);

}  // namespace gpu::cuda
