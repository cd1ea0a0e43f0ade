#pragma once
// A slow oracle of partial and weighted correlation: weighted normal equations by Gaussian
// elimination in long double. It shares no code with the library.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include <gpu/matrix.hpp>

#include "reference/correlation_reference.hpp"

namespace gpu_test {

using reference_row = std::vector<long double>;

/// What the oracle is given: the values that are correlated (ranks of Spearman), the covariates
/// (their ranks), the weights (ones where there are none), and whether a constant is fitted.
struct reference_columns {
  std::vector<reference_row> covariates;
  reference_row weights;
  bool fits_constant = true;
};

template <class T>
std::vector<reference_row> reference_rows(gpu::matrix_view<const T> data, bool ranks) {
  std::vector<reference_row> out;
  for (gpu::index_t i = 0; i < data.rows(); ++i) {
    const T* const row = data.row(i);
    reference_row& x = out.emplace_back(row, row + data.cols());
    if (!ranks || reference_has_nan(row, data.cols())) continue;
    const auto u = reference_ranks(row, data.cols());
    std::copy(u.begin(), u.end(), x.begin());
  }
  return out;
}

/// Solves a x = b in place, with row pivots.
inline reference_row reference_solve(std::vector<reference_row> a, reference_row b) {
  const std::size_t n = b.size();
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t best = c;
    for (std::size_t r = c + 1; r < n; ++r) {
      if (std::abs(a[r][c]) > std::abs(a[best][c])) best = r;
    }
    std::swap(a[c], a[best]);
    std::swap(b[c], b[best]);
    for (std::size_t r = c + 1; r < n; ++r) {
      const long double f = a[r][c] / a[c][c];
      for (std::size_t k = c; k < n; ++k) a[r][k] -= f * a[c][k];
      b[r] -= f * b[c];
    }
  }
  for (std::size_t c = n; c-- > 0;) {
    for (std::size_t k = c + 1; k < n; ++k) b[c] -= a[c][k] * b[k];
    b[c] /= a[c][c];
  }
  return b;
}

/// What is left of a row by weighted least squares, times the roots of the weights.
inline reference_row reference_residual(const reference_row& row, const reference_columns& given) {
  std::vector<reference_row> fitted;
  if (given.fits_constant) fitted.emplace_back(row.size(), 1.0L);
  for (const reference_row& z : given.covariates) {
    // Least squares do not mind a constant taken off a covariate, the elimination does.
    long double sum = 0;
    for (const long double v : z) sum += v;
    reference_row& centred = fitted.emplace_back(z);
    for (long double& v : centred) v -= sum / static_cast<long double>(z.size());
  }
  const std::size_t n = fitted.size();
  std::vector<reference_row> normal(n, reference_row(n, 0));
  reference_row right(n, 0);
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t k = 0; k < row.size(); ++k) {
      for (std::size_t b = 0; b < n; ++b) {
        normal[a][b] += given.weights[k] * fitted[a][k] * fitted[b][k];
      }
      right[a] += given.weights[k] * fitted[a][k] * row[k];
    }
  }
  const reference_row by = reference_solve(normal, right);
  reference_row out = row;
  for (std::size_t k = 0; k < row.size(); ++k) {
    for (std::size_t a = 0; a < n; ++a) out[k] -= by[a] * fitted[a][k];
    out[k] *= std::sqrt(given.weights[k]);
  }
  return out;
}

/// NaN where a row is constant (where weights are positive), holds a NaN or an infinity, or is left
/// with next to nothing.
inline statistic_table reference_column_statistics(const std::vector<reference_row>& rows,
                                                   const reference_columns& given) {
  std::vector<reference_row> left;
  for (const reference_row& row : rows) {
    reference_row& own = left.emplace_back();
    if (!std::all_of(row.begin(), row.end(), [](long double v) { return std::isfinite(v); })) {
      continue;
    }
    long double first = std::numeric_limits<long double>::quiet_NaN();
    bool varies = false;
    long double square = 0;
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (given.weights[k] == 0) continue;
      if (std::isnan(first)) first = row[k];
      varies |= row[k] != first;
      square += given.weights[k] * row[k] * row[k];
    }
    if (given.fits_constant ? !varies : square == 0) continue;
    own = reference_residual(row, given);
    long double rest = 0;
    for (const long double v : own) rest += v * v;
    if (!given.covariates.empty() && rest <= 1e-24L * square) own.clear();
    for (long double& v : own) v /= std::sqrt(rest);
  }
  const std::size_t n = rows.size();
  statistic_table out(n, std::vector<double>(n, std::numeric_limits<double>::quiet_NaN()));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (left[i].empty() || left[j].empty()) continue;
      long double sum = 0;
      for (std::size_t k = 0; k < left[i].size(); ++k) sum += left[i][k] * left[j][k];
      out[i][j] = static_cast<double>(std::clamp(sum, -1.0L, 1.0L));
    }
  }
  return out;
}

}  // namespace gpu_test
