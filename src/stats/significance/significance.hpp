#pragma once
// The significance tests that measures name: p of a statistic and of many, and the cut that follows
// from a cut on p. Arguments are valid here: src/api/p_value.cpp checks them.

#include <memory>
#include <span>

#include <gpu/index.hpp>
#include <gpu/measure.hpp>
#include <gpu/pair_sinks.hpp>

#include "stats/significance/p_table.hpp"

namespace gpu::stats {

struct p_table;

/// t = r sqrt((observations - 2) / ((1 + r) (1 - r))).
double t_value(double r, observation_count observations);

/// p of r: the regularised incomplete beta function I_x(nu / 2, 1 / 2), nu = observations - 2, x =
/// (1 + r) (1 - r), which is Student's two-sided p (Abramowitz and Stegun, 26.7.1 and 26.5.27), as
/// p_table.hpp evaluates it: the bits that edges hold.
double p_value(double r, observation_count observations, tail side);

/// The weakest correlation in the direction of `side` whose p_value is at most p; infinite, with
/// the sign of the side, where there is none. Every cut on p is turned into a cut on the statistic
/// here, by bisection over doubles with p_value itself, which is monotone: a statistic reaches the
/// cut exactly where its p_value is at most p.
double critical_value(double p, observation_count observations, tail side);
/// The same by a table of p_table.hpp.
double critical_value(double p, const p_table& table, tail side);

/// p of a test as a table. That of significance::none gives NaN for every statistic.
std::shared_ptr<const p_table> p_table_for(significance test, observation_count observations);

/// critical_value below, by a table of p.
double critical_value(significance test, double p, const p_table& table, tail side);

/// The weakest statistic in the direction of `side` whose p is at most `p`. For significance::none
/// `p` is 1, and every statistic passes.
double critical_value(significance test, double p, observation_count observations, tail side);

/// Fills p of edges on several threads. Nothing where `p_of` has no table.
void fill_p(const p_function& p_of, std::span<edge> edges, int threads);

/// p of one test, number of observations and tail; fills p of statistics on several threads.
class edge_p_values {
 public:
  edge_p_values(significance test, observation_count observations, tail side, int threads);
  /// out[i] is p of statistics[i].
  void fill(std::span<const double> statistics, std::span<double> out) const;
  /// The same p of one statistic, as long as this lives.
  [[nodiscard]] p_function function() const { return {table_.get(), side_}; }

 private:
  std::shared_ptr<const p_table> table_;
  tail side_;
  int threads_;
};

/// The z that a standard normal variable exceeds with the probability `p`, in (0, 1); some units in
/// the last place.
double normal_upper_quantile(double p);

}  // namespace gpu::stats
