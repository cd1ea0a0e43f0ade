#include "pairs/measures/measures.hpp"
#include "stats/observation_limits.hpp"

namespace gpu::inline v0::detail {

const measure_traits bicor_traits{.info = {.what = measure::bicor,
                                           .name = "bicor",
                                           .title = "Bicor",
                                           .description = "Biweight midcorrelation",
                                           .symbol = "bicor",
                                           .test = significance::student_t,
                                           .interval = interval_method::fisher,
                                           .scale = value_scale::numeric,
                                           .equals = equal_rows::apart,
                                           .least_cols = 3,
                                           .most_cols = stats::most_observations},
                                  .form = row_form::unit_values,
                                  .centre = row_centre::none,
                                  .transform = row_transform::biweight};

}  // namespace gpu::inline v0::detail
