#pragma once
// Whether the pairs of long rows are decided by products: pure functions of device and shape.

#include <gpu/index.hpp>

#include "base/keep_range.hpp"
#include "plan/machine_costs.hpp"

namespace gpu::inline v0::detail {

/// What is multiplied; see kernels::pair_tile_kind.
enum class product_kind {
  of_values,  ///< Unit rows, in doubles.
  of_limbs,   ///< Limbs of centred ranks, in 8-bit integers: compute capability 9.0.
  of_halves   ///< Unit rows in two halves, in single precision: compute capability 9.0.
};

/// A job of all pairs as products see it.
struct product_shape {
  index_t rows;  ///< Of the area.
  index_t cols;  ///< Of the area.
  index_t observations;
  product_kind kind;
  bool is_against;     ///< Every pair of rows x cols, not one half of them.
  index_t slices = 1;  ///< Of a row of values: parts of a sum that fill a device, too.
};

/// Seconds that the tensor-core tiles take to decide every pair, and that products take. A tile
/// walks all observations of 32 tiles of columns, so few rows leave most of a device idle; products
/// split the observations as well, but pass through memory.
double tile_seconds(const product_shape& shape, int multiprocessors,
                    const cuda_costs& machine = default_cuda_costs);
double product_seconds(const product_shape& shape, int multiprocessors,
                       const cuda_costs& machine = default_cuda_costs);

/// Whether tensor cores multiply doubles at full rate: on a device of such a capability that runs
/// such code, 90 for 9.0.
bool has_double_products(int compute_capability, int code_capability);

/// Whether there are products of such rows, which need has_double_products.
bool can_take_products(product_kind kind, index_t observations, int compute_capability,
                       int code_capability);

/// Whether products decide the pairs: where they take less time.
bool takes_products(const product_shape& shape, int multiprocessors,
                    const cuda_costs& machine = default_cuda_costs);

/// Whether rows fill the tiles of products of halves.
bool can_take_halves(const product_shape& shape);

/// Whether a dense result in float of unit rows, of a job described by `of_values`, is products of
/// halves: where they take less time than tiles and products in doubles, and rows fill a tile.
bool takes_halves(const product_shape& shape, int multiprocessors,
                  const cuda_costs& machine = default_cuda_costs);

/// The largest share of the pairs that may be computed anew, from unit rows in double precision,
/// where products of halves are estimates for exact decisions: about four fifths of the share at
/// which that takes what halves save.
constexpr double most_computed_anew(const cuda_costs& machine = default_cuda_costs) {
  constexpr double of_saved = 400.0 / 512;
  return of_saved * machine.saved_column / machine.anew_column;
}
/// About the share of the pairs whose statistics are within `error` of a cut: of independent rows
/// of so many observations, or of rows whose statistics are spread over [-0.5, 0.5], whichever is
/// larger.
double share_near_cut(const keep_range& keep, index_t observations, double error);

/// Whether every pair is decided so soon that no screen is looked for: not even its sample would
/// pay.
bool products_are_short(const product_shape& shape, int multiprocessors,
                        const cuda_costs& machine = default_cuda_costs);

}  // namespace gpu::inline v0::detail
