#include "pairs/measures/measures.hpp"
#include "stats/observation_limits.hpp"

namespace gpu::inline v0::detail {

const measure_traits cosine_traits{.info = {.what = measure::cosine,
                                            .name = "cosine",
                                            .title = "Cosine",
                                            .description = "Cosine similarity",
                                            .symbol = "cosine",
                                            .test = significance::none,
                                            .interval = interval_method::none,
                                            .scale = value_scale::numeric,
                                            .equals = equal_rows::apart,
                                            .least_cols = 1,
                                            .most_cols = stats::most_observations},
                                   .form = row_form::unit_values,
                                   .centre = row_centre::none};

}  // namespace gpu::inline v0::detail
