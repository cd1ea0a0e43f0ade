#pragma once
// The way in which the CPU finds the pairs that pass a cut, chosen by one pure function of what a
// sample of the pairs says and what each way costs.

#include <algorithm>
#include <limits>
#include <string>

#include <gpu/index.hpp>

namespace gpu::cpu {

/// How pairs that pass a cut are found: the first is the fastest where few pass, the last where
/// many do.
enum class cpu_pair_way {
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

/// Share of `passed` in `sampled` pairs, as if half a pair more had passed: where none of 1000 did,
/// the share is taken as 1 in 2000 and not as 0.
[[nodiscard]] inline double estimated_share(index_t passed, index_t sampled) {
  return (static_cast<double>(passed) + 0.5) / (static_cast<double>(sampled) + 1);
}

/// Nanoseconds of one thread.
struct cpu_pair_costs {
  double screen = std::numeric_limits<double>::infinity();  ///< Of a pair; infinite: no screen.
  double search = 0;                                        ///< Of a pair.
  double every = 0;                                         ///< Of a pair.
  double candidate = 0;  ///< Of one pair that the screen leaves, whose sum has to be made.
  double decide = 0;     ///< Of one pair that the search leaves, whose sum is there.
  /// Pairs whose products the search makes again where one of them may pass; 0: it never does.
  double search_block = 256;
};

/// The choice and its reason: the expected nanoseconds of a pair by each way, of one thread.
struct cpu_way_choice {
  cpu_pair_way way = cpu_pair_way::search;
  double screen = 0;
  double search = 0;
  double every = 0;
};

/// Nanoseconds a pair of a way that drops most pairs, `pair` each. Where one of a block may pass,
/// the products of the block are computed again, and the pair is decided by itself.
[[nodiscard]] inline double cpu_cost_of_dropping(double pair, double share, double decide,
                                                 double block_pairs = 256) {
  return pair * (1 + std::min(1.0, block_pairs * share)) + share * decide;
}

/// The way that is expected to take least time. The screen has to promise a tenth less than the
/// others: what it leaves is known from a few pairs alone, and theirs is a fixed price.
[[nodiscard]] inline cpu_way_choice choose_cpu_way(const pair_estimate& estimate,
                                                   const cpu_pair_costs& costs) {
  constexpr double worth_screening = 0.9;
  cpu_way_choice out{
      .screen = cpu_cost_of_dropping(costs.screen, estimate.candidates, costs.candidate),
      .search = cpu_cost_of_dropping(costs.search, estimate.kept, costs.decide, costs.search_block),
      .every = costs.every};
  out.way = out.every < out.search ? cpu_pair_way::every : cpu_pair_way::search;
  if (out.screen < worth_screening * std::min(out.search, out.every)) {
    out.way = cpu_pair_way::screen;
  }
  return out;
}

/// The way that goes on where `way` was taken and the pairs turned out as `seen` says: the next
/// best one once `way` has lost 1 % of what that takes for all pairs, else `way`. Rows that are of
/// another kind than the others so change nothing by being first.
[[nodiscard]] inline cpu_pair_way review_cpu_way(cpu_pair_way way, const pair_estimate& seen,
                                                 const cpu_pair_costs& costs, double pairs_done,
                                                 double all_pairs) {
  constexpr double most_lost = 0.01;
  if (way == cpu_pair_way::every) return way;
  cpu_pair_costs others = costs;
  others.screen = std::numeric_limits<double>::infinity();
  const cpu_way_choice now = choose_cpu_way(seen, others);
  const bool is_screened = way == cpu_pair_way::screen;
  const double spent = is_screened
                           ? cpu_cost_of_dropping(costs.screen, seen.candidates, costs.candidate)
                           : now.search;
  const double other = is_screened ? std::min(now.search, now.every) : now.every;
  if (pairs_done * (spent - other) <= most_lost * all_pairs * other) return way;
  return is_screened ? now.way : cpu_pair_way::every;
}

/// The choice in words: the way, what it and the others were expected to cost, and what the sample
/// said.
[[nodiscard]] std::string explain_cpu_way(const cpu_way_choice& choice,
                                          const pair_estimate& estimate);

}  // namespace gpu::cpu
