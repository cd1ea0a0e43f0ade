#pragma once
// From a product of two rows to the statistic, exactly as the CPU backend does it.

#include <math_constants.h>

#include <cstdint>
#include <type_traits>

#include "kernels/common/warp.cuh"
#include "kernels/pairs/kernels.hpp"
#include "stats/statistic.hpp"
#include "stats/unit_rows.hpp"

namespace gpu::kernels {

/// Dot product of two unit rows in the order of stats/unit_rows.hpp: the partial sums lie one
/// after the other, and adding them up as they come, level by level, is the balanced tree.
class partial_sum_tree {
 public:
  /// Takes partial sum number `segment` (0 .. 7); returns the total after the last.
  __device__ double add(int segment, double sum) {
    if ((segment & 1) == 0) return pairs_ = sum;
    sum = pairs_ + sum;
    if ((segment & 2) == 0) return quads_ = sum;
    sum = quads_ + sum;
    if ((segment & 4) == 0) return halves_ = sum;
    return halves_ + sum;
  }

 private:
  double pairs_ = 0;
  double quads_ = 0;
  double halves_ = 0;
};

/// Elements of a segment of unit_row_layout that are of one slice of the row.
__device__ inline index_t slice_of_segment(index_t segment) {
  return detail::slice_of_row(detail::partial_sums * segment) / detail::partial_sums;
}

/// One partial sum of unit_row_layout: that of two segments.
__device__ inline double segment_dot(const double* x, const double* y, index_t segment) {
  if (segment % 2 != 0) {  // such segments are not aligned to two doubles, and short
    double sum = 0;
    for (index_t k = 0; k < segment; ++k) sum = fma(x[k], y[k], sum);
    return sum;
  }
  const auto* const x_pairs = reinterpret_cast<const double2*>(x);
  const auto* const y_pairs = reinterpret_cast<const double2*>(y);
  const int slice = static_cast<int>(slice_of_segment(segment)) / 2;
  const int pairs = static_cast<int>(segment) / 2;
  double total = 0;
  for (int first = 0; first < pairs; first += slice) {
    const int end = min(first + slice, pairs);
    double sum = 0;
#pragma unroll 4
    for (int k = first; k < end; ++k) {
      const double2 left = x_pairs[k];
      const double2 right = y_pairs[k];
      sum = fma(left.x, right.x, sum);
      sum = fma(left.y, right.y, sum);
    }
    total = first == 0 ? sum : total + sum;
  }
  return total;
}

__device__ inline double unit_row_dot(const double* x, const double* y, index_t segment) {
  partial_sum_tree tree;
  double total = 0;
  for (int s = 0; s < detail::partial_sums; ++s) {
    total = tree.add(s, segment_dot(x, y, segment));
    x += segment;
    y += segment;
  }
  return total;
}

/// The balanced tree of unit_row_dot over eight lanes, of which each has a partial sum. The lanes
/// in `lanes`, in whole groups of eight, call it together.
template <class T>
__device__ T add_partial_sums(T sum, unsigned lanes = all_lanes) {
#pragma unroll
  for (int step = 1; step < detail::partial_sums; step *= 2) {
    sum += __shfl_xor_sync(lanes, sum, step);
  }
  return sum;
}

/// unit_row_dot by eight lanes, each one partial sum, so that what they read at a time stays in L1.
/// All lanes of a warp; the eight lanes of a pair get its product.
__device__ inline double unit_row_dot_by_lanes(const double* x, const double* y, int segment) {
  const int first = static_cast<int>(threadIdx.x % detail::partial_sums) * segment;
  return add_partial_sums(segment_dot(x + first, y + first, segment));
}

/// Spearman: the product is the exact integer numerator.
struct spearman_statistic {
  using product = std::int64_t;
  static __device__ double of(product sum, const pair_operand& rows, index_t i,
                              const pair_operand& cols, index_t j) {
    return detail::rho_of(sum, rows.square_sums[i], cols.square_sums[j]);
  }
  static __device__ double dense(product value, const pair_operand& rows, index_t i,
                                 const pair_operand& cols, index_t j) {
    return of(value, rows, i, cols, j);
  }
};

/// Pearson with exact products: they are the statistic.
struct pearson_statistic {
  using product = double;
  static __device__ double of(product value, const pair_operand&, index_t, const pair_operand&,
                              index_t) {
    return detail::clip_correlation(value);
  }
  static __device__ double dense(product value, const pair_operand& rows, index_t i,
                                 const pair_operand& cols, index_t j) {
    return of(value, rows, i, cols, j);
  }
};

/// Rows with missing values: a kernel has computed the statistic, or what stands for it.
struct ready_statistic {
  using product = double;
  static __device__ double of(product value, const pair_operand&, index_t, const pair_operand&,
                              index_t) {
    return value;
  }
  static __device__ double dense(product value, const pair_operand&, index_t, const pair_operand&,
                                 index_t) {
    return value;
  }
};

/// Pearson with approximate products: the exact statistic is computed anew.
struct refined_pearson_statistic {
  using product = double;
  static __device__ double of(product, const pair_operand& rows, index_t i,
                              const pair_operand& cols, index_t j) {
    return detail::clip_correlation(unit_row_dot(rows.unit_rows + i * rows.unit_pitch,
                                                 cols.unit_rows + j * cols.unit_pitch,
                                                 rows.unit_pitch / detail::partial_sums));
  }
  // A dense result asks for float32-level error, which the product has.
  static __device__ double dense(product value, const pair_operand&, index_t, const pair_operand&,
                                 index_t) {
    return detail::clip_correlation(value);
  }
};

__device__ inline std::uint64_t product_bits(std::int64_t product) {
  return static_cast<std::uint64_t>(product);
}
__device__ inline std::uint64_t product_bits(double product) {
  return static_cast<std::uint64_t>(__double_as_longlong(product));
}
template <class Product>
__device__ Product product_from_bits(std::uint64_t bits) {
  if constexpr (std::is_same_v<Product, double>) {
    return __longlong_as_double(static_cast<long long>(bits));
  } else {
    return static_cast<Product>(bits);
  }
}

__device__ inline bool keeps(double statistic, double at_least, double at_most) {
  return statistic >= at_least || statistic <= at_most;
}

}  // namespace gpu::kernels
