#pragma once
// Means of values whose sums are beyond double. Shared by the tests of both backends.

#include "mean_filter/filter_checks.hpp"

namespace gpu_test {

/// Values near the end of double, of both signs in runs, small ones between, one Inf and two NaN.
inline std::vector<double> large_row(index_t size) {
  std::vector<double> row = test_row<double>(size, 17);
  const auto count = static_cast<std::size_t>(size);
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 3 != 0) row[i] = (i / 40 % 3 == 2 ? -1.2e308 : 1.2e308) * (1 - 0.001 * row[i]);
    if (i % 211 == 7) row[i] = std::numeric_limits<double>::max();
  }
  if (count > 30) row[count / 5] = std::numeric_limits<double>::infinity();
  if (count > 30) row[count / 3] = row[count / 3 + 1] = std::numeric_limits<double>::quiet_NaN();
  return row;
}

/// Every output of `large_row(size)`, or every `step`th.
inline void check_large(index_t size, const mean_filter_options& options, index_t step = 1) {
  const std::vector<double> row = large_row(size);
  const std::vector<double> out = gpu::mean_filter(std::span(row), options);
  index_t wrong = 0;
  index_t saved = 0;
  for (index_t j = 0; j < static_cast<index_t>(out.size()); j += step) {
    const expected_mean expected = reference_mean(std::span(row), options, j);
    const double got = out[static_cast<std::size_t>(j)];
    if (!is_right<double, double>(got, expected, options.window)) ++wrong;
    const long double sum = expected.magnitude * static_cast<long double>(expected.places);
    if (std::isfinite(got) && sum > std::numeric_limits<double>::max()) ++saved;
  }
  INFO("size " << size << ", window " << options.window << ", boundary "
               << static_cast<int>(options.boundary) << ", nans " << static_cast<int>(options.nans)
               << ", variant " << static_cast<int>(options.variant));
  CHECK(wrong == 0);
  if (size > 200 && options.window > 1 && options.window < 60) CHECK(saved > size / (4 * step));
}

inline void check_large_everywhere(index_t size, mean_filter_options options, index_t step = 1) {
  for (const nan_policy nans : {nan_policy::propagate, nan_policy::omit}) {
    for (const boundary mode : all_boundaries) {
      if (mode == boundary::valid && options.window > size) continue;
      options.nans = nans;
      options.boundary = mode;
      check_large(size, options, step);
    }
  }
}

}  // namespace gpu_test
