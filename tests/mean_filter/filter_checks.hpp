#pragma once
// Filters seeded data and compares every output, or a sample of them, with the oracle. Shared by
// the tests of both backends.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gpu/mean_filter.hpp>

#include "reference/mean_filter_reference.hpp"
#include "support/catch.hpp"
#include "support/generators.hpp"

namespace gpu_test {

using gpu::boundary;
using gpu::index_t;
using gpu::mean_filter_options;
using gpu::mean_filter_variant;
using gpu::nan_policy;

inline const gpu::execution cpu{.target = gpu::backend::cpu, .cpu_threads = 2};

inline mean_filter_options on_cuda(mean_filter_variant variant) {
  return {.variant = variant, .exec = {.target = gpu::backend::cuda}};
}

inline constexpr boundary all_boundaries[] = {
    boundary::zero, boundary::reflect, boundary::nearest, boundary::mirror,
    boundary::wrap, boundary::shrink,  boundary::valid};

template <class T>
T ulp(T value) {
  const T magnitude = std::fabs(value);
  return std::nextafter(magnitude, std::numeric_limits<T>::infinity()) - magnitude;
}

/// Whether `got` is a right answer: 2 ulp of the mean absolute value for doubles; the rounding of
/// a sum in double for float; exact, truncated, for integers.
template <class In, class Out>
bool is_right(Out got, const expected_mean& expected, index_t window) {
  if constexpr (std::is_integral_v<Out>) {
    return got == expected.integer_sum / expected.places;
  } else {
    if (std::isnan(expected.mean)) return std::isnan(got);
    if (std::isinf(expected.mean)) return static_cast<long double>(got) == expected.mean;
    const long double error = std::fabs(static_cast<long double>(got) - expected.mean);
    if constexpr (std::is_same_v<Out, float>) {
      const auto rounded = static_cast<float>(expected.mean);
      return error <= 0.51L * static_cast<long double>(ulp(rounded)) +
                          std::ldexp(expected.magnitude * static_cast<long double>(window), -53);
    } else {
      return error <= 2 * static_cast<long double>(ulp(static_cast<double>(expected.magnitude)));
    }
  }
}

/// The first output of a row that is wrong; -1 where none is. `stride` > 1 takes a sample.
template <class In, class Out>
index_t first_wrong(std::span<const In> in, std::span<const Out> out,
                    const mean_filter_options& options, index_t stride = 1) {
  const auto size = static_cast<index_t>(out.size());
  for (index_t j = 0; j < size; j += stride) {
    const auto expected = reference_mean<In>(in, options, j);
    if (!is_right<In, Out>(out[static_cast<std::size_t>(j)], expected, options.window)) {
      UNSCOPED_INFO("output " << j << " is " << +out[static_cast<std::size_t>(j)] << ", expected "
                              << static_cast<double>(expected.mean));
      return j;
    }
  }
  return -1;
}

/// Normal or full-range values, with every 7th a NaN where asked.
template <class T>
std::vector<T> test_row(index_t size, std::uint64_t seed, bool with_nan = false) {
  const auto values = random_matrix<T>(1, size, seed);
  std::vector<T> row(values.data(), values.data() + size);
  if constexpr (std::is_floating_point_v<T>) {
    if (with_nan) {
      for (std::size_t i = 3; i < row.size(); i += 7) row[i] = std::numeric_limits<T>::quiet_NaN();
    }
  }
  return row;
}

/// Filters a vector on the backend of `options` and checks it.
template <class In, class Out>
void check_vector(index_t size, const mean_filter_options& options, std::uint64_t seed,
                  index_t stride = 1, bool with_nan = false) {
  const std::vector<In> in = test_row<In>(size, seed, with_nan);
  std::vector<Out> out(
      static_cast<std::size_t>(gpu::filtered_size(size, options.window, options.boundary)),
      static_cast<Out>(77));
  gpu::mean_filter(std::span(in), std::span(out), options);
  const index_t wrong =
      first_wrong<In, Out>(std::span<const In>(in), std::span<const Out>(out), options, stride);
  INFO("size " << size << " window " << options.window << " origin " << options.origin
               << " boundary " << gpu::to_string(options.boundary) << " variant "
               << gpu::to_string(options.variant) << " omit " << (options.nans == nan_policy::omit)
               << " seed " << seed);
  CHECK(wrong == -1);
}

/// The origins worth trying: both ends and the middle.
inline std::vector<index_t> test_origins(index_t window, boundary mode) {
  if (mode == boundary::valid || window == 1) return {0};
  return {-(window / 2), 0, (window - 1) / 2};
}

/// Every boundary, origin and NaN policy for one size and window.
template <class In, class Out>
void check_all_boundaries(index_t size, index_t window, mean_filter_options options,
                          std::uint64_t seed) {
  options.window = window;
  for (const boundary mode : all_boundaries) {
    options.boundary = mode;
    for (const index_t origin : test_origins(window, mode)) {
      options.origin = origin;
      options.nans = nan_policy::propagate;
      check_vector<In, Out>(size, options, seed);
      if constexpr (std::is_floating_point_v<In>) {
        options.nans = nan_policy::omit;
        check_vector<In, Out>(size, options, seed, 1, true);
      }
    }
  }
}

/// Rows with odd strides on both sides: right outputs, and padding left alone.
template <class In, class Out>
void check_rows(index_t rows, index_t cols, const mean_filter_options& options,
                std::uint64_t seed) {
  const index_t in_stride = cols + 3;
  const index_t out_cols = gpu::filtered_size(cols, options.window, options.boundary);
  const index_t out_stride = out_cols + 5;
  const std::vector<In> in = test_row<In>(rows * in_stride, seed);
  const auto untouched = static_cast<Out>(77);
  std::vector<Out> out(static_cast<std::size_t>(rows * out_stride), untouched);
  gpu::mean_filter(gpu::matrix_view<const In>(in.data(), rows, cols, in_stride),
                   gpu::matrix_view<Out>(out.data(), rows, out_cols, out_stride), options);
  bool padding_kept = true;
  for (index_t i = 0; i < rows; ++i) {
    const std::span<const In> row(in.data() + i * in_stride, static_cast<std::size_t>(cols));
    const std::span<const Out> result(out.data() + i * out_stride,
                                      static_cast<std::size_t>(out_cols));
    INFO("row " << i << " of " << rows << " x " << cols << " window " << options.window
                << " variant " << gpu::to_string(options.variant));
    CHECK(first_wrong<In, Out>(row, result, options) == -1);
    for (index_t j = out_cols; j < out_stride; ++j) {
      padding_kept &= out[static_cast<std::size_t>(i * out_stride + j)] == untouched;
    }
  }
  CHECK(padding_kept);
}

/// The largest element and NaN or Inf at one place touch only the windows that hold them.
template <class T>
void check_locality(index_t size, mean_filter_options options, T spoiler) {
  const std::vector<T> clean = test_row<T>(size, 99);
  std::vector<T> spoilt = clean;
  const index_t place = size / 2 + 3;
  spoilt[static_cast<std::size_t>(place)] = spoiler;
  options.boundary = boundary::zero;
  const std::vector<T> expected = gpu::mean_filter(std::span(clean), options);
  const std::vector<T> got = gpu::mean_filter(std::span(spoilt), options);
  const index_t first = place - (options.window - 1 - options.window / 2 - options.origin);
  const index_t last = place + options.window / 2 + options.origin;
  index_t touched = 0;
  for (index_t j = 0; j < size; ++j) {
    const auto k = static_cast<std::size_t>(j);
    if (j < first || j > last) touched += got[k] != expected[k];
  }
  INFO("size " << size << " window " << options.window << " variant "
               << gpu::to_string(options.variant) << " spoiler " << spoiler);
  CHECK(touched == 0);
  CHECK(first_wrong<T, T>(std::span<const T>(spoilt), std::span<const T>(got), options) == -1);
}

}  // namespace gpu_test
