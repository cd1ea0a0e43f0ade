#include "stats/orthonormal_rows.hpp"

#include <algorithm>
#include <cmath>

#include "stats/unit_rows.hpp"

namespace gpu::stats {

using detail::partial_sums;

namespace {

template <class Term>
double sum_of(index_t count, const Term& term) {
  double s[partial_sums] = {};
  index_t k = 0;
  for (; k + partial_sums <= count; k += partial_sums) {
    for (int l = 0; l < partial_sums; ++l) s[l] += term(k + l);
  }
  for (int l = 0; k < count; ++k, ++l) s[l] += term(k);
  return detail::combine_partial_sums(s);
}

}  // namespace

double plain_dot(const double* a, const double* b, index_t count) {
  return sum_of(count, [=](index_t k) { return a[k] * b[k]; });
}

double plain_sum(const double* a, index_t count) {
  return sum_of(count, [=](index_t k) { return a[k]; });
}

double weighted_length_of(const double* weights, const double* row, index_t count) {
  return std::sqrt(sum_of(count, [=](index_t k) { return weights[k] * row[k] * row[k]; }));
}

double length_of(const double* row, index_t count) {
  return std::sqrt(plain_dot(row, row, count));
}

double scale_to_one(double* row, index_t count) {
  double largest = 0;
  for (index_t k = 0; k < count; ++k) largest = std::max(largest, std::fabs(row[k]));
  if (largest == 0) return 1;
  const double scale = detail::power_of_two_scale(largest);
  for (index_t k = 0; k < count; ++k) row[k] *= scale;
  return scale;
}

void orthonormal_rows::remove_once(double* row) const {
  for (index_t i = 0; i < size_; ++i) {
    const double* const unit = rows_.data() + i * cols_;
    const double along = plain_dot(unit, row, cols_);
    for (index_t k = 0; k < cols_; ++k) row[k] -= along * unit[k];
  }
}

void orthonormal_rows::remove_span_from(double* row) const {
  remove_once(row);
  remove_once(row);
}

bool orthonormal_rows::add(double* row, double least_share) {
  double before = length_of(row, cols_);
  remove_span_from(row);
  before *= scale_to_one(row, cols_);
  const double left = length_of(row, cols_);
  if (!(left > least_share * before)) return false;
  // Rounding of what was taken off counts for more where little is left.
  remove_span_from(row);
  const double length = length_of(row, cols_);
  for (index_t k = 0; k < cols_; ++k) row[k] /= length;
  rows_.insert(rows_.end(), row, row + cols_);
  ++size_;
  return true;
}

}  // namespace gpu::stats
