#include "pairs/measures/measures.hpp"
#include "stats/observation_limits.hpp"

namespace gpu::inline v0::detail {

const measure_traits pearson_traits{.info = {.what = measure::pearson,
                                             .name = "pearson",
                                             .title = "Pearson",
                                             .description = "Product-moment correlation",
                                             .symbol = "r",
                                             .test = significance::student_t,
                                             .interval = interval_method::fisher,
                                             .scale = value_scale::numeric,
                                             .equals = equal_rows::apart,
                                             .least_cols = 3,
                                             .most_cols = stats::most_observations,
                                             .z_variance = 1},
                                    .form = row_form::unit_values,
                                    .centre = row_centre::mean};

}  // namespace gpu::inline v0::detail
