#pragma once
// Least squares by an orthonormal basis, in doubles and with a fixed order of every sum.

#include <vector>

#include <gpu/index.hpp>

namespace gpu::stats {

/// Sum of a[k] * b[k], k in [0, count), over the eight partial sums of stats/unit_rows.hpp;
/// products are rounded before they are added, so that every instruction set gives the same bits.
double plain_dot(const double* a, const double* b, index_t count);
/// Sum of a[k] in the same order.
double plain_sum(const double* a, index_t count);
/// The Euclidean length of a row whose largest magnitude is neither tiny nor huge.
double length_of(const double* row, index_t count);
/// The same of a row whose elements are each multiplied by the root of its weight.
double weighted_length_of(const double* weights, const double* row, index_t count);
/// Multiplies a row by the power of two that brings its largest magnitude into [1, 2), and returns
/// that power; 1, and the row as it is, where it is all zeros.
double scale_to_one(double* row, index_t count);

/// Rows of unit length at right angles to each other.
class orthonormal_rows {
 public:
  explicit orthonormal_rows(index_t cols) : cols_(cols) {}

  [[nodiscard]] index_t size() const { return size_; }
  /// Adds the direction of `row` [cols], which is changed, that those before lack. False, and
  /// nothing is added, where what it has of its own is at most `least_share` of its length.
  bool add(double* row, double least_share);
  /// Takes off a row [cols] what lies in the span of the basis; twice, as one pass leaves a trace
  /// of it where little is left. Cost: 4 size() multiply-adds an element.
  void remove_span_from(double* row) const;

 private:
  void remove_once(double* row) const;

  index_t cols_;
  index_t size_ = 0;
  std::vector<double> rows_;  // [size, cols]
};

}  // namespace gpu::stats
