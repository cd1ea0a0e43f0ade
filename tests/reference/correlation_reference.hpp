#pragma once
// Slow oracles of all pairs: integer ranks by counting, textbook sums in long double. They share
// no code with the library.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include <gpu/index.hpp>
#include <gpu/matrix.hpp>
#include <gpu/pair_sinks.hpp>

namespace gpu_test {

/// A symmetric matrix of statistics [n, n], NaN where there is none.
using statistic_table = std::vector<std::vector<double>>;

/// Doubled centred average ranks: how many values are smaller, less how many are larger.
template <class T>
std::vector<std::int64_t> reference_ranks(const T* row, gpu::index_t cols) {
  std::vector<std::int64_t> u(static_cast<std::size_t>(cols));
  for (gpu::index_t a = 0; a < cols; ++a) {
    for (gpu::index_t b = 0; b < cols; ++b) {
      u[static_cast<std::size_t>(a)] += (row[b] < row[a] ? 1 : 0) - (row[b] > row[a] ? 1 : 0);
    }
  }
  return u;
}

template <class T>
bool reference_has_nan(const T* row, gpu::index_t cols) {
  return std::any_of(row, row + cols, [](T x) { return x != x; });
}

inline std::int64_t reference_product(const std::vector<std::int64_t>& x,
                                      const std::vector<std::int64_t>& y) {
  std::int64_t sum = 0;
  for (std::size_t k = 0; k < x.size(); ++k) sum += x[k] * y[k];
  return sum;
}

template <class T>
statistic_table reference_spearman(gpu::matrix_view<const T> data) {
  const auto n = static_cast<std::size_t>(data.rows());
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<std::vector<std::int64_t>> u;
  std::vector<std::int64_t> square(n);
  for (std::size_t i = 0; i < n; ++i) {
    const T* row = data.row(static_cast<gpu::index_t>(i));
    u.push_back(reference_ranks(row, data.cols()));
    square[i] = reference_has_nan(row, data.cols()) ? 0 : reference_product(u[i], u[i]);
  }
  statistic_table out(n, std::vector<double>(n, nan));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (square[i] == 0 || square[j] == 0) continue;
      const double product = static_cast<double>(reference_product(u[i], u[j]));
      const double rho =
          product / std::sqrt(static_cast<double>(square[i]) * static_cast<double>(square[j]));
      out[i][j] = std::clamp(rho, -1.0, 1.0);
    }
  }
  return out;
}

template <class T>
statistic_table reference_pearson(gpu::matrix_view<const T> data) {
  const auto n = static_cast<std::size_t>(data.rows());
  const auto m = static_cast<std::size_t>(data.cols());
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<std::vector<long double>> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    const T* row = data.row(static_cast<gpu::index_t>(i));
    const bool constant = std::all_of(row, row + m, [&](T v) { return v == row[0]; });
    long double sum = 0;
    for (std::size_t k = 0; k < m; ++k) sum += row[k];
    if (constant || !std::isfinite(sum)) continue;
    long double length = 0;
    for (std::size_t k = 0; k < m; ++k) {
      x[i].push_back(row[k] - sum / static_cast<long double>(m));
      length += x[i][k] * x[i][k];
    }
    for (long double& value : x[i]) value /= std::sqrt(length);
  }
  statistic_table out(n, std::vector<double>(n, nan));
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

/// x . y / (|x| |y|) in long double; NaN for a row of zeros or with a value that is not finite.
template <class T>
statistic_table reference_cosine(gpu::matrix_view<const T> data) {
  const auto n = static_cast<std::size_t>(data.rows());
  const auto m = static_cast<std::size_t>(data.cols());
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<long double> length(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    const T* row = data.row(static_cast<gpu::index_t>(i));
    for (std::size_t k = 0; k < m; ++k) {
      length[i] += static_cast<long double>(row[k]) * static_cast<long double>(row[k]);
    }
    length[i] = std::sqrt(length[i]);
  }
  statistic_table out(n, std::vector<double>(n, nan));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (!(length[i] > 0 && length[j] > 0)) continue;
      if (!std::isfinite(length[i]) || !std::isfinite(length[j])) continue;
      const T* x = data.row(static_cast<gpu::index_t>(i));
      const T* y = data.row(static_cast<gpu::index_t>(j));
      long double sum = 0;
      for (std::size_t k = 0; k < m; ++k) {
        sum += static_cast<long double>(x[k]) / length[i] *
               (static_cast<long double>(y[k]) / length[j]);
      }
      out[i][j] = static_cast<double>(std::clamp(sum, -1.0L, 1.0L));
    }
  }
  return out;
}

/// I_x(a, b) by its power series, all terms positive: x^a (1-x)^b / (a B(a, b)) times the sum of
/// (a+b)_n / (a+1)_n x^n (Abramowitz and Stegun 26.5.4).
inline long double reference_beta_series(long double a, long double b, long double x) {
  long double term = 1;
  long double sum = 1;
  for (int n = 0; term > sum * 1e-21L && n < 2'000'000; ++n) {
    term *= (a + b + n) / (a + 1 + n) * x;
    sum += term;
  }
  const long double log_scale = a * std::log(x) + b * std::log1p(-x) + std::lgamma(a + b) -
                                std::lgamma(a + 1) - std::lgamma(b);
  return std::exp(log_scale) * sum;
}

/// p of Student's t for a correlation, in long double.
inline double reference_p(double r, gpu::observation_count observations, gpu::tail side) {
  const long double half_freedom = static_cast<long double>(observations - 2) / 2;
  const long double square = static_cast<long double>(r) * r;
  long double both = 1;
  if (square >= 1) {
    both = 0;
  } else if (square * half_freedom > 0.5L) {
    both = reference_beta_series(half_freedom, 0.5L, 1 - square);
  } else if (square > 0) {
    both = 1 - reference_beta_series(0.5L, half_freedom, square);
  }
  switch (side) {
    case gpu::tail::two_sided:
      return static_cast<double>(both);
    case gpu::tail::greater:
      return static_cast<double>(r > 0 ? both / 2 : 1 - both / 2);
    case gpu::tail::less:
      return static_cast<double>(r < 0 ? both / 2 : 1 - both / 2);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

/// One pair above the diagonal.
struct reference_pair {
  gpu::node_id row;
  gpu::node_id col;
  double statistic;
};

/// The pairs that have a statistic, in the order (row, col).
inline std::vector<reference_pair> reference_pairs(const statistic_table& table) {
  std::vector<reference_pair> out;
  for (std::size_t i = 0; i < table.size(); ++i) {
    for (std::size_t j = i + 1; j < table.size(); ++j) {
      if (table[i][j] == table[i][j]) {
        out.push_back({static_cast<gpu::node_id>(i), static_cast<gpu::node_id>(j), table[i][j]});
      }
    }
  }
  return out;
}

/// How extreme a statistic is in the direction of the tail: larger is more so.
inline double reference_key(double r, gpu::tail side) {
  return side == gpu::tail::two_sided ? std::abs(r) : (side == gpu::tail::greater ? r : -r);
}

/// What partners are ordered by, the largest first.
inline double reference_partner_key(double r, gpu::neighbor_order order, gpu::tail side) {
  if (order == gpu::neighbor_order::by_absolute_value) return std::abs(r);
  return side == gpu::tail::less ? -r : r;
}

/// The largest p that the textbook Benjamini-Hochberg procedure rejects, from all sorted p;
/// negative where it rejects none. `p` in any order.
inline double reference_benjamini_hochberg(std::vector<double> p, double alpha) {
  std::sort(p.begin(), p.end());
  for (std::size_t k = p.size(); k > 0; --k) {
    if (p[k - 1] <= alpha * static_cast<double>(k) / static_cast<double>(p.size())) return p[k - 1];
  }
  return -1;
}

}  // namespace gpu_test
