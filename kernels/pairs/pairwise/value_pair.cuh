#pragma once
// The statistic of a pair of packed rows of values, once its sums are known.

#include "kernels/pairs/frame/kernel.cuh"
#include "kernels/pairs/pairwise/decide.cuh"
#include "stats/shared_columns.hpp"

namespace gpu::kernels {

// One row of a pair, for the careful way: its values as they were, and the other row's.
struct shared_row {
  const double* own;
  const double* other;
  __device__ bool is_shared(index_t k) const { return own[k] == own[k] && other[k] == other[k]; }
  __device__ double value(index_t k) const { return own[k]; }
};

/// From the values of both rows as they were.
__device__ __noinline__ inline double decide_carefully(const double* x, const double* y,
                                                       index_t cols, double count,
                                                       detail::row_centre centre) {
  return detail::careful_statistic(shared_row{x, y}, shared_row{y, x}, cols, count, centre);
}

/// Packed row `i` of an operand.
__device__ inline const double* value_row(const pair_operand& of, index_t i) {
  return static_cast<const double*>(of.values) + i * of.pitch;
}

/// What is written of pair (i, j) of a panel, which shares `shared` columns; `statistic` is that of
/// its sums.
__device__ inline double finish_values(const pairwise_job& job, index_t i, index_t j,
                                       double statistic, index_t shared) {
  if (statistic != statistic && shared >= job.decision.min_observations) {
    const index_t cols = job.rows.columns;
    const index_t raw = pairwise_value_layout{cols}.raw();
    statistic = decide_carefully(value_row(job.rows, i) + raw, value_row(job.cols, j) + raw, cols,
                                 static_cast<double>(shared), job.rows.centre);
  }
  return decide_pairwise(job.decision, statistic, shared);
}

/// The same where rows are taken by classes, from the sum of the products.
__device__ inline double finish_class_values(const pairwise_job& job, index_t i, index_t j,
                                             double sum_of_products) {
  const mask_classes& by = job.classes;
  const index_t row = job.rows.first + i;
  const index_t col = job.cols.first + j;
  const int of_row = __ldg(by.of_row + row);
  const int of_col = __ldg(by.of_row + col);
  const index_t of_pair[2] = {row * by.count + of_col, col * by.count + of_row};
  const double2 x = __ldg(by.sums + of_pair[0]);
  const double2 y = __ldg(by.sums + of_pair[1]);
  const index_t shared = __ldg(by.shared + of_row * by.count + of_col);
  const auto count = static_cast<double>(shared);
  // Most pairs are dropped by an estimate without a root and a quotient.
  const double covariance =
      detail::shared_covariance(sum_of_products, x.x, y.x, count, job.rows.centre);
  if (shared_decision(job.decision, shared).drops(covariance * x.y * y.y)) {
    return detail::no_statistic;
  }
  const double statistic = detail::statistic_of_variances(covariance, by.variances[of_pair[0]],
                                                          by.variances[of_pair[1]]);
  return finish_values(job, i, j, statistic, shared);
}

}  // namespace gpu::kernels
