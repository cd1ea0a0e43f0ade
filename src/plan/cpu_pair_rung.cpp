#include "plan/cpu_pair_rung.hpp"

#include <algorithm>

namespace gpu::cpu {
namespace {

// Pairs of a block whose products are computed once more where one of them may pass.
constexpr double block_pairs = 256;

// The cost of a rung that passes by what it does not look at closely.
double cost_of(double pair, double share, double decide) {
  return pair * (1 + std::min(1.0, block_pairs * share)) + share * decide;
}

}  // namespace

double estimated_share(index_t passed, index_t sampled) {
  return (static_cast<double>(passed) + 0.5) / (static_cast<double>(sampled) + 1);
}

cpu_rung_choice choose_cpu_rung(const pair_estimate& estimate, const cpu_pair_costs& costs) {
  cpu_rung_choice out{.screen = cost_of(costs.screen, estimate.candidates, costs.decide),
                      .search = cost_of(costs.search, estimate.kept, costs.decide),
                      .every = costs.every};
  out.rung = out.every < out.search ? cpu_pair_rung::every : cpu_pair_rung::search;
  if (out.screen < std::min(out.search, out.every)) out.rung = cpu_pair_rung::screen;
  return out;
}

}  // namespace gpu::cpu
