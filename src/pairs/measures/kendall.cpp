#include <algorithm>
#include <bit>
#include <cstdint>

#include "pairs/measures/measures.hpp"

namespace gpu::inline v0::detail {
namespace {

// Sums over groups of ties, up to 2 cols^3, stay below 2^63.
constexpr index_t most_cols = 1'000'000;

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

}  // namespace

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
                                             .most_cols = most_cols},
                                    .form = row_form::signs,
                                    .centre = row_centre::none,
                                    .packed_cols = sign_bytes,
                                    .most_cols_on_cuda = most_sign_cols};

}  // namespace gpu::inline v0::detail
