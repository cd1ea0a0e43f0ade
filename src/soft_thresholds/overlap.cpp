#include "soft_thresholds/overlap.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

#include "stats/soft_power.hpp"

namespace gpu::soft_thresholds {

matrix<double> adjacencies(matrix_view<const double> statistics, const overlap_options& options) {
  const std::vector<stats::power_step> steps = stats::power_steps({{options.power}});
  const stats::power_step& step = steps.front();
  matrix<double> out(statistics.rows(), statistics.rows());
  for (index_t i = 0; i < out.rows(); ++i) {
    out(i, i) = 0;
    for (index_t j = i + 1; j < out.cols(); ++j) {
      const double base = stats::soft_base(statistics(i, j), options.network);
      double power = stats::power_of_fraction(base, step.fraction, stats::logarithm_of(base));
      for (int factor = 0; factor < step.factors; ++factor) power *= base;
      out(i, j) = out(j, i) = power;
    }
  }
  return out;
}

void finish_overlap(matrix_view<const double> statistics, const matrix<double>& adjacency,
                    matrix<double>& product) {
  const index_t rows = adjacency.rows();
  // NaN of a row without a statistic: what it enters becomes NaN.
  std::vector<double> k(static_cast<std::size_t>(rows));
  for (index_t i = 0; i < rows; ++i) {
    const auto row = adjacency.row(i);
    k[static_cast<std::size_t>(i)] = std::isnan(statistics(i, i))
                                         ? std::numeric_limits<double>::quiet_NaN()
                                         : std::accumulate(row.begin(), row.end(), 0.0);
  }
  for (index_t i = 0; i < rows; ++i) {
    const double of_i = k[static_cast<std::size_t>(i)];
    product(i, i) = std::isnan(of_i) ? of_i : 1.0;
    for (index_t j = i + 1; j < rows; ++j) {
      const double of_j = k[static_cast<std::size_t>(j)];
      const double least = std::isnan(of_i) || of_j >= of_i ? of_i : of_j;
      const double a = adjacency(i, j);
      product(i, j) = product(j, i) = (product(i, j) + a) / (least + 1 - a);
    }
  }
}

}  // namespace gpu::soft_thresholds
