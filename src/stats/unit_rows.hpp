#pragma once
// The one definition of the statistic of unit rows (Pearson's r): every sum has a fixed order, so
// that each backend gives the same bits. Host and device compile the same functions.
//
// A row is scaled by a power of two (its largest magnitude comes into [1, 2), so that no sum
// overflows or underflows). With row_centre::mean it is centred by its mean, and once more by the
// mean of what is left. Then it is divided by its length. The statistic is the dot product of two
// such rows, clipped to [-1, 1].
//
// Every sum runs over 8 partial sums, element k into partial sum k mod 8 in increasing k: the eight
// lanes of a 512-bit vector, two 256-bit vectors, or eight threads. Products enter by fma.
//
// A chain of additions takes its time however many processors there are, so rows longer than
// most_whole_columns are cut into slices: each has partial sums of its own, and a partial sum of
// the row begins with the first slice's, and the other slices' are added in order. A chain
// through a million columns has 125,000 steps, of slices 512 and then 244. More levels would not
// pay: with as many columns as make the second chain long, reading them takes longer.

#include <cmath>
#include <cstdint>

#include <gpu/index.hpp>

#include "base/host_device.hpp"

namespace gpu::inline v0::detail {

inline constexpr int partial_sums = 8;

/// Columns of the longest rows that are one slice, and those of a slice of longer ones.
inline constexpr index_t most_whole_columns = 16384;
inline constexpr index_t slice_columns = 4096;
static_assert(slice_columns % partial_sums == 0 && most_whole_columns % partial_sums == 0);

/// Columns of a slice of a row of `cols`; the last one may have fewer.
GPU_SIMILARITY_HOST_DEVICE constexpr index_t slice_of_row(index_t cols) {
  return cols > most_whole_columns ? slice_columns : cols;
}

/// How eight partial sums become one.
GPU_SIMILARITY_HOST_DEVICE inline double combine_partial_sums(const double (&s)[partial_sums]) {
  return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

/// The sum that add(k, s) makes of a row: it adds element k to a partial sum s.
template <class Add>
GPU_SIMILARITY_HOST_DEVICE inline double ordered(index_t count, const Add& add) {
  double row[partial_sums] = {};
  const index_t slice = slice_of_row(count);
  for (index_t first = 0; first < count; first += slice) {
    double s[partial_sums] = {};
    const index_t end = count - first < slice ? count : first + slice;
    for (index_t k = first; k < end; ++k) add(k, s[k % partial_sums]);
    for (int l = 0; l < partial_sums; ++l) row[l] = first == 0 ? s[l] : row[l] + s[l];
  }
  return combine_partial_sums(row);
}

/// Sum of value(k), k in [0, count).
template <class Value>
GPU_SIMILARITY_HOST_DEVICE inline double ordered_sum(index_t count, const Value& value) {
  return ordered(count, [&](index_t k, double& s) { s += value(k); });
}

/// Sum of left(k) * right(k), k in [0, count), each product fused with its addition.
template <class Left, class Right>
GPU_SIMILARITY_HOST_DEVICE inline double ordered_dot(index_t count, const Left& left,
                                                     const Right& right) {
  return ordered(count, [&](index_t k, double& s) { s = fma(left(k), right(k), s); });
}

/// The statistic as reported and compared: the dot product of two unit rows, clipped.
GPU_SIMILARITY_HOST_DEVICE inline double clip_correlation(double dot) {
  return dot > 1.0 ? 1.0 : (dot < -1.0 ? -1.0 : dot);
}

/// 2^-e for a magnitude in [2^e, 2^(e+1)), kept a normal double.
GPU_SIMILARITY_HOST_DEVICE inline double power_of_two_scale(double magnitude) {
  int exponent = ilogb(magnitude);
  exponent = exponent > 1022 ? 1022 : (exponent < -1022 ? -1022 : exponent);
  return ldexp(1.0, -exponent);
}

/// What is taken off the values of a row before it is scaled to unit length.
enum class row_centre {
  mean,  ///< Their mean. A row of equal values has no statistic.
  none   ///< Nothing. A row of zeros has no statistic.
};

/// Whether rows lose their mean. Who branches on a centre asks this, so that the compiler names
/// what a new one has to answer.
GPU_SIMILARITY_HOST_DEVICE constexpr bool is_centred(row_centre centre) {
  switch (centre) {
    case row_centre::mean:
      return true;
    case row_centre::none:
      break;
  }
  return false;
}

/// Whether a row has a statistic at all: `constant` rows have nothing left once they are centred.
enum class row_kind { ordinary, constant, not_finite };

/// Writes the unit row to out[0 .. cols) (which may be `row` itself) unless it is not ordinary.
/// `row` points to doubles; every element type converts to double exactly.
GPU_SIMILARITY_HOST_DEVICE inline row_kind scale_unit_row(const double* row, index_t cols,
                                                          row_centre centre, double* out) {
  double largest = 0;
  bool constant = true;
  for (index_t k = 0; k < cols; ++k) {
    const double magnitude = fabs(row[k]);
    if (!(magnitude <= 1.7976931348623157e308)) return row_kind::not_finite;
    if (magnitude > largest) largest = magnitude;
    constant = constant && row[k] == row[0];
  }
  if (!is_centred(centre)) constant = largest == 0;
  if (constant) return row_kind::constant;

  const double scale = power_of_two_scale(largest);
  const double count = static_cast<double>(cols);
  for (index_t k = 0; k < cols; ++k) out[k] = row[k] * scale;
  const int passes = is_centred(centre) ? 2 : 0;
  for (int pass = 0; pass < passes; ++pass) {
    const double mean = ordered_sum(cols, [&](index_t k) { return out[k]; }) / count;
    for (index_t k = 0; k < cols; ++k) out[k] -= mean;
  }
  // What is left may be far smaller than the values were: scale again before squaring.
  double rest = 0;
  for (index_t k = 0; k < cols; ++k) rest = fabs(out[k]) > rest ? fabs(out[k]) : rest;
  if (rest == 0) return row_kind::constant;
  const double rest_scale = power_of_two_scale(rest);
  for (index_t k = 0; k < cols; ++k) out[k] *= rest_scale;
  const auto element = [&](index_t k) { return out[k]; };
  const double length = sqrt(ordered_dot(cols, element, element));
  for (index_t k = 0; k < cols; ++k) out[k] /= length;
  return row_kind::ordinary;
}

}  // namespace gpu::inline v0::detail
