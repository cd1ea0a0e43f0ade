#pragma once
// All pairs as arguments of templates: spearman(view, options, sink), and what their counts are.

#include <algorithm>
#include <cmath>
#include <span>

#include <gpu/all_pairs.hpp>

namespace gpu_test {

inline constexpr auto spearman = [](const auto&... arguments) {
  return gpu::spearman_all_pairs(arguments...);
};
inline constexpr auto pearson = [](const auto&... arguments) {
  return gpu::pearson_all_pairs(arguments...);
};

/// What counts of these edges of one table are.
inline gpu::pair_counts counts_of(std::span<const gpu::edge> edges, gpu::index_t rows,
                                  gpu::index_t bins) {
  gpu::pair_counts out;
  out.kept = edges.size();
  out.degree.resize(static_cast<std::size_t>(rows));
  out.histogram.resize(static_cast<std::size_t>(bins));
  for (const gpu::edge& e : edges) {
    ++out.degree[e.row];
    ++out.degree[e.col];
    const double place = std::floor((e.statistic + 1) * static_cast<double>(bins) / 2);
    if (bins > 0)
      ++out.histogram[static_cast<std::size_t>(std::min(place, static_cast<double>(bins - 1)))];
  }
  return out;
}

}  // namespace gpu_test
