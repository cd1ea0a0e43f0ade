#pragma once
// Which rung of the CPU's ladder looks for the pairs that pass a cut: one visible pure function of
// what a sample of the pairs says and what each rung costs.

#include <algorithm>
#include <limits>
#include <string>

#include <gpu/index.hpp>

namespace gpu::cpu {

/// How pairs that pass a cut are found, from the quickest for few to the quickest for many.
enum class cpu_pair_rung {
  screen,  ///< 8-bit products leave candidates, which are decided one by one.
  search,  ///< Sums of products are compared with the cut; what may pass is decided one by one.
  every    ///< Every pair of a block is decided, without a branch.
};

/// What pairs drawn at random say. Shares are in (0, 1).
struct pair_estimate {
  index_t sampled = 0;    ///< Pairs that were looked at.
  double kept = 0;        ///< Share of the pairs that pass the cut.
  double candidates = 0;  ///< Share that the screen would leave; 1 where there is none.
};

/// Share of `passed` of `sampled` pairs, as if half of one more had passed: none of 1000 is less
/// than one in 1000, not none.
[[nodiscard]] inline double estimated_share(index_t passed, index_t sampled) {
  return (static_cast<double>(passed) + 0.5) / (static_cast<double>(sampled) + 1);
}

/// Nanoseconds of one thread.
struct cpu_pair_costs {
  double screen = std::numeric_limits<double>::infinity();  ///< Of a pair; infinite: no screen.
  double search = 0;                                        ///< Of a pair.
  double every = 0;                                         ///< Of a pair.
  double decide = 0;  ///< Of one pair that is decided by itself.
};

/// The choice and its reason: the expected nanoseconds of a pair by each rung, of one thread.
struct cpu_rung_choice {
  cpu_pair_rung rung = cpu_pair_rung::search;
  double screen = 0;
  double search = 0;
  double every = 0;
};

/// What a rung that passes by most pairs costs: where one of a block of 256 may pass, its products
/// are computed once more, and the pair is decided by itself.
[[nodiscard]] inline double cpu_cost_of_passing_by(double pair, double share, double decide) {
  constexpr double block_pairs = 256;
  return pair * (1 + std::min(1.0, block_pairs * share)) + share * decide;
}

/// The rung that is expected to take least time.
[[nodiscard]] inline cpu_rung_choice choose_cpu_rung(const pair_estimate& estimate,
                                                     const cpu_pair_costs& costs) {
  cpu_rung_choice out{
      .screen = cpu_cost_of_passing_by(costs.screen, estimate.candidates, costs.decide),
      .search = cpu_cost_of_passing_by(costs.search, estimate.kept, costs.decide),
      .every = costs.every};
  out.rung = out.every < out.search ? cpu_pair_rung::every : cpu_pair_rung::search;
  if (out.screen < std::min(out.search, out.every)) out.rung = cpu_pair_rung::screen;
  return out;
}

/// The choice in words: the rung, what it and the others were expected to cost, and what the sample
/// said.
[[nodiscard]] std::string explain_cpu_rung(const cpu_rung_choice& choice,
                                           const pair_estimate& estimate);

}  // namespace gpu::cpu
