#pragma once
// Slow oracles of x against y and of parts: the block of the oracle of both tables stacked.

#include <algorithm>
#include <cstdint>
#include <vector>

#include <gpu/matrix.hpp>
#include <gpu/pair_sinks.hpp>

#include "reference/correlation_reference.hpp"

namespace gpu_test {

/// Both tables as doubles, y behind x. Every element type of the tests fits.
template <class X, class Y>
gpu::matrix<double> reference_stack(const gpu::matrix<X>& x, const gpu::matrix<Y>& y) {
  gpu::matrix<double> out(x.rows() + y.rows(), x.cols());
  for (gpu::index_t i = 0; i < x.rows(); ++i) {
    for (gpu::index_t k = 0; k < x.cols(); ++k) out(i, k) = static_cast<double>(x(i, k));
  }
  for (gpu::index_t j = 0; j < y.rows(); ++j) {
    for (gpu::index_t k = 0; k < y.cols(); ++k) out(x.rows() + j, k) = static_cast<double>(y(j, k));
  }
  return out;
}

/// Rows [0, rows_of_x) of a symmetric table against its other columns.
inline statistic_table reference_block(const statistic_table& table, gpu::index_t rows_of_x) {
  const auto rows = static_cast<std::size_t>(rows_of_x);
  statistic_table out;
  for (std::size_t i = 0; i < rows; ++i) {
    out.emplace_back(table[i].begin() + rows_of_x, table[i].end());
  }
  return out;
}

/// The entries of a rectangle that have a statistic, in the order (row, col).
inline std::vector<reference_pair> reference_rectangle_pairs(const statistic_table& block) {
  std::vector<reference_pair> out;
  for (std::size_t i = 0; i < block.size(); ++i) {
    for (std::size_t j = 0; j < block[i].size(); ++j) {
      if (block[i][j] != block[i][j]) continue;
      out.push_back({static_cast<gpu::node_id>(i), static_cast<gpu::node_id>(j), block[i][j]});
    }
  }
  return out;
}

/// The k best entries of one row: by rank, then by column.
inline std::vector<reference_pair> reference_best(const std::vector<double>& row, gpu::index_t k,
                                                  gpu::neighbor_order order) {
  const auto rank = [&](double r) {
    return order == gpu::neighbor_order::by_absolute_value ? std::abs(r) : r;
  };
  std::vector<reference_pair> out;
  for (std::size_t j = 0; j < row.size(); ++j) {
    if (row[j] == row[j]) out.push_back({0, static_cast<gpu::node_id>(j), row[j]});
  }
  std::stable_sort(out.begin(), out.end(), [&](const reference_pair& a, const reference_pair& b) {
    return rank(a.statistic) > rank(b.statistic);
  });
  if (static_cast<gpu::index_t>(out.size()) > k) out.resize(static_cast<std::size_t>(k));
  return out;
}

}  // namespace gpu_test
