#pragma once
// What is written of a pair with missing values: its statistic, or what a sink asks for in its
// place.

#include "kernels/pairs/pairwise/kernels.hpp"
#include "kernels/pairs/products/multiply.hpp"
#include "stats/shared_columns.hpp"

namespace gpu::kernels {

/// What stands for p of a pair without a statistic, as detail::no_p.
inline constexpr double pairwise_no_p = 2.0;

/// Of a pair that shares `shared` columns; `statistic` is NaN where it has none.
__device__ inline double decide_pairwise(const pairwise_decision& by, double statistic,
                                         index_t shared) {
  const bool has = shared >= by.min_observations && statistic == statistic;
  if (by.tables != nullptr) {
    return has ? stats::p_function{by.tables + (shared - by.least), by.side}(statistic)
               : pairwise_no_p;
  }
  if (!has) return detail::no_statistic;
  if (by.cuts == nullptr) return statistic;
  return by.cuts[shared - by.least].keeps(statistic) ? statistic : detail::no_statistic;
}

/// Whether a tile of rows [row, row + size) and columns [col, col + size) of a panel is wanted.
__device__ inline bool is_wanted(const pairwise_job& job, index_t row, index_t col, index_t cols) {
  if (job.blocks == product_blocks::above_diagonal) return col + cols - 1 + job.offset > row;
  if (job.blocks == product_blocks::on_or_above_it) {
    return col / policy::product_block >= row / policy::product_block;
  }
  return true;
}

}  // namespace gpu::kernels
