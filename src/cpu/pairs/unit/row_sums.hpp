#pragma once
// Passes over a row of doubles in the order of stats/unit_rows.hpp, in a shape that vectorises.

#include <algorithm>
#include <cmath>

#include <gpu/index.hpp>

#include "stats/unit_rows.hpp"

namespace gpu::cpu {

/// body(element, lane) in increasing order, element k in lane k mod 8.
template <class Body>
void for_each_element(const double* row, index_t cols, const Body& body) {
  constexpr index_t lanes = detail::partial_sums;
  index_t k = 0;
  for (; k + lanes <= cols; k += lanes) {
    for (index_t lane = 0; lane < lanes; ++lane) body(row[k + lane], lane);
  }
  for (index_t lane = 0; k < cols; ++k, ++lane) body(row[k], lane);
}

/// Neither NaN nor infinite.
inline bool is_finite(const double* row, index_t cols) {
  bool all = true;
  for (index_t k = 0; k < cols; ++k) all &= std::fabs(row[k]) <= 1.7976931348623157e308;
  return all;
}

/// Elements are not NaN, or it does not matter.
inline double largest_magnitude(const double* row, index_t cols) {
  double largest[detail::partial_sums] = {};
  for_each_element(row, cols, [&](double x, index_t lane) {
    const double magnitude = std::fabs(x);
    largest[lane] = magnitude > largest[lane] ? magnitude : largest[lane];
  });
  return *std::max_element(largest, largest + detail::partial_sums);
}

/// Takes the mean of the row off each element.
inline void take_off_mean(double* row, index_t cols) {
  double sums[detail::partial_sums] = {};
  const index_t slice = detail::slice_of_row(cols);
  for (index_t first = 0; first < cols; first += slice) {
    double s[detail::partial_sums] = {};
    for_each_element(row + first, std::min(slice, cols - first),
                     [&](double x, index_t lane) { s[lane] += x; });
    for (int l = 0; l < detail::partial_sums; ++l) sums[l] = first == 0 ? s[l] : sums[l] + s[l];
  }
  const double mean = detail::combine_partial_sums(sums) / static_cast<double>(cols);
  for (index_t k = 0; k < cols; ++k) row[k] -= mean;
}

}  // namespace gpu::cpu
