#pragma once
// Slow oracle of the moving mean and the convolution: direct sums in long double, window by
// window, over a row extended step by step. Shares no code with the library.

#include <cmath>
#include <cstdint>
#include <span>
#include <type_traits>

#include <gpu/mean_filter.hpp>

namespace gpu_test {

/// Places after which the extended row repeats; 0: it does not.
inline std::int64_t period_of(std::int64_t n, gpu::boundary mode) {
  if (mode == gpu::boundary::reflect) return 2 * n;
  if (mode == gpu::boundary::mirror) return 2 * n - 2;
  return mode == gpu::boundary::wrap ? n : 0;
}

/// Walks from place `e` of the extended row to an element of it, whole periods at once and then one
/// fold at a time; -1: nothing.
inline std::int64_t walk_into_row(std::int64_t e, std::int64_t n, gpu::boundary mode) {
  const std::int64_t period = period_of(n, mode);
  if (period > 0) e %= period;
  while (e < 0 || e >= n) {
    switch (mode) {
      case gpu::boundary::reflect:
        e = e < 0 ? -1 - e : 2 * n - 1 - e;
        break;
      case gpu::boundary::mirror:
        if (n == 1) return 0;
        e = e < 0 ? -e : 2 * n - 2 - e;
        break;
      case gpu::boundary::nearest:
        e = e < 0 ? 0 : n - 1;
        break;
      case gpu::boundary::wrap:
        e += e < 0 ? n : -n;
        break;
      default:
        return -1;
    }
  }
  return e;
}

/// What one output should be.
struct expected_mean {
  long double mean = 0;       ///< NaN where nothing counts.
  long double magnitude = 0;  ///< Mean of the absolute values: the scale of the error bound.
  std::int64_t integer_sum = 0;
  std::int64_t places = 0;  ///< What the sum is divided by.
};

/// The mean of the window of output j.
template <class T>
expected_mean reference_mean(std::span<const T> row, const gpu::mean_filter_options& options,
                             std::int64_t j) {
  const auto n = static_cast<std::int64_t>(row.size());
  const std::int64_t start =
      options.boundary == gpu::boundary::valid ? j : j - options.window / 2 - options.origin;
  expected_mean result;
  long double sum = 0;
  for (std::int64_t e = start; e < start + options.window; ++e) {
    const std::int64_t at = walk_into_row(e, n, options.boundary);
    if (at < 0) {
      if (options.boundary == gpu::boundary::zero) ++result.places;
      continue;
    }
    const T value = row[static_cast<std::size_t>(at)];
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(value) && options.nans == gpu::nan_policy::omit) continue;
    } else {
      result.integer_sum += value;
    }
    ++result.places;
    sum += static_cast<long double>(value);
    result.magnitude += std::fabs(static_cast<long double>(value));
  }
  const auto places = static_cast<long double>(result.places);
  result.mean = sum / places;
  result.magnitude /= places;
  return result;
}

/// One output of a convolution and its sum of absolute products.
struct expected_product {
  long double sum = 0;
  long double magnitude = 0;
};

template <class T>
expected_product reference_convolution(std::span<const T> row, std::span<const double> weights,
                                       const gpu::convolve_options& options, std::int64_t i) {
  const auto n = static_cast<std::int64_t>(row.size());
  const auto size = static_cast<std::int64_t>(weights.size());
  expected_product result;
  for (std::int64_t k = 0; k < size; ++k) {
    const std::int64_t e = options.boundary == gpu::boundary::valid
                               ? i + size - 1 - k
                               : i + size / 2 + options.origin - k;
    const std::int64_t at = walk_into_row(e, n, options.boundary);
    if (at < 0) continue;
    const long double product = static_cast<long double>(weights[static_cast<std::size_t>(k)]) *
                                static_cast<long double>(row[static_cast<std::size_t>(at)]);
    result.sum += product;
    result.magnitude += std::fabs(product);
  }
  return result;
}

}  // namespace gpu_test
