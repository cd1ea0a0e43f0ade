#include "soft_thresholds/networks.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

#include "stats/soft_power.hpp"

namespace gpu::soft_thresholds {
namespace {

void mark(const std::vector<index_t>& rows, detail::index_range panel,
          matrix<double>& connectivity) {
  for (const index_t row : rows) {
    if (!panel.holds(row)) continue;
    const auto sums = connectivity.row(row - panel.begin);
    std::fill(sums.begin(), sums.end(), std::numeric_limits<double>::quiet_NaN());
  }
}

constexpr double no_value = std::numeric_limits<double>::quiet_NaN();
// Keeps the logarithm of the share of an empty bin finite.
constexpr double least_share = 1e-9;
// A regressor that the others explain but for so much of its length adds nothing.
constexpr double collinear = 1e-7;

struct bin_points {
  std::vector<double> k;      // of each bin
  std::vector<double> log_k;  // log10
  std::vector<double> log_p;
};

// The bins of ascending k, whose ends differ. A bin is open on the left and closed on the right;
// the first and the last reach a thousandth of the range further. Breaks and middles are the
// doubles of R's seq.int and hist, so that a value at a break falls into the bin that it has there.
bin_points points_of(const std::vector<double>& k, const scale_free_options& options) {
  const double least = k.front();
  const double width = (k.back() - least) / static_cast<double>(options.bins);
  const auto break_at = [&](index_t i) {
    return i == options.bins ? k.back() : least + static_cast<double>(i) * width;
  };
  bin_points out;
  auto from = k.begin();
  for (index_t bin = 0; bin < options.bins; ++bin) {
    const double left = break_at(bin);
    const double right = break_at(bin + 1);
    const auto to = bin + 1 == options.bins ? k.end() : std::upper_bound(from, k.end(), right);
    const auto rows = static_cast<double>(to - from);
    double mean = rows > 0 ? std::accumulate(from, to, 0.0) / rows : 0.0;
    if (mean == 0) mean = 0.5 * (right + left);
    from = to;
    if (bin == 0 && options.without_first_bin) continue;
    out.k.push_back(mean);
    out.log_k.push_back(std::log10(mean));
    out.log_p.push_back(std::log10(rows / static_cast<double>(k.size()) + least_share));
  }
  return out;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

std::vector<double> centred(std::vector<double> values) {
  const double mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  for (double& value : values) value -= mean;
  return values;
}

// What is left of `values` once the line through 0 along `direction` is taken off.
std::vector<double> without(std::vector<double> values, const std::vector<double>& direction) {
  const double factor = dot(values, direction) / dot(direction, direction);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] -= factor * direction[i];
  return values;
}

void fit_bins(const bin_points& points, scale_free_fit_line& out) {
  const std::vector<double> x = centred(points.log_k);
  const std::vector<double> y = centred(points.log_p);
  const double all = dot(y, y);
  if (!(dot(x, x) > 0) || !(all > 0)) return;
  out.slope = dot(x, y) / dot(x, x);
  const std::vector<double> left = without(y, x);
  out.r_squared = 1 - dot(left, left) / all;
  out.signed_r_squared = out.slope > 0 ? -out.r_squared : out.r_squared;
  const std::vector<double> k = centred(points.k);
  const std::vector<double> rest = without(without(k, x), x);  // twice: against cancellation
  const bool adds = dot(rest, rest) > collinear * collinear * dot(k, k);
  const std::vector<double> last = adds ? without(left, rest) : left;
  const auto bins = static_cast<double>(x.size());
  const double regressors = adds ? 2 : 1;
  if (bins <= regressors + 1) return;
  out.truncated_r_squared = 1 - dot(last, last) / all * (bins - 1) / (bins - 1 - regressors);
}

scale_free_fit_line fit_column(std::vector<double> k, double power,
                               const scale_free_options& options) {
  scale_free_fit_line out{.power = power,
                          .r_squared = no_value,
                          .slope = no_value,
                          .signed_r_squared = no_value,
                          .truncated_r_squared = no_value,
                          .mean = no_value,
                          .median = no_value,
                          .max = no_value};
  if (k.empty()) return out;
  std::sort(k.begin(), k.end());
  const std::size_t half = k.size() / 2;
  out.mean = std::accumulate(k.begin(), k.end(), 0.0) / static_cast<double>(k.size());
  out.median = k.size() % 2 == 1 ? k[half] : k[half - 1] + (k[half] - k[half - 1]) / 2;
  out.max = k.back();
  if (k.front() < k.back()) fit_bins(points_of(k, options), out);
  return out;
}

}  // namespace

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

void mark_rows(const detail::row_info& rows, detail::index_range panel,
               matrix<double>& connectivity) {
  mark(rows.constant_rows, panel, connectivity);
  mark(rows.nan_rows, panel, connectivity);
}

scale_free_fits fit_columns(matrix_view<const double> connectivity,
                            const std::vector<double>& powers, const scale_free_options& options) {
  scale_free_fits out;
  for (index_t j = 0; j < connectivity.cols(); ++j) {
    std::vector<double> k;
    for (index_t i = 0; i < connectivity.rows(); ++i) {
      if (!std::isnan(connectivity(i, j))) k.push_back(connectivity(i, j));
    }
    const double power = powers[static_cast<std::size_t>(j)];
    out.fits.push_back(fit_column(std::move(k), power, options));
    if (!out.power && out.fits.back().signed_r_squared > options.r_squared_cut) out.power = power;
  }
  return out;
}

}  // namespace gpu::soft_thresholds
