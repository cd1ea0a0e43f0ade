#pragma once
// What a pair is tested by: where its p comes from, and so what a cut on p keeps. An engine gets of
// it what decides its pairs (keep, cuts, tied_cut) and what counting passes bin (binned).

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <gpu/pair_sinks.hpp>

#include "pairs/adjustment.hpp"
#include "pairs/engine.hpp"
#include "stats/significance/p_table.hpp"

namespace gpu::inline v0::detail {

class pair_test {
 public:
  virtual ~pair_test() = default;

  /// Where p follows from the statistic alone, the observations that turn a cut on p into one on
  /// the statistic; else 0: passes bin p itself.
  [[nodiscard]] virtual observation_count observations() const { return 0; }
  /// Before the passes of `filter`, and before its cut. Counts the pairs that have a statistic
  /// where only p tells them and the adjustment needs them.
  virtual void begin(const pair_filter& /*filter*/, pair_engine& /*engine*/) {}
  /// A pass that bins this p.
  [[nodiscard]] virtual bin_request binned(const bin_request& request) const { return request; }
  /// Takes the cut of a filter whose max_p is adjusted already. Partners are `of_one_side`: see
  /// of_one_sign. Returns the cut of rows without ties, or of pairs that share all columns.
  virtual effective_cut take(const adjusted_level& level, const pair_filter& filter,
                             bool of_one_side) = 0;

  /// Once a cut is taken, what engines are asked for: the statistics that are kept of those that
  /// cuts() or tied_cut() leave, where one is there; and p.
  [[nodiscard]] virtual keep_range keep() const { return {0.0, 0.0}; }
  [[nodiscard]] virtual const observation_cuts* cuts() const { return nullptr; }
  [[nodiscard]] virtual const detail::tied_cut* tied_cut() const { return nullptr; }
  /// p of a statistic, where it follows from that alone; else without a table.
  [[nodiscard]] virtual stats::p_function p_of() const { return {}; }
  /// p of a pair; `col` counts from the first column of the area.
  [[nodiscard]] virtual double p(double statistic, index_t row, index_t col) const = 0;

  /// Pairs that have a statistic, where begin() counted them.
  [[nodiscard]] const std::optional<std::uint64_t>& tested() const { return tested_; }
  /// Rows with ties, ascending, of a test by permutations.
  [[nodiscard]] virtual std::vector<index_t> rows_with_ties() const { return {}; }

 protected:
  std::optional<std::uint64_t> tested_;
};

/// The test of the pairs of an input, whose rows an engine has prepared.
std::unique_ptr<pair_test> make_pair_test(const measure_traits& what, const pair_input& input,
                                          const row_info& rows);

/// The counting pass of a search that comes next, of a test that has begun.
bin_counts count_pass(const pair_test& test, pair_engine& engine, const discovery_search& search);

/// The cut of a filter, which `test` takes. `family`: the tests of the whole job.
effective_cut resolve_cut(pair_test& test, const pair_filter& filter, pair_engine& engine,
                          std::uint64_t family, bool of_one_side);

}  // namespace gpu::inline v0::detail
