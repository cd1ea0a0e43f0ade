#pragma once
// Student's t test of a correlation. Arguments are valid here: src/api/p_value.cpp checks them.

#include <gpu/index.hpp>
#include <gpu/pair_sinks.hpp>

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

}  // namespace gpu::stats
