#pragma once
// Ranks by the textbook: for each element, walk over the whole row and count. Slow on purpose, and
// shares nothing with the library.

#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include <gpu/matrix.hpp>
#include <gpu/rank.hpp>

namespace gpu_test {

/// The ranks of one row, 1-based; all NaN where a value is NaN. -0.0 == 0.0 by the language.
template <class T>
std::vector<double> reference_ranks(const T* row, gpu::index_t cols, gpu::tie_method ties,
                                    gpu::rank_order order = gpu::rank_order::ascending) {
  std::vector<double> ranks(static_cast<std::size_t>(cols));
  const auto before = [&](T a, T b) { return order == gpu::rank_order::ascending ? a < b : a > b; };
  bool has_nan = false;
  for (gpu::index_t i = 0; i < cols; ++i) has_nan = has_nan || std::isnan(double(row[i]));
  for (gpu::index_t i = 0; i < cols; ++i) {
    double smaller = 0;
    double equal = 0;
    double equal_before = 0;
    std::set<T> distinct;
    for (gpu::index_t j = 0; j < cols; ++j) {
      if (before(row[j], row[i])) {
        smaller += 1;
        if (ties == gpu::tie_method::dense) distinct.insert(row[j]);
      } else if (row[j] == row[i]) {
        equal += 1;
        if (j < i) equal_before += 1;
      }
    }
    double rank = 0;
    if (ties == gpu::tie_method::average) rank = smaller + (equal + 1) / 2;
    if (ties == gpu::tie_method::min) rank = smaller + 1;
    if (ties == gpu::tie_method::max) rank = smaller + equal;
    if (ties == gpu::tie_method::dense) rank = static_cast<double>(distinct.size()) + 1;
    if (ties == gpu::tie_method::ordinal) rank = smaller + equal_before + 1;
    ranks[static_cast<std::size_t>(i)] = has_nan ? std::numeric_limits<double>::quiet_NaN() : rank;
  }
  return ranks;
}

template <class T>
gpu::matrix<double> reference_ranks(gpu::matrix_view<const T> data, gpu::tie_method ties,
                                    gpu::rank_order order = gpu::rank_order::ascending) {
  gpu::matrix<double> out(data.rows(), data.cols());
  for (gpu::index_t i = 0; i < data.rows(); ++i) {
    const std::vector<double> ranks = reference_ranks(data.row(i), data.cols(), ties, order);
    for (gpu::index_t j = 0; j < data.cols(); ++j) out(i, j) = ranks[static_cast<std::size_t>(j)];
  }
  return out;
}

}  // namespace gpu_test
