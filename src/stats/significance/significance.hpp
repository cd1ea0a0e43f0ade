#pragma once
// The significance tests that measures name: p of a statistic, and the cut that follows from a cut
// on p.

#include <memory>

#include <gpu/index.hpp>
#include <gpu/measure.hpp>
#include <gpu/pair_sinks.hpp>

#include "stats/significance/p_table.hpp"

namespace gpu::stats {

/// p of a test as a table. That of significance::none gives NaN for every statistic.
std::shared_ptr<const p_table> p_table_for(significance test, observation_count observations);

/// critical_value below, by a table of p.
double critical_value(significance test, double p, const p_table& table, tail side);

/// The weakest statistic in the direction of `side` whose p is at most `p`. For significance::none
/// `p` is 1, and every statistic passes.
double critical_value(significance test, double p, observation_count observations, tail side);

}  // namespace gpu::stats
