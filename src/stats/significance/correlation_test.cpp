#include "stats/significance/correlation_test.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>

#include "stats/significance/p_table.hpp"

namespace gpu::stats {
namespace {

// The table that this thread used last: callers ask for one number of observations many times.
const p_table& table_of_this_thread(observation_count observations) {
  thread_local std::shared_ptr<const p_table> table;
  if (!table || table->observations != observations) table = p_table_for(observations);
  return *table;
}

// Doubles in order as integers, so that bisection halves the number of doubles left.
std::int64_t order_of(double value) {
  const auto bits = std::bit_cast<std::int64_t>(value);
  return bits >= 0 ? bits : std::numeric_limits<std::int64_t>::min() - bits;
}
double from_order(std::int64_t order) {
  return std::bit_cast<double>(order >= 0 ? order
                                          : std::numeric_limits<std::int64_t>::min() - order);
}

// The smallest double in [from, 1] with p(r) <= limit, infinity where there is none: p never grows
// with r.
template <class PValue>
double first_at_most(double limit, double from, const PValue& p) {
  if (p(from) <= limit) return from;
  if (!(p(1.0) <= limit)) return std::numeric_limits<double>::infinity();
  std::int64_t above = order_of(from);  // p above the limit
  std::int64_t within = order_of(1.0);
  while (within - above > 1) {
    const std::int64_t middle = above + (within - above) / 2;
    (p(from_order(middle)) <= limit ? within : above) = middle;
  }
  return from_order(within);
}

}  // namespace

double t_value(double r, observation_count observations) {
  return r * std::sqrt((observations - 2) / ((1 + r) * (1 - r)));
}

double p_value(double r, observation_count observations, tail side) {
  return p_function{&table_of_this_thread(observations), side}(r);
}

double critical_value(double p, observation_count observations, tail side) {
  return critical_value(p, table_of_this_thread(observations), side);
}

double critical_value(double p, const p_table& table, tail side) {
  if (side == tail::two_sided) return first_at_most(p, 0.0, p_function{&table, side});
  const double c = first_at_most(p, -1.0, p_function{&table, tail::greater});
  return side == tail::greater ? c : -c;
}

}  // namespace gpu::stats
