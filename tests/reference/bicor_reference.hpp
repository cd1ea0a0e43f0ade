#pragma once
// A slow oracle of the biweight midcorrelation: medians by sorting, textbook sums in long double.
// It shares no code with the library.

#include <algorithm>
#include <cmath>
#include <vector>

#include "reference/correlation_reference.hpp"

namespace gpu_test {

inline long double reference_median(std::vector<long double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/// The row that bicor takes the cosine of, not scaled; empty where there is none.
template <class T>
std::vector<long double> reference_bicor_row(const T* row, std::size_t cols) {
  const std::vector<long double> x(row, row + cols);
  const bool finite =
      std::all_of(x.begin(), x.end(), [](long double v) { return std::isfinite(v); });
  if (!finite || std::all_of(x.begin(), x.end(), [&](long double v) { return v == x[0]; })) {
    return {};
  }
  const long double median = reference_median(x);
  std::vector<long double> distance;
  for (const long double v : x) distance.push_back(std::abs(v - median));
  const long double mad = reference_median(distance);
  std::vector<long double> out;
  if (mad == 0) {
    // Differences first: the mean of a row far from zero has few digits of them.
    long double sum = 0;
    for (const long double v : x) sum += v - x[0];
    for (const long double v : x) out.push_back(v - x[0] - sum / static_cast<long double>(cols));
    return out;
  }
  for (const long double v : x) {
    const long double a = (v - median) / (9 * mad);
    out.push_back(std::abs(a) < 1 ? (v - median) * std::pow(1 - a * a, 2) : 0.0L);
  }
  return out;
}

template <class T>
statistic_table reference_bicor(gpu::matrix_view<const T> data) {
  const auto n = static_cast<std::size_t>(data.rows());
  const auto m = static_cast<std::size_t>(data.cols());
  std::vector<std::vector<long double>> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = reference_bicor_row(data.row(static_cast<gpu::index_t>(i)), m);
    long double largest = 0;
    for (const long double v : x[i]) largest = std::max(largest, std::abs(v));
    long double square = 0;
    for (long double& v : x[i]) {
      v /= largest;
      square += v * v;
    }
    for (long double& v : x[i]) v /= std::sqrt(square);
  }
  statistic_table out(n, std::vector<double>(n, std::numeric_limits<double>::quiet_NaN()));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (x[i].empty() || x[j].empty()) continue;
      long double sum = 0;
      for (std::size_t k = 0; k < m; ++k) sum += x[i][k] * x[j][k];
      out[i][j] = static_cast<double>(std::clamp(sum, -1.0L, 1.0L));
    }
  }
  return out;
}

}  // namespace gpu_test
