#include "stats/significance/max_t_p.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace gpu::stats {
namespace {

double p_of(std::size_t as_large, std::size_t permutations) {
  return (1.0 + static_cast<double>(as_large)) / (1.0 + static_cast<double>(permutations));
}

}  // namespace

double magnitude_of(double statistic, tail side) {
  if (side == tail::two_sided) return std::fabs(statistic);
  return side == tail::greater ? statistic : -statistic;
}

double least_magnitude(tail side) {
  return side == tail::two_sided ? 0.0 : -1.0;
}

double least_max_t_p(std::size_t permutations) {
  return p_of(0, permutations);
}

double max_t_p(std::span<const double> maxima, tail side, double statistic) {
  if (std::isnan(statistic)) return statistic;
  const double own = magnitude_of(statistic, side);
  const auto smaller = std::partition_point(maxima.begin(), maxima.end(),
                                            [own](double maximum) { return maximum >= own; });
  return p_of(static_cast<std::size_t>(smaller - maxima.begin()), maxima.size());
}

std::vector<double> max_t_p(std::span<const double> maxima, tail side,
                            std::span<const edge> edges) {
  std::vector<double> out(edges.size());
  std::transform(edges.begin(), edges.end(), out.begin(),
                 [&](const edge& e) { return max_t_p(maxima, side, e.statistic); });
  return out;
}

double max_t_cut(std::span<const double> maxima, tail side, double level) {
  // How many maxima may be as large as a statistic that is kept. Rounding is that of p_of.
  const std::size_t count = maxima.size();
  auto most = static_cast<std::size_t>(level * (1.0 + static_cast<double>(count)));
  while (most > 0 && p_of(most, count) > level) --most;
  if (most >= count) return least_magnitude(side);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double reached = maxima[most];
  return reached >= 1.0 ? infinity : std::nextafter(reached, infinity);
}

}  // namespace gpu::stats
