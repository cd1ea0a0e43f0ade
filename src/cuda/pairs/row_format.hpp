#pragma once
// How the rows of an input are packed for the tiles of a variant: one pure function.

#include <cstddef>

#include <gpu/index.hpp>
#include <gpu/pair_options.hpp>

#include "kernels/pairs/kernels.hpp"
#include "kernels/pairs/screen/kernels.hpp"
#include "pairs/engine.hpp"
#include "pairs/measures/measures.hpp"
#include "plan/pair_policy.hpp"

namespace gpu::cuda {

/// Columns up to which doubled centred ranks fit int8, and int16; then they are limbs of 7 bits.
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

  [[nodiscard]] std::size_t bytes() const {
    return row_bytes + unit_bytes + (rounded ? sizeof(kernels::row_rounding) : 0);
  }
};

/// The tile that a variant uses for a shape, and how it wants its rows.
/// Throws gpu::unsupported where the variant cannot take that many columns.
row_format choose_row_format(const detail::measure_traits& what, pair_variant variant, index_t cols,
                             bool variant_was_asked);

/// Rows and columns of a block of the pair matrix, and the threads that share it.
kernels::policy::pair_tile tile_shape(kernels::pair_tile_kind tile);

/// What unit rows are outside of the tensor cores: doubles.
row_format unit_row_format(index_t cols);

}  // namespace gpu::cuda
