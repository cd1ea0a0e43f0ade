#pragma once
// How the rows of an input are packed for the tiles of a variant: one pure function.

#include <cstddef>

#include <gpu/index.hpp>
#include <gpu/pair_options.hpp>

#include "base/round_up.hpp"
#include "kernels/pairs/kernels.hpp"
#include "kernels/pairs/screen/kernels.hpp"
#include "pairs/engine.hpp"
#include "pairs/measures/measures.hpp"
#include "plan/pair_policy.hpp"

namespace gpu::cuda {

/// Columns up to which doubled centred ranks fit int8, and int16; tiles take those that do not fit
/// int8 in limbs of 7 bits.
inline constexpr index_t int8_rank_columns = 128;
inline constexpr index_t int16_rank_columns = 32768;

/// How rows are packed for a tile.
struct row_format {
  kernels::pair_tile_kind tile = kernels::pair_tile_kind::shared_int8;
  index_t cols = 0;            // observations
  index_t columns = 0;         // elements of a packed row (of a limb), padding included
  int limbs = 1;               // tensor_limbs
  std::size_t row_bytes = 0;   // packed values of a row
  std::size_t unit_bytes = 0;  // doubles beside them (tensor_float)

  detail::row_centre centre = detail::row_centre::mean;  // of unit rows
  bool rounded = false;  // whether strict cuts are screened by rounded rows
  // Whether every pair is decided by products, see plan/products/product_choice.hpp; of
  // tensor_limbs and tensor_float.
  bool products = false;
  // Whether the tensor cores multiply doubles at full rate: tensor_double is the exact tile then,
  // up to detail::most_whole_columns.
  bool double_products = false;
  index_t least_shared = 0;  // of rows with missing values
  // Whether statistics are computed while the rows of y are prepared: then no row is packed.
  bool ready = false;

  /// Of a unit row, see stats/unit_rows.hpp.
  [[nodiscard]] index_t slices() const { return ceil_div(cols, detail::slice_of_row(cols)); }
  [[nodiscard]] std::size_t bytes() const {
    return row_bytes + unit_bytes + product_row_bytes() +
           (rounded ? sizeof(kernels::row_rounding) : 0);
  }
  /// Whether a screen has rows to draw from: ranks of 8 bits, those of signs, or rounded rows.
  [[nodiscard]] bool has_screens() const;
  /// The tile that decides every pair.
  [[nodiscard]] kernels::pair_tile_kind deciding_tile() const;
  /// The tile whose dense products are exact.
  [[nodiscard]] kernels::pair_tile_kind exact_tile() const;
  /// Rows as products take them, besides those of `tile`: bytes of a row, and rows that there is
  /// memory for. Unit rows are multiplied as they are.
  [[nodiscard]] std::size_t product_row_bytes() const;
  [[nodiscard]] index_t product_rows(index_t rows) const;
};

/// The tile that a variant uses for a shape, and how it wants its rows.
/// Throws gpu::unsupported where the variant cannot take that many columns.
row_format choose_row_format(const detail::measure_traits& what, pair_variant variant,
                             index_t cols);

/// Of statistics that launch_multiply_few_rows computes.
row_format ready_format(index_t cols, detail::row_centre centre);

/// Unit rows as products of halves take them, and nothing beside.
row_format half_row_format(index_t cols, detail::row_centre centre);

/// Doubles of the memory for products of an area of so many rows and columns; see
/// kernels::product_memory.
index_t product_elements(const row_format& format, index_t rows, index_t cols);
/// The fewest with which any panel can be cut.
index_t least_product_elements(const row_format& format);

/// Rows and columns of a block of the pair matrix, and the threads that share it.
kernels::policy::tile_layout tile_shape(kernels::pair_tile_kind tile);

/// Largest error of a float estimate made from exact products.
inline constexpr double float_estimate_error = 2e-6;
/// Largest error of a product of tensor_float rows.
double tensor_error(const row_format& format);
/// Largest error of the products of a tile on such rows as estimates of the statistic.
double estimate_error(const row_format& format, kernels::pair_tile_kind tile);

/// What unit rows are outside of the tensor cores: doubles.
row_format unit_row_format(index_t cols, detail::row_centre centre);

}  // namespace gpu::cuda
