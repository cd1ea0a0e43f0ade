#pragma once
// Windows that reach far beyond their row, against sums over whole periods in wide integers. Shared
// by the tests of both backends.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gpu/mean_filter.hpp>

#include "reference/mean_filter_reference.hpp"
#include "support/catch.hpp"

namespace gpu_test {

__extension__ typedef __int128 wide;

/// The sum of places first to first + window - 1 of the extended row, a period at a time.
inline wide far_sum(const std::vector<std::int32_t>& row, std::int64_t first, std::int64_t window,
                    gpu::boundary mode) {
  const auto n = static_cast<std::int64_t>(row.size());
  const auto at = [&](std::int64_t e) -> wide {
    const std::int64_t index = walk_into_row(e, n, mode);
    return row[static_cast<std::size_t>(index)];
  };
  if (mode == gpu::boundary::nearest) {
    const std::int64_t before = std::max<std::int64_t>(0, -first);
    const std::int64_t behind = std::max<std::int64_t>(0, first + window - n);
    wide sum = wide{before} * row.front() + wide{behind} * row.back();
    for (std::int64_t e = std::max<std::int64_t>(0, first); e < std::min(n, first + window); ++e) {
      sum += at(e);
    }
    return sum;
  }
  const std::int64_t period =
      mode == gpu::boundary::wrap
          ? n
          : (mode == gpu::boundary::reflect ? 2 * n : std::max<std::int64_t>(1, 2 * n - 2));
  wide whole = 0;
  for (std::int64_t e = 0; e < period; ++e) whole += at(e);
  wide sum = whole * (window / period);
  const std::int64_t start = (first % period + period) % period;
  for (std::int64_t k = 0; k < window % period; ++k) sum += at((start + k) % period);
  return sum;
}

/// Filters `row` into doubles with a far window and compares with whole periods.
template <class In>
void check_far_windows(const std::vector<In>& row, gpu::mean_filter_options options) {
  const std::vector<std::int32_t> values(row.begin(), row.end());
  const std::int64_t longest = (std::int64_t{1} << 31) - 1;
  for (const gpu::boundary mode : {gpu::boundary::reflect, gpu::boundary::mirror,
                                   gpu::boundary::wrap, gpu::boundary::nearest}) {
    for (const std::int64_t window : {longest, longest - 1, std::int64_t{1} << 20}) {
      for (const std::int64_t origin : {std::int64_t{0}, -(window / 2), (window - 1) / 2}) {
        options.window = window;
        options.origin = origin;
        options.boundary = mode;
        std::vector<double> means(row.size());
        gpu::mean_filter(row, means, options);
        std::size_t wrong = 0;
        // The oracle takes a period an output: of long rows a sample.
        const std::size_t step = 1 + row.size() / 40;
        for (std::size_t j = 0; j < row.size(); j += step) {
          const std::int64_t first = static_cast<std::int64_t>(j) - window / 2 - origin;
          // The sum is below 2^53: one rounding, that of the division.
          const double expected = static_cast<double>(far_sum(values, first, window, mode)) /
                                  static_cast<double>(window);
          wrong += means[j] != expected ? 1U : 0U;
        }
        INFO("size " << row.size() << " window " << window << " origin " << origin << " "
                     << gpu::to_string(mode) << " " << gpu::to_string(options.variant));
        CHECK(wrong == 0);
      }
    }
  }
}

/// Small integers: their sums are exact.
template <class In>
std::vector<In> far_window_row(std::size_t size) {
  std::vector<In> row(size);
  for (std::size_t i = 0; i < size; ++i) {
    row[i] = static_cast<In>(static_cast<std::int32_t>(i * i * 40503 % 100) - 30);
  }
  return row;
}

/// Inf and NaN of a far window, by whole periods and by copies of the ends.
inline void check_far_spoilers(gpu::mean_filter_options options) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  options.window = 1000001;
  for (const gpu::boundary mode :
       {gpu::boundary::reflect, gpu::boundary::mirror, gpu::boundary::wrap}) {
    options.boundary = mode;
    options.nans = gpu::nan_policy::propagate;
    for (const double mean : gpu::mean_filter(std::vector<double>{1, inf, 2}, options)) {
      CHECK(mean == inf);
    }
    for (const double mean : gpu::mean_filter(std::vector<double>{1, nan, 2}, options)) {
      CHECK(std::isnan(mean));
    }
    options.nans = gpu::nan_policy::omit;
    for (const double mean : gpu::mean_filter(std::vector<double>{5, nan, 5}, options)) {
      CHECK(mean == 5);
    }
    for (const double mean : gpu::mean_filter(std::vector<double>{nan, nan}, options)) {
      CHECK(std::isnan(mean));
    }
  }
  options.boundary = gpu::boundary::nearest;
  for (const double mean : gpu::mean_filter(std::vector<double>{nan, 4, 4}, options)) {
    CHECK(mean == 4);
  }
  options.nans = gpu::nan_policy::propagate;
  // Windows that begin at their output hold the first element in the first alone.
  options.origin = -(options.window / 2);
  CHECK(gpu::mean_filter(std::vector<double>{inf, 3, 3}, options) ==
        std::vector<double>{inf, 3, 3});
  options.origin = (options.window - 1) / 2;  // windows that end there
  CHECK(gpu::mean_filter(std::vector<double>{3, 3, -inf}, options) ==
        std::vector<double>{3, 3, -inf});
}

}  // namespace gpu_test
