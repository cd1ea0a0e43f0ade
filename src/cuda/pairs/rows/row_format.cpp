#include "cuda/pairs/rows/row_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include <gpu/error.hpp>

#include "base/round_up.hpp"
#include "kernels/pairs/pairwise/kernels.hpp"
#include "kernels/pairs/products/multiply.hpp"
#include "kernels/pairs/signs/kernels.hpp"
#include "plan/neighbor_policy.hpp"
#include "plan/products/product_policy.hpp"

namespace gpu::cuda {
namespace {

using detail::measure_traits;
using detail::row_form;
using kernels::pair_tile_kind;

row_format make_format(pair_tile_kind tile, index_t cols, index_t columns, int limbs,
                       std::size_t element_bytes) {
  return {.tile = tile,
          .cols = cols,
          .columns = columns,
          .limbs = limbs,
          .row_bytes = static_cast<std::size_t>(columns * limbs) * element_bytes};
}

// Every variant takes ranks of more than 8 bits in limbs.
row_format rank_format(pair_variant variant, index_t cols) {
  if (cols > int8_rank_columns) {
    namespace policy = kernels::policy;
    const int limbs = cols <= policy::two_limb_columns    ? 2
                      : cols <= policy::limb_most_columns ? 3
                                                          : 4;
    return make_format(pair_tile_kind::tensor_limbs, cols, round_up(cols, 128), limbs, 1);
  }
  return make_format(variant == pair_variant::shared_tiled ? pair_tile_kind::shared_int8
                                                           : pair_tile_kind::tensor_int8,
                     cols, cols <= 32 ? 32 : (cols <= 64 ? 64 : 128), 1, 1);
}

row_format value_format(const measure_traits& what, pair_variant variant, index_t cols) {
  const index_t unit = kernels::unit_row_layout(cols).pitch();
  if (variant == pair_variant::tensor || variant == pair_variant::hopper) {
    row_format format =
        make_format(pair_tile_kind::tensor_float, cols, round_up(unit, 16), 1, 2 * sizeof(float));
    format.unit_bytes = static_cast<std::size_t>(unit) * sizeof(double);
    format.centre = what.centre;
    return format;
  }
  return unit_row_format(cols, what.centre);
}

row_format naive_format(pair_tile_kind tile, const measure_traits& what, index_t cols) {
  if (cols > kernels::policy::naive_most_cols) {
    throw unsupported(fmt::format("options.variant: naive takes at most {} columns on cuda, got {}",
                                  kernels::policy::naive_most_cols, cols));
  }
  row_format format = make_format(tile, cols, cols, 1, sizeof(double));
  format.centre = what.centre;
  return format;
}

static_assert(detail::most_pairwise_rank_cols_on_cuda == kernels::most_pairwise_rank_columns);

// Rows with missing values, of every variant: their statistics go through memory.
row_format pairwise_format(const measure_traits& what, index_t cols) {
  const bool of_ranks = what.form == row_form::ranks;
  const auto tile = of_ranks ? pair_tile_kind::pairwise_ranks : pair_tile_kind::pairwise_values;
  const index_t pitch = of_ranks ? kernels::pairwise_rank_layout{cols}.pitch()
                                 : kernels::pairwise_value_layout{cols}.pitch();
  row_format format = make_format(tile, cols, pitch, 1, sizeof(std::uint64_t));
  format.centre = what.centre;
  format.products = true;
  format.least_shared = what.least_shared;
  return format;
}

// Of every variant too.
row_format sign_format(index_t cols) {
  row_format format = make_format(pair_tile_kind::signs, cols,
                                  kernels::sign_row_layout{cols}.pitch(), 1, sizeof(std::uint64_t));
  format.products = true;
  return format;
}

}  // namespace

bool row_format::has_screens() const {
  return rounded || tile == pair_tile_kind::shared_int8 || tile == pair_tile_kind::tensor_int8 ||
         tile == pair_tile_kind::signs;
}

pair_tile_kind row_format::deciding_tile() const {
  if (finishes_statistics(tile) || tile == pair_tile_kind::products_half) return tile;
  if (!products) return tile;
  return tile == pair_tile_kind::tensor_float ? pair_tile_kind::products_double
                                              : pair_tile_kind::products_limbs;
}

pair_tile_kind row_format::exact_tile() const {
  const pair_tile_kind deciding = deciding_tile();
  if (deciding != pair_tile_kind::tensor_float) return deciding;
  return double_products && cols <= detail::most_whole_columns ? pair_tile_kind::tensor_double
                                                               : pair_tile_kind::shared_double;
}

std::size_t row_format::product_row_bytes() const {
  const pair_tile_kind deciding = deciding_tile();
  if (deciding == pair_tile_kind::products_limbs) {
    return static_cast<std::size_t>(kernels::product_planes(cols) * limbs *
                                    kernels::policy::limb_plane_columns);
  }
  if (deciding != pair_tile_kind::products_half) return 0;
  return static_cast<std::size_t>(columns / kernels::policy::half_cell_columns *
                                  kernels::policy::half_cell_row_bytes);
}

index_t row_format::product_rows(index_t rows) const {
  const pair_tile_kind deciding = deciding_tile();
  if (deciding == pair_tile_kind::products_limbs) {
    const index_t groups = round_up(rows, 8);
    return groups <= kernels::most_few_rows ? groups : groups + kernels::policy::plane_padding;
  }
  return deciding == pair_tile_kind::products_half ? kernels::policy::half_plane_rows(rows) : rows;
}

row_format ready_format(index_t cols, detail::row_centre centre) {
  row_format format = make_format(pair_tile_kind::shared_double, cols, cols, 1, 0);
  format.centre = centre;
  format.ready = true;
  return format;
}

row_format half_row_format(index_t cols, detail::row_centre centre) {
  row_format format =
      make_format(pair_tile_kind::products_half, cols,
                  kernels::policy::half_cells(cols) * kernels::policy::half_cell_columns, 1, 0);
  format.centre = centre;
  format.products = true;
  return format;
}

index_t product_elements(const row_format& format, index_t rows, index_t cols) {
  namespace policy = kernels::policy;
  // Few rows of limbs and of halves are split into many parts of half the size, and tiles of these
  // are large beside few rows.
  const bool in_planes = takes_planes(format.deciding_tile());
  const index_t parts = in_planes ? 4 * policy::product_most_parts : policy::product_most_parts;
  // Sides of which each alone is too much: their product need not fit 64 bits.
  const index_t high =
      std::min(round_up(rows, policy::product_block), policy::most_product_elements);
  const index_t wide =
      std::min(round_up(cols, policy::product_block), policy::most_product_elements);
  index_t elements = parts * high * wide;
  if (format.deciding_tile() == pair_tile_kind::products_double) {
    const index_t products = std::min(rows, high) * std::min(round_up(cols, 2), wide);
    if (products <= kernels::most_sliced_products) {
      elements = std::max(elements, parts * format.slices() * products);
    }
  }
  return std::clamp(elements, least_product_elements(format), policy::most_product_elements);
}

index_t least_product_elements(const row_format& format) {
  namespace policy = kernels::policy;
  index_t least = policy::least_product_elements;
  if (format.deciding_tile() == pair_tile_kind::products_limbs) {
    // A tile of every pair of limbs and every part, 32 bits each.
    const index_t splits = ceil_div(format.cols, policy::limb_split_columns);
    const index_t tile = policy::limb_tile_rows * policy::limb_tile_cols / 2;
    least = std::max(least, format.limbs * format.limbs * splits * tile);
  }
  return least;
}

kernels::policy::tile_layout tile_shape(pair_tile_kind tile) {
  switch (tile) {
    case pair_tile_kind::naive_spearman:
    case pair_tile_kind::naive_pearson:
      return kernels::policy::naive;
    case pair_tile_kind::shared_int8:
      return kernels::policy::shared_int8;
    case pair_tile_kind::shared_double:
      return kernels::policy::shared_double;
    case pair_tile_kind::tensor_int8:
      return kernels::policy::tensor_int8;
    case pair_tile_kind::tensor_limbs:
      return kernels::policy::tensor_limbs;
    case pair_tile_kind::tensor_float:
      return kernels::policy::tensor_float;
    case pair_tile_kind::tensor_double:
      return kernels::policy::tensor_double;
    case pair_tile_kind::tensor_half:
      return kernels::policy::tensor_half;
    default:  // by products, and finished statistics
      return kernels::policy::products;
  }
}

double tensor_error(const row_format& format) {
  return kernels::tensor_float_margin(format.columns, kernels::policy::tensor_float_run);
}

double estimate_error(const row_format& format, pair_tile_kind tile) {
  double error = float_estimate_error;
  if (tile == pair_tile_kind::tensor_float) error += tensor_error(format);
  if (tile == pair_tile_kind::products_half) {
    error += static_cast<double>(kernels::half_product_error(format.cols));
  }
  if (tile == pair_tile_kind::tensor_half) {
    error += kernels::half_margin(kernels::unit_row_layout(format.cols).pitch());
  }
  return error;
}

row_format unit_row_format(index_t cols, detail::row_centre centre) {
  const index_t pitch = kernels::unit_row_layout(cols).pitch();
  row_format format = make_format(pair_tile_kind::shared_double, cols, pitch, 1, sizeof(double));
  format.centre = centre;
  return format;
}

row_format choose_row_format(const measure_traits& what, pair_variant variant, index_t cols) {
  const bool is_naive = variant == pair_variant::naive;
  const bool takes_rounded =
      variant == pair_variant::hopper && cols <= kernels::screen_most_columns;
  if (what.is_pairwise) return pairwise_format(what, cols);
  row_format format;
  switch (what.form) {
    case row_form::signs:
      return sign_format(cols);
    case row_form::ranks:
      if (is_naive) return naive_format(pair_tile_kind::naive_spearman, what, cols);
      format = rank_format(variant, cols);
      // Ranks of 8 bits are screened as they are.
      format.rounded = takes_rounded && cols > int8_rank_columns;
      return format;
    case row_form::unit_values:
      if (is_naive) return naive_format(pair_tile_kind::naive_pearson, what, cols);
      format = value_format(what, variant, cols);
      format.rounded = takes_rounded;
      break;
    case row_form::bits:
      break;
  }
  return format;
}

}  // namespace gpu::cuda
