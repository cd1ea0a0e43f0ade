#include "pairs/measures/measures.hpp"

namespace gpu::inline v0::detail {

// The sum of squares of a row of ranks is at most cols (cols^2 - 1) / 3, which must be below 2^63.
constexpr index_t most_rank_cols = 3'000'000;
// E. C. Fieller, H. O. Hartley and E. S. Pearson, Biometrika 44, 1957.
constexpr double z_variance = 1.06;

const measure_traits spearman_traits{.info = {.what = measure::spearman,
                                              .name = "spearman",
                                              .title = "Spearman",
                                              .description = "Rank correlation",
                                              .symbol = "rho",
                                              .test = significance::floored_t,
                                              .interval = interval_method::bonett_wright,
                                              .scale = value_scale::ordinal,
                                              .equals = equal_rows::folded,
                                              .least_cols = 3,
                                              .most_cols = most_rank_cols,
                                              .z_variance = z_variance},
                                     .form = row_form::ranks,
                                     .centre = row_centre::mean};

}  // namespace gpu::inline v0::detail
