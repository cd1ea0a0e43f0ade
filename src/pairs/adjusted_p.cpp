#include "pairs/adjusted_p.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>

#include "base/parallel.hpp"

namespace gpu::inline v0::detail {
namespace {

// p in ascending order, each with its place.
std::vector<std::pair<double, std::size_t>> ascending(std::span<const double> p) {
  std::vector<std::pair<double, std::size_t>> sorted;
  sorted.reserve(p.size());
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (!std::isnan(p[i])) sorted.emplace_back(p[i], i);
  }
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

// In place: halves are parted into halves until each thread has some, which it sorts.
void sort(std::span<double> values, int threads) {
  constexpr index_t least_piece = index_t{1} << 16;
  const auto size = static_cast<index_t>(values.size());
  index_t pieces = 1;
  while (pieces < 2 * index_t{threads} && size / (2 * pieces) >= least_piece) pieces *= 2;
  const auto piece = [&](index_t i) {
    return values.begin() + (i == pieces ? size : size / pieces * i);
  };
  for (index_t width = pieces; width > 1; width /= 2) {
    detail::parallel_for(pieces / width, threads, [&](index_t i, int) {
      std::nth_element(piece(i * width), piece(i * width + width / 2), piece((i + 1) * width));
    });
  }
  detail::parallel_for(pieces, threads, [&](index_t i, int) { std::sort(piece(i), piece(i + 1)); });
}

double bonferroni(double p, double tests) {
  return std::isnan(p) ? p : std::min(1.0, p * tests);
}

}  // namespace

std::vector<double> p_of(std::span<const edge> edges) {
  std::vector<double> p(edges.size());
  std::transform(edges.begin(), edges.end(), p.begin(), [](const edge& e) { return e.p; });
  return p;
}

std::vector<double> adjusted_p(std::vector<double> p, std::uint64_t family, adjustment adjust) {
  std::vector<double> tests;
  std::ranges::copy_if(p, std::back_inserter(tests), [](double each) { return !std::isnan(each); });
  adjust_within(p, tests, family, adjust, 1);
  return p;
}

void adjust_within(std::span<double> p, std::span<double> tests, std::uint64_t family,
                   adjustment adjust, int threads) {
  const auto all = static_cast<double>(family);
  switch (adjust) {
    case adjustment::none:
      break;
    case adjustment::bonferroni:
      for (double& each : p) each = bonferroni(each, all);
      break;
    case adjustment::benjamini_hochberg: {
      const auto sorted = ascending(p);
      sort(tests, threads);
      // Both from the largest down: the least over all tests that have at least that p.
      double least = 1.0;
      std::size_t j = tests.size();
      for (std::size_t i = sorted.size(); i-- > 0;) {
        for (; j > 0 && tests[j - 1] >= sorted[i].first; --j) {
          least = std::min(least, tests[j - 1] * all / static_cast<double>(j));
        }
        p[sorted[i].second] = least;
      }
    }
  }
}

}  // namespace gpu::inline v0::detail
