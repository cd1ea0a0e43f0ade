#pragma once
// Tables of two groups of columns, and the differences of their correlations by the definition in
// long double.

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gpu/differential.hpp>
#include <gpu/matrix.hpp>

#include "reference/correlation_reference.hpp"
#include "support/catch.hpp"
#include "support/generators.hpp"
#include "support/pair_target.hpp"

namespace gpu_test::differences {

inline constexpr std::array sides{gpu::tail::two_sided, gpu::tail::greater, gpu::tail::less};
inline constexpr std::array measures{gpu::measure::pearson, gpu::measure::spearman};
inline constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
inline constexpr double infinity = std::numeric_limits<double>::infinity();

struct groups {
  std::vector<gpu::index_t> first;
  std::vector<gpu::index_t> second;
  [[nodiscard]] gpu::column_groups view() const { return {first, second}; }
};

// Every third column is in neither group; the second stands in descending order.
inline groups some_groups(gpu::index_t cols) {
  groups out;
  for (gpu::index_t k = 0; k < cols; ++k) {
    if (k % 3 == 0) out.first.push_back(k);
    if (k % 3 == 1) out.second.insert(out.second.begin(), k);
  }
  return out;
}

// Rows that move together in the first group, and in the second only some; one constant in a group.
template <class T>
gpu::matrix<T> make_rows(gpu::index_t rows, gpu::index_t cols, std::uint64_t seed) {
  const auto noise = gpu_test::random_matrix<double>(rows, cols, seed);
  const auto common = gpu_test::random_matrix<double>(2, cols, seed + 1);
  gpu::matrix<T> out(rows, cols);
  for (gpu::index_t i = 0; i < rows; ++i) {
    for (gpu::index_t k = 0; k < cols; ++k) {
      const double own = k % 3 == 0 || i % 4 == 0 ? common(i % 2, k) : 0;
      double x = 20 * (noise(i, k) + own);
      if (i == 6 && k % 3 == 1) x = 2;
      out(i, k) = static_cast<T>(x);
    }
  }
  return out;
}

template <class T>
gpu::matrix<T> columns_of(const gpu::matrix<T>& data, const std::vector<gpu::index_t>& columns) {
  gpu::matrix<T> out(data.rows(), static_cast<gpu::index_t>(columns.size()));
  for (gpu::index_t i = 0; i < out.rows(); ++i) {
    for (gpu::index_t k = 0; k < out.cols(); ++k) {
      out(i, k) = data(i, columns[static_cast<std::size_t>(k)]);
    }
  }
  return out;
}

inline long double normal_p(long double z, gpu::tail side) {
  const long double root = std::sqrt(2.0L);
  if (side == gpu::tail::two_sided) return std::erfc(std::abs(z) / root);
  return 0.5L * std::erfc((side == gpu::tail::greater ? z : -z) / root);
}

struct pair_difference {
  gpu::node_id row;
  gpu::node_id col;
  double first;
  double second;
  long double z;
  long double p;
};

template <class T>
std::vector<pair_difference> every_pair(gpu::measure what, const gpu::matrix<T>& data,
                                        const groups& of, gpu::tail side) {
  const auto table = [&](const std::vector<gpu::index_t>& columns) {
    const auto group = columns_of(data, columns);
    return what == gpu::measure::pearson ? gpu_test::reference_pearson(const_view(group))
                                         : gpu_test::reference_spearman(const_view(group));
  };
  const auto first = table(of.first);
  const auto second = table(of.second);
  const long double factor = what == gpu::measure::spearman ? 1.06L : 1.0L;
  const long double error = std::sqrt(factor / static_cast<long double>(of.first.size() - 3) +
                                      factor / static_cast<long double>(of.second.size() - 3));
  std::vector<pair_difference> out;
  for (std::size_t i = 0; i < first.size(); ++i) {
    for (std::size_t j = i + 1; j < first.size(); ++j) {
      const double a = first[i][j];
      const double b = second[i][j];
      if (std::isnan(a) || std::isnan(b)) continue;
      const long double z = a == b ? 0.0L
                                   : (std::atanh(static_cast<long double>(a)) -
                                      std::atanh(static_cast<long double>(b))) /
                                         error;
      out.push_back(
          {static_cast<gpu::node_id>(i), static_cast<gpu::node_id>(j), a, b, z, normal_p(z, side)});
    }
  }
  return out;
}

// What a cut on z compares: large is extreme.
inline long double directed_z(const pair_difference& pair, gpu::tail side) {
  if (side == gpu::tail::two_sided) return std::abs(pair.z);
  return side == gpu::tail::greater ? pair.z : -pair.z;
}

// Kept ones; none may be so near a cut that rounding decides.
inline std::vector<pair_difference> kept_of(const std::vector<pair_difference>& all,
                                            const gpu::differential_filter& keep,
                                            long double max_p) {
  std::vector<pair_difference> out;
  for (const pair_difference& pair : all) {
    const long double directed = directed_z(pair, keep.side);
    if (max_p < 1) REQUIRE(std::abs(pair.p - max_p) > 1e-11L * max_p);
    if (keep.min_abs_z > 0) REQUIRE(std::abs(directed - keep.min_abs_z) > 1e-11L);
    if (pair.p <= max_p && (keep.min_abs_z == 0 || directed >= keep.min_abs_z)) out.push_back(pair);
  }
  return out;
}

}  // namespace gpu_test::differences
