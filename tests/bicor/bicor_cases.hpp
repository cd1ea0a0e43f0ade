#pragma once
// The cases of the biweight midcorrelation beside those of every measure: rows whose MAD is 0,
// outliers, literals, and what is refused.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <gpu/all_pairs.hpp>
#include <gpu/error.hpp>
#include <gpu/plan.hpp>
#include <gpu/prepared_rows.hpp>

#include "reference/bicor_reference.hpp"
#include "support/pair_cases.hpp"

namespace gpu_test {

/// What docs/numerics.md says.
inline constexpr double largest_bicor_difference = 8e-15;

struct bicor_measure {
  static constexpr bool ties_are_exact = false;

  template <class View, class Sink>
  static auto run(const View& data, const gpu::pair_options& options, const Sink& sink) {
    return gpu::bicor_all_pairs(data, options, sink);
  }
  template <class X, class Y, class Sink>
  static auto against(const X& x, const Y& y, const gpu::pair_options& options, const Sink& sink) {
    return gpu::bicor_all_pairs(x, y, options, sink);
  }
  template <class View>
  static auto plan(const View& data, const gpu::pair_options& options,
                   const gpu::pair_filter& keep) {
    return gpu::plan_all_pairs(gpu::measure::bicor, data, options, keep);
  }
  template <class T>
  static statistic_table oracle(gpu::matrix_view<const T> data) {
    return reference_bicor(data);
  }
  static bool same(double got, double wanted) {
    return std::abs(got - wanted) <= largest_bicor_difference;
  }
  static bool same_dense(double got, double wanted) { return std::abs(got - wanted) <= 2e-6; }
};

/// Rows of normal values that move together in groups; some have outliers, one in seven is mostly
/// one value (its MAD is 0), and one is all one value.
template <class T>
gpu::matrix<T> robust_rows(gpu::index_t rows, gpu::index_t cols, std::uint64_t seed) {
  const auto noise = random_matrix<double>(rows, cols, seed);
  const auto common = random_matrix<double>(5, cols, seed + 1);
  gpu::matrix<T> out(rows, cols);
  for (gpu::index_t i = 0; i < rows; ++i) {
    for (gpu::index_t k = 0; k < cols; ++k) {
      double x = noise(i, k) + common(i % 5, k);
      if (i % 3 == 1 && (k + i) % 11 == 0) x *= 50;
      if (i % 7 == 6 && (k + i) % 3 != 0) x = 0.5;
      if (i == 9) x = 0.25;
      out(i, k) = static_cast<T>(std::is_integral_v<T> ? 8 * x : x);
    }
  }
  return out;
}

/// Every length around a warp's, a block's and a pass's edge.
/// The naive kernels of CUDA hold a row.
inline gpu::index_t most_bicor_columns(const pair_target& target) {
  const bool holds_rows =
      target.where == gpu::backend::cuda && target.variant == gpu::pair_variant::naive;
  return holds_rows ? 4096 : std::numeric_limits<gpu::index_t>::max();
}

inline void bicor_of_every_length(const pair_target& target) {
  GPU_TEST_INFO(target);
  for (const gpu::index_t cols : {3,   4,   5,   10,  31,  32,  33,  63,   64,   65,  100,
                                  127, 128, 129, 255, 256, 257, 300, 1023, 1025, 4099}) {
    if (cols > most_bicor_columns(target)) continue;
    INFO(cols << " columns");
    check_dense<bicor_measure>(const_view(robust_rows<float>(23, cols, 3)), target);
    check_dense<bicor_measure>(const_view(robust_rows<std::int16_t>(16, cols, 4)), target);
  }
  if (most_bicor_columns(target) < 100'003) return;
  check_dense<bicor_measure>(const_view(robust_rows<double>(9, 100'003, 5)), target);
}

inline void rows_without_spread_are_those_of_pearson(const pair_target& target) {
  GPU_TEST_INFO(target);
  for (const gpu::index_t cols : {10, 40, 300, 2000}) {
    gpu::matrix<double> data(30, cols);
    const auto values = random_matrix<double>(30, cols, 8);
    for (gpu::index_t i = 0; i < 30; ++i) {
      for (gpu::index_t k = 0; k < cols; ++k) {
        data(i, k) = (k + i) % 5 < 3 ? 2.125 + static_cast<double>(i) : 1e3 * values(i, k);
      }
    }
    const gpu::edge_sink sink{};
    const auto wanted = gpu::pearson_all_pairs(data.view(), target.options(), sink);
    CHECK(wanted.edges.size() == 30 * 29 / 2);
    CHECK(gpu::bicor_all_pairs(data.view(), target.options(), sink).edges == wanted.edges);
  }
}

inline void extreme_rows_keep_their_digits(const pair_target& target) {
  GPU_TEST_INFO(target);
  auto data = robust_rows<double>(12, 41, 17);
  for (gpu::index_t k = 0; k < 41; ++k) {
    data(1, k) = data(0, k) * 0x1p-1000;
    data(2, k) = data(0, k) * 0x1p+1000;
    data(3, k) = data(0, k) + 1e5;
    data(4, k) = -data(0, k);
    data(5, k) = k < 20 ? 1.0 : 2.0;  // MAD is half of the distance of two values
    data(10, k) = k % 2 == 0 ? 0.0 : -0.0;
  }
  data(6, 3) = 1e300;
  data(7, 3) = std::numeric_limits<double>::infinity();
  check_dense<bicor_measure>(const_view(data), target);
  const auto got = gpu::bicor_all_pairs(data.view(), target.options(), gpu::edge_sink{});
  CHECK(got.summary.constant_rows == std::vector<gpu::index_t>{9, 10});
  CHECK(got.summary.infinite_rows == std::vector<gpu::index_t>{7});
}

/// The largest difference from the oracle, whose long doubles subtract what stands below without a
/// rounding. The offset of a row is what it has in common with its median.
template <class T>
double largest_bicor_error(const pair_target& target, const gpu::matrix<double>& data,
                           double offset) {
  gpu::matrix<T> moved(data.rows(), data.cols());
  for (gpu::index_t i = 0; i < data.rows(); ++i) {
    // Rows on either side of zero, and one where it is.
    const double by = i == 0 ? 0 : i % 3 == 2 ? -offset : offset;
    for (gpu::index_t k = 0; k < data.cols(); ++k) moved(i, k) = static_cast<T>(data(i, k) + by);
  }
  const auto wanted = reference_bicor(const_view(moved));
  const auto got = gpu::bicor_all_pairs(moved.view(), target.options(), gpu::dense_sink{});
  double error = 0;
  for (gpu::index_t i = 0; i < data.rows(); ++i) {
    for (gpu::index_t j = i + 1; j < data.rows(); ++j) {
      const double expected = wanted[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
      if (std::isnan(expected) && std::isnan(got(i, j))) continue;
      // A statistic on one side alone is an error without bounds.
      error = std::fmax(error, std::abs(got(i, j) - expected) >= 0
                                   ? std::abs(got(i, j) - expected)
                                   : std::numeric_limits<double>::infinity());
    }
  }
  return error;
}

inline void bicor_far_from_zero_keeps_its_digits(const pair_target& target) {
  GPU_TEST_INFO(target);
  for (const gpu::index_t cols : {3, 4, 5, 10, 11, 32, 57, 64, 100, 101, 300, 1001, 1024}) {
    const auto data = robust_rows<double>(21, cols, static_cast<std::uint64_t>(cols));
    const auto whole = robust_rows<std::int16_t>(21, cols, static_cast<std::uint64_t>(cols));
    gpu::matrix<double> integers(21, cols);
    std::copy_n(whole.data(), 21 * cols, integers.data());
    const auto check = [&]<class T>(const gpu::matrix<double>& rows, double offset, T) {
      INFO(cols << " columns, " << sizeof(T) << " bytes, offset " << offset);
      CHECK(largest_bicor_error<T>(target, rows, offset) <= largest_bicor_difference);
    };
    for (const double offset : {0.0, 1e3, 1e6, 1e9, 1e12, 1e15, 0x1p52, 0x1p300}) {
      check(data, offset, double{});
      check(integers, offset, double{});
    }
    for (const double offset : {1e3, 1e5, 1e7}) check(data, offset, float{});
    for (const double offset : {1e3, 1e6, 2e9}) check(integers, offset, std::int32_t{});
    check(integers, 3e4, std::int16_t{});
    gpu::matrix<double> bytes(21, cols);
    std::transform(whole.data(), whole.data() + 21 * cols, bytes.data(),
                   [](std::int16_t x) { return std::clamp<double>(x, -27, 27); });
    check(bytes, 100, std::int8_t{});
    check(integers, 0x1p52, std::int64_t{});
  }
  // Python's fractions: 0.479716109520832475...
  const std::vector<double> near{0, 1, 2, 7, 2, 0, 9, 4};
  std::vector<double> far = near;
  for (double& x : far) x += 0x1p52;
  for (const auto& values : {near, far}) {
    const auto got =
        gpu::bicor_all_pairs(gpu::as_matrix(values, 2, 4), target.options(), gpu::edge_sink{});
    REQUIRE(got.edges.size() == 1);
    CHECK(std::abs(got.edges[0].statistic - 0.47971610952083248) <= 2e-16);
  }
}

/// astropy 8.0.2, stats.biweight_midcorrelation.
inline void bicor_equals_astropy(const pair_target& target) {
  GPU_TEST_INFO(target);
  const std::vector<double> values{1,   2,  3,    4, 5,  6, 7, 100, 2, 1, 4,  3, 7, 5, 9, 8,
                                   0.5, -1, 2.25, 8, -3, 4, 4, 1,   9, 1, -4, 2, 6, 2, 2, -1.5};
  const auto check = [&](gpu::index_t cols, const std::vector<double>& wanted) {
    const gpu::matrix_view<const double> data(values.data(), 4, cols, 8);
    const auto got = gpu::bicor_all_pairs(data, target.options(), gpu::edge_sink{}).edges;
    REQUIRE(got.size() == wanted.size());
    for (std::size_t e = 0; e < wanted.size(); ++e) {
      CHECK(std::abs(got[e].statistic - wanted[e]) <= 1e-15);
    }
  };
  check(8, {0.7687635125386703, 0.3128940849352689, -0.12856156444552863, 0.024907614849545887,
            -0.14302230390413087, -0.27944970366253463});
  check(7, {0.8706212391657419, 0.396768517327127, 0.1810648243698596, 0.10136519982526992,
            0.35925556127603575, -0.3774012964960847});
}

inline void run_bicor_cases(const pair_target& target) {
  run_common_pair_cases<bicor_measure>(target);
  SECTION("every length of rows") {
    bicor_of_every_length(target);
  }
  SECTION("rows without spread are those of Pearson") {
    rows_without_spread_are_those_of_pearson(target);
  }
  SECTION("extreme rows keep their digits") {
    extreme_rows_keep_their_digits(target);
  }
  SECTION("rows far from zero keep their digits") {
    bicor_far_from_zero_keeps_its_digits(target);
  }
  SECTION("astropy's values") {
    bicor_equals_astropy(target);
  }
}

}  // namespace gpu_test
