#pragma once
// p of many edges, or statistics, at once.

#include <memory>
#include <span>

#include <gpu/index.hpp>
#include <gpu/measure.hpp>
#include <gpu/pair_sinks.hpp>

#include "stats/significance/p_table.hpp"

namespace gpu::stats {

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

}  // namespace gpu::stats
