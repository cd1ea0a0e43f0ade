// Windows that reach far beyond their row, against sums over whole periods in wide integers.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gpu/mean_filter.hpp>

#include "reference/mean_filter_reference.hpp"
#include "support/catch.hpp"

namespace {

__extension__ typedef __int128 wide;

// The sum of places first to first + window - 1 of the extended row, a period at a time.
wide far_sum(const std::vector<std::int32_t>& row, std::int64_t first, std::int64_t window,
             gpu::boundary mode) {
  const auto n = static_cast<std::int64_t>(row.size());
  const auto at = [&](std::int64_t e) -> wide {
    const std::int64_t index = gpu_test::walk_into_row(e, n, mode);
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

}  // namespace

TEST_CASE("A window of 2^31 - 1 elements costs what the row does", "[mean_filter]") {
  const std::int64_t longest = (std::int64_t{1} << 31) - 1;
  for (const std::size_t size : {1U, 2U, 4U, 7U}) {
    std::vector<std::int32_t> row(size);
    for (std::size_t i = 0; i < size; ++i) {
      row[i] = static_cast<std::int32_t>(i * i * 40503 % 1000) - 300;
    }
    for (const gpu::boundary mode : {gpu::boundary::reflect, gpu::boundary::mirror,
                                     gpu::boundary::wrap, gpu::boundary::nearest}) {
      for (const std::int64_t window : {longest, longest - 1, std::int64_t{1} << 20}) {
        for (const std::int64_t origin : {std::int64_t{0}, -(window / 2), (window - 1) / 2}) {
          for (const auto variant :
               {gpu::mean_filter_variant::direct, gpu::mean_filter_variant::block_sums}) {
            const gpu::mean_filter_options options{.window = window,
                                                   .origin = origin,
                                                   .boundary = mode,
                                                   .variant = variant,
                                                   .exec = {.target = gpu::backend::cpu}};
            std::vector<double> means(size);
            gpu::mean_filter(row, means, options);
            for (std::size_t j = 0; j < size; ++j) {
              const std::int64_t first = static_cast<std::int64_t>(j) - window / 2 - origin;
              // The sum is below 2^53: one rounding, that of the division.
              const double expected = static_cast<double>(far_sum(row, first, window, mode)) /
                                      static_cast<double>(window);
              INFO("size " << size << " window " << window << " origin " << origin << " "
                           << gpu::to_string(mode) << " output " << j);
              CHECK(means[j] == expected);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("Far windows treat Inf and NaN as near ones do", "[mean_filter]") {
  const double inf = std::numeric_limits<double>::infinity();
  gpu::mean_filter_options options{.window = 1000001, .exec = {.target = gpu::backend::cpu}};
  for (const auto variant :
       {gpu::mean_filter_variant::direct, gpu::mean_filter_variant::block_sums}) {
    options.variant = variant;
    for (const gpu::boundary mode : {gpu::boundary::reflect, gpu::boundary::wrap}) {
      options.boundary = mode;
      options.nans = gpu::nan_policy::propagate;
      for (const double mean : gpu::mean_filter(std::vector<double>{1, inf, 2}, options)) {
        CHECK(mean == inf);
      }
      for (const double mean : gpu::mean_filter(std::vector<double>{1, std::nan(""), 2}, options)) {
        CHECK(std::isnan(mean));
      }
      options.nans = gpu::nan_policy::omit;
      for (const double mean : gpu::mean_filter(std::vector<double>{5, std::nan(""), 5}, options)) {
        CHECK(mean == 5);
      }
    }
  }
}
