#pragma once
// A slow oracle of Kendall's tau-b: every pair of columns is looked at, p in long double by the
// textbook. It shares no code with the library.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include <gpu/index.hpp>
#include <gpu/pair_sinks.hpp>

#include "reference/correlation_reference.hpp"

namespace gpu_test {

/// The pairs of columns of two rows, counted one by one.
struct kendall_counts {
  std::int64_t concordant = 0;
  std::int64_t discordant = 0;
  std::int64_t tied_x = 0;
  std::int64_t tied_y = 0;
  [[nodiscard]] std::int64_t sum() const { return concordant - discordant; }
};

template <class T>
kendall_counts count_pairs(const T* x, const T* y, gpu::index_t cols) {
  kendall_counts out;
  for (gpu::index_t a = 0; a < cols; ++a) {
    for (gpu::index_t b = a + 1; b < cols; ++b) {
      const int dx = (x[b] > x[a] ? 1 : 0) - (x[b] < x[a] ? 1 : 0);
      const int dy = (y[b] > y[a] ? 1 : 0) - (y[b] < y[a] ? 1 : 0);
      out.concordant += dx * dy > 0 ? 1 : 0;
      out.discordant += dx * dy < 0 ? 1 : 0;
      out.tied_x += dx == 0 ? 1 : 0;
      out.tied_y += dy == 0 ? 1 : 0;
    }
  }
  return out;
}

/// NaN where a row is constant or holds a NaN.
template <class T>
double reference_tau(const T* x, const T* y, gpu::index_t cols) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (reference_has_nan(x, cols) || reference_has_nan(y, cols)) return nan;
  const kendall_counts of = count_pairs(x, y, cols);
  const std::int64_t all = cols * (cols - 1) / 2;
  if (of.tied_x == all || of.tied_y == all) return nan;
  const double tau =
      static_cast<double>(of.sum()) /
      std::sqrt(static_cast<double>(all - of.tied_x) * static_cast<double>(all - of.tied_y));
  return std::clamp(tau, -1.0, 1.0);
}

template <class T>
statistic_table reference_kendall(gpu::matrix_view<const T> data) {
  const auto n = static_cast<std::size_t>(data.rows());
  statistic_table out(n, std::vector<double>(n));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i; j < n; ++j) {
      const auto row = [&](std::size_t k) { return data.row(static_cast<gpu::index_t>(k)); };
      out[i][j] = out[j][i] = reference_tau(row(i), row(j), data.cols());
    }
  }
  return out;
}

/// How many orders of `n` values have so many discordant pairs with the natural one, for all.
inline const std::vector<long double>& orders_by_discordant(gpu::index_t n) {
  static std::map<gpu::index_t, std::vector<long double>> known;
  std::vector<long double>& of = known[n];
  if (!of.empty()) return of;
  of = {1};
  for (gpu::index_t j = 2; j <= n; ++j) {
    std::vector<long double> next(of.size() + static_cast<std::size_t>(j) - 1);
    for (std::size_t d = 0; d < next.size(); ++d) {
      for (std::size_t k = 0; k < static_cast<std::size_t>(j) && k <= d; ++k) {
        if (d - k < of.size()) next[d] += of[d - k];
      }
    }
    of = next;
  }
  return of;
}

/// Sums over the groups of equal values of a row, of t (t - 1) (t + c).
template <class T>
long double tie_sum(const T* x, gpu::index_t cols, long double factor, long double c) {
  std::map<T, long double> groups;
  for (gpu::index_t k = 0; k < cols; ++k) ++groups[x[k]];
  long double sum = 0;
  for (const auto& [value, t] : groups) sum += t * (t - 1) * (factor * t + c);
  return sum;
}

/// p of two rows, by the side: exact or asymptotic as SciPy chooses by itself.
template <class T>
long double reference_kendall_p(const T* x, const T* y, gpu::index_t cols, gpu::tail side) {
  const kendall_counts of = count_pairs(x, y, cols);
  const auto n = static_cast<long double>(cols);
  const std::int64_t all = cols * (cols - 1) / 2;
  const bool is_untied = of.tied_x == 0 && of.tied_y == 0;
  if (is_untied && (cols <= 33 || std::min(of.concordant, of.discordant) <= 1)) {
    // Of long rows the extremes alone are asked for: 1 and n - 1 orders, of n!.
    std::vector<long double> orders;
    if (cols <= 33) {
      orders = orders_by_discordant(cols);
    } else {
      orders.assign(static_cast<std::size_t>(all) + 1, 0);
      orders[0] = orders.back() = 1;
      orders[1] = orders[orders.size() - 2] = n - 1;
    }
    const long double permutations = std::tgamma(n + 1);
    const auto share = [&](std::int64_t first, std::int64_t last) {
      long double sum = 0;
      for (std::int64_t d = first; d <= last; ++d) sum += orders[static_cast<std::size_t>(d)];
      return sum / permutations;
    };
    const auto at_most = [&](std::int64_t d) {
      if (cols > 33 && d > 1) return d == all ? 1.0L : 1 - share(d + 1, all);
      return share(0, d);
    };
    if (side == gpu::tail::greater) return at_most(of.discordant);
    if (side == gpu::tail::less) return at_most(of.concordant);
    return std::min(1.0L, 2 * at_most(std::min(of.concordant, of.discordant)));
  }
  const long double v0 = n * (n - 1) * (2 * n + 5);
  const long double vt = tie_sum(x, cols, 2, 5);
  const long double vu = tie_sum(y, cols, 2, 5);
  const long double v1 = tie_sum(x, cols, 0, 1) * tie_sum(y, cols, 0, 1);
  const long double v2 = tie_sum(x, cols, 1, -2) * tie_sum(y, cols, 1, -2);
  const long double variance =
      (v0 - vt - vu) / 18 + v1 / (2 * n * (n - 1)) + v2 / (9 * n * (n - 1) * (n - 2));
  const long double z = static_cast<long double>(of.sum()) / std::sqrt(variance);
  if (side == gpu::tail::two_sided) return std::erfc(std::abs(z) / std::sqrt(2.0L));
  return std::erfc((side == gpu::tail::greater ? z : -z) / std::sqrt(2.0L)) / 2;
}

}  // namespace gpu_test
