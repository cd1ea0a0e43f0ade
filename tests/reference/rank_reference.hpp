#pragma once
// Ranks by the textbook: for each element, walk over the whole row and count. Slow on purpose, and
// shares nothing with the library.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
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
  std::vector<T> distinct(row, row + (has_nan ? 0 : cols));
  std::sort(distinct.begin(), distinct.end(), before);
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  for (gpu::index_t i = 0; i < cols; ++i) {
    double smaller = 0;
    double equal = 0;
    double equal_before = 0;
    for (gpu::index_t j = 0; j < cols; ++j) {
      if (before(row[j], row[i])) {
        smaller += 1;
      } else if (row[j] == row[i]) {
        equal += 1;
        if (j < i) equal_before += 1;
      }
    }
    double rank = 0;
    if (ties == gpu::tie_method::average) rank = smaller + (equal + 1) / 2;
    if (ties == gpu::tie_method::min) rank = smaller + 1;
    if (ties == gpu::tie_method::max) rank = smaller + equal;
    if (ties == gpu::tie_method::dense) {
      const auto place = std::lower_bound(distinct.begin(), distinct.end(), row[i], before);
      rank = static_cast<double>(place - distinct.begin()) + 1;
    }
    if (ties == gpu::tie_method::ordinal) rank = smaller + equal_before + 1;
    ranks[static_cast<std::size_t>(i)] = has_nan ? std::numeric_limits<double>::quiet_NaN() : rank;
  }
  return ranks;
}

/// The same for a long row: a stable sort of the columns, and runs of equal values.
template <class T>
std::vector<double> reference_ranks_by_sorting(const T* row, gpu::index_t cols,
                                               gpu::tie_method ties,
                                               gpu::rank_order order = gpu::rank_order::ascending) {
  const auto count = static_cast<std::size_t>(cols);
  std::vector<double> ranks(count, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < count; ++i) {
    if (std::isnan(double(row[i]))) return ranks;
  }
  std::vector<std::size_t> columns(count);
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  std::stable_sort(columns.begin(), columns.end(), [&](std::size_t a, std::size_t b) {
    return order == gpu::rank_order::ascending ? row[a] < row[b] : row[a] > row[b];
  });
  double distinct = 0;
  for (std::size_t first = 0; first < count;) {
    std::size_t last = first;
    while (last < count && row[columns[last]] == row[columns[first]]) ++last;
    distinct += 1;
    for (std::size_t place = first; place < last; ++place) {
      double rank = static_cast<double>(place) + 1;
      if (ties == gpu::tie_method::average) rank = static_cast<double>(first + last + 1) / 2;
      if (ties == gpu::tie_method::min) rank = static_cast<double>(first) + 1;
      if (ties == gpu::tie_method::max) rank = static_cast<double>(last);
      if (ties == gpu::tie_method::dense) rank = distinct;
      ranks[columns[place]] = rank;
    }
    first = last;
  }
  return ranks;
}

/// By counting where that is quick enough, else by sorting.
template <class T>
gpu::matrix<double> reference_ranks(gpu::matrix_view<const T> data, gpu::tie_method ties,
                                    gpu::rank_order order = gpu::rank_order::ascending) {
  gpu::matrix<double> out(data.rows(), data.cols());
  for (gpu::index_t i = 0; i < data.rows(); ++i) {
    const std::vector<double> ranks =
        data.cols() <= 200 ? reference_ranks(data.row(i), data.cols(), ties, order)
                           : reference_ranks_by_sorting(data.row(i), data.cols(), ties, order);
    for (gpu::index_t j = 0; j < data.cols(); ++j) out(i, j) = ranks[static_cast<std::size_t>(j)];
  }
  return out;
}

}  // namespace gpu_test
