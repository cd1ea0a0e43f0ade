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

}  // namespace gpu_test
