#include <gpu/adjusted_p.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include <gpu/error.hpp>

#include "pairs/adjusted_p.hpp"

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

std::vector<double> checked_and_adjusted(std::vector<double> p, std::uint64_t family,
                                         adjustment adjust) {
  check(p, family, adjust);
  return stats::adjusted_p(std::move(p), family, adjust);
}

}  // namespace

std::vector<double> adjusted_p_values(std::span<const double> p, std::uint64_t family,
                                      adjustment adjust) {
  return checked_and_adjusted({p.begin(), p.end()}, family, adjust);
}

std::vector<double> adjusted_p_values(std::span<const edge> edges, std::uint64_t family,
                                      adjustment adjust) {
  return checked_and_adjusted(stats::p_of(edges), family, adjust);
}

}  // namespace gpu::inline v0
