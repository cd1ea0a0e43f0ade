#include <gpu/adjusted_p.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include <gpu/error.hpp>

namespace gpu::inline v0 {
namespace {

void check(const std::vector<double>& p, std::uint64_t family, adjustment adjust) {
  if (adjust < adjustment::none || adjust > adjustment::benjamini_hochberg) {
    throw invalid_argument(fmt::format("adjust: got {}, expected an enumerator of gpu::adjustment",
                                       static_cast<int>(adjust)));
  }
  if (family < p.size()) {
    throw invalid_argument(
        fmt::format("family: got {}, expected at least the {} p that are given", family, p.size()));
  }
  const auto wrong =
      std::find_if(p.begin(), p.end(), [](double each) { return each < 0.0 || each > 1.0; });
  if (wrong != p.end()) {
    throw invalid_argument(fmt::format("p[{}]: got {}, expected a number in [0, 1] or NaN",
                                       wrong - p.begin(), *wrong));
  }
}

/// p in ascending order, each with its place.
std::vector<std::pair<double, std::size_t>> ascending(const std::vector<double>& p) {
  std::vector<std::pair<double, std::size_t>> sorted;
  sorted.reserve(p.size());
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (!std::isnan(p[i])) sorted.emplace_back(p[i], i);
  }
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

std::vector<double> adjusted(std::vector<double> p, std::uint64_t family, adjustment adjust) {
  check(p, family, adjust);
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

}  // namespace

std::vector<double> adjusted_p_values(std::span<const double> p, std::uint64_t family,
                                      adjustment adjust) {
  return adjusted({p.begin(), p.end()}, family, adjust);
}

std::vector<double> adjusted_p_values(std::span<const edge> edges, std::uint64_t family,
                                      adjustment adjust) {
  std::vector<double> p(edges.size());
  std::transform(edges.begin(), edges.end(), p.begin(), [](const edge& e) { return e.p; });
  return adjusted(std::move(p), family, adjust);
}

}  // namespace gpu::inline v0
