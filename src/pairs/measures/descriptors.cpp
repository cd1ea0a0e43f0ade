// The measures: a descriptor each.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <string_view>

#include "pairs/measures/measures.hpp"
#include "stats/observation_limits.hpp"

namespace gpu::inline v0::detail {
namespace {

// The sum of squares of a row of ranks is at most cols (cols^2 - 1) / 3, which must be below 2^63.
constexpr index_t most_rank_cols = 3'000'000;
// E. C. Fieller, H. O. Hartley and E. S. Pearson, Biometrika 44, 1957.
constexpr double z_variance = 1.06;

// Sums over groups of ties, up to 2 cols^3, stay below 2^63.
constexpr index_t most_kendall_cols = 1'000'000;

// Rows of so many columns are taken as packed signs, eight to a byte; a step of the sort that takes
// the place of longer ones lasts as long as some hundred bytes. See cpu/pairs/signs. On CUDA a sign
// is a byte, and a row of so many columns 2 MiB: kernels/pairs/signs.
constexpr index_t most_sign_cols = 2048;
constexpr index_t bytes_of_step = 100;

index_t sign_bytes(index_t cols) {
  if (cols <= most_sign_cols) return std::max<index_t>(1, cols * (cols - 1) / 16);
  const auto steps = static_cast<index_t>(std::bit_width(static_cast<std::uint64_t>(cols)));
  return bytes_of_step * cols * steps;
}

// Counts of bits, and sums of two, fit 31 bits.
constexpr index_t most_bits = std::numeric_limits<std::int32_t>::max();

constexpr measure_traits traits_of_bits(measure what, std::string_view name, std::string_view title,
                                        std::string_view description, stats::set_weights weights) {
  return {.info = {.what = what,
                   .name = name,
                   .title = title,
                   .description = description,
                   .symbol = name,
                   .test = significance::none,
                   .interval = interval_method::none,
                   .scale = value_scale::numeric,
                   .equals = equal_rows::apart,
                   .least_cols = 0,
                   .most_cols = most_bits},
          .form = row_form::bits,
          .centre = row_centre::none,
          .weights = weights};
}

}  // namespace

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

const measure_traits kendall_traits{.info = {.what = measure::kendall,
                                             .name = "kendall",
                                             .title = "Kendall",
                                             .description = "Kendall's tau-b",
                                             .symbol = "tau",
                                             .test = significance::kendall,
                                             .interval = interval_method::none,
                                             .scale = value_scale::ordinal,
                                             .equals = equal_rows::apart,
                                             .least_cols = 3,
                                             .most_cols = most_kendall_cols},
                                    .form = row_form::signs,
                                    .centre = row_centre::none,
                                    .packed_cols = sign_bytes,
                                    .most_cols_on_cuda = most_sign_cols};

const measure_traits tanimoto_traits =
    traits_of_bits(measure::tanimoto, "tanimoto", "Tanimoto", "Tanimoto similarity", {});
const measure_traits dice_traits =
    traits_of_bits(measure::dice, "dice", "Dice", "Dice similarity", {.common = 2});
const measure_traits tversky_traits =
    traits_of_bits(measure::tversky, "tversky", "Tversky", "Tversky index", {});

}  // namespace gpu::inline v0::detail
