#include "pairs/adjusted_p.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace gpu::stats {
namespace {

// p in ascending order, each with its place.
std::vector<std::pair<double, std::size_t>> ascending(const std::vector<double>& p) {
  std::vector<std::pair<double, std::size_t>> sorted;
  sorted.reserve(p.size());
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (!std::isnan(p[i])) sorted.emplace_back(p[i], i);
  }
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

}  // namespace

std::vector<double> p_of(std::span<const edge> edges) {
  std::vector<double> p(edges.size());
  std::transform(edges.begin(), edges.end(), p.begin(), [](const edge& e) { return e.p; });
  return p;
}

std::vector<double> adjusted_p(std::vector<double> p, std::uint64_t family, adjustment adjust) {
  const auto tests = static_cast<double>(family);
  switch (adjust) {
    case adjustment::none:
      break;
    case adjustment::bonferroni:
      for (double& each : p) {
        if (!std::isnan(each)) each = std::min(1.0, each * tests);
      }
      break;
    case adjustment::benjamini_hochberg: {
      const auto sorted = ascending(p);
      double least = 1.0;
      for (std::size_t j = sorted.size(); j-- > 0;) {
        least = std::min(least, sorted[j].first * tests / static_cast<double>(j + 1));
        p[sorted[j].second] = least;
      }
    }
  }
  return p;
}

}  // namespace gpu::stats
