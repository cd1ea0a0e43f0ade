#pragma once
// Convolves seeded data and compares every output with the oracle. Shared by both backends.

#include <cmath>
#include <limits>
#include <vector>

#include "mean_filter/filter_checks.hpp"

namespace gpu_test {

/// The bound the header states, with the rounding of the result to Out.
template <class Out>
bool is_right_product(Out got, const expected_product& expected, std::size_t weights) {
  const long double bound =
      std::ldexp(static_cast<long double>(weights + 1) * expected.magnitude, -53);
  if constexpr (std::is_integral_v<Out>) {
    const auto limit = [](long double x) {
      const long double low = std::numeric_limits<Out>::min();
      const long double high = std::numeric_limits<Out>::max();
      return std::trunc(x < low ? low : (x > high ? high : x));
    };
    return static_cast<long double>(got) >= limit(expected.sum - bound) &&
           static_cast<long double>(got) <= limit(expected.sum + bound);
  } else {
    const auto rounding = static_cast<long double>(ulp(static_cast<Out>(expected.sum)));
    return std::fabs(static_cast<long double>(got) - expected.sum) <= bound + 0.5L * rounding;
  }
}

template <class In, class Out>
void check_convolution(index_t size, std::span<const double> weights,
                       const gpu::convolve_options& options, std::uint64_t seed) {
  const std::vector<In> in = test_row<In>(size, seed);
  const auto count = static_cast<index_t>(weights.size());
  std::vector<Out> out(static_cast<std::size_t>(gpu::filtered_size(size, count, options.boundary)));
  gpu::convolve(std::span(in), weights, std::span(out), options);
  index_t wrong = -1;
  for (std::size_t i = 0; i < out.size() && wrong < 0; ++i) {
    const auto expected = reference_convolution<In>(std::span<const In>(in), weights, options,
                                                    static_cast<index_t>(i));
    if (!is_right_product<Out>(out[i], expected, weights.size())) wrong = static_cast<index_t>(i);
  }
  INFO("size " << size << " weights " << count << " origin " << options.origin << " boundary "
               << gpu::to_string(options.boundary) << " variant "
               << gpu::to_string(options.variant));
  CHECK(wrong == -1);
}

/// Every boundary and origin for one size and kernel.
template <class In, class Out>
void check_convolutions(index_t size, index_t weight_count, gpu::convolve_options options,
                        std::uint64_t seed) {
  const std::vector<double> weights = test_row<double>(weight_count, seed + 1);
  for (const boundary mode : all_boundaries) {
    if (mode == boundary::shrink) continue;
    options.boundary = mode;
    for (const index_t origin : test_origins(weight_count, mode)) {
      options.origin = origin;
      check_convolution<In, Out>(size, weights, options, seed);
    }
  }
}

}  // namespace gpu_test
