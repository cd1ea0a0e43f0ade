#include "cpu/pairs/rows/unit_row.hpp"

#include <algorithm>
#include <cmath>

namespace gpu::cpu {
namespace {

constexpr index_t lanes = detail::partial_sums;

// body(element, lane) in increasing order, element k in lane k mod 8.
template <class Body>
void for_each_element(const double* row, index_t cols, const Body& body) {
  index_t k = 0;
  for (; k + lanes <= cols; k += lanes) {
    for (index_t lane = 0; lane < lanes; ++lane) body(row[k + lane], lane);
  }
  for (index_t lane = 0; k < cols; ++k, ++lane) body(row[k], lane);
}

// Elements are not NaN, or it does not matter.
double largest_magnitude(const double* row, index_t cols) {
  double largest[lanes] = {};
  for_each_element(row, cols, [&](double x, index_t lane) {
    const double magnitude = std::fabs(x);
    largest[lane] = magnitude > largest[lane] ? magnitude : largest[lane];
  });
  return *std::max_element(largest, largest + lanes);
}

double ordered_mean(const double* row, index_t cols) {
  double sums[lanes] = {};
  for_each_element(row, cols, [&](double x, index_t lane) { sums[lane] += x; });
  return detail::combine_partial_sums(sums) / static_cast<double>(cols);
}

}  // namespace

detail::row_kind make_unit_row(const pair_kernels& kernels, detail::row_centre centre, double* row,
                               index_t cols, index_t stride) {
  bool is_finite = true;
  bool is_constant = true;
  for (index_t k = 0; k < cols; ++k) {
    is_finite &= std::fabs(row[k]) <= 1.7976931348623157e308;
    is_constant &= row[k] == row[0];
  }
  if (!is_finite) return detail::row_kind::not_finite;
  const int centrings = detail::is_centred(centre) ? 2 : 0;
  if (centrings > 0 && is_constant) return detail::row_kind::constant;

  const double scale = detail::power_of_two_scale(largest_magnitude(row, cols));
  for (index_t k = 0; k < cols; ++k) row[k] *= scale;
  for (int pass = 0; pass < centrings; ++pass) {
    const double mean = ordered_mean(row, cols);
    for (index_t k = 0; k < cols; ++k) row[k] -= mean;
  }
  const double rest = largest_magnitude(row, cols);
  if (rest == 0) return detail::row_kind::constant;
  const double rest_scale = detail::power_of_two_scale(rest);
  for (index_t k = 0; k < cols; ++k) row[k] *= rest_scale;
  double square = 0;
  kernels.ordered_dots(row, 1, row, 1, stride, &square, 1);
  const double length = std::sqrt(square);
  for (index_t k = 0; k < cols; ++k) row[k] /= length;
  return detail::row_kind::ordinary;
}

}  // namespace gpu::cpu
