#include "stats/correlation_test.hpp"

#include <boost/math/special_functions/beta.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace gpu::stats {
namespace {

namespace policies = boost::math::policies;
// Never throw, never set errno; plain double: a few ulp, and seven times as fast as promotion.
using quiet_policy = policies::policy<
    policies::domain_error<policies::ignore_error>, policies::pole_error<policies::ignore_error>,
    policies::overflow_error<policies::ignore_error>,
    policies::underflow_error<policies::ignore_error>,
    policies::evaluation_error<policies::ignore_error>, policies::promote_double<false>>;

double two_sided_p(double magnitude, index_t observations) {
  if (magnitude >= 1.0) return 0.0;
  if (magnitude == 0.0) return 1.0;
  const double half_freedom = static_cast<double>(observations - 2) / 2;
  const double square = magnitude * magnitude;
  // Near 0 the complement keeps the digits that 1 - r^2 would lose.
  const double p = square < 0.1
                       ? boost::math::ibetac(0.5, half_freedom, square, quiet_policy())
                       : boost::math::ibeta(half_freedom, 0.5, (1 + magnitude) * (1 - magnitude),
                                            quiet_policy());
  return p > 1.0 ? 1.0 : p;
}

double upper_tail_p(double r, index_t observations) {
  const double half = two_sided_p(std::abs(r), observations) / 2;
  return r > 0 ? half : 1.0 - half;
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

// The smallest double in [from, 1] with p(r) <= limit, where p falls with r.
template <class PValue>
double first_at_most(double limit, double from, const PValue& p) {
  if (p(from) <= limit) return from;
  std::int64_t above = order_of(from);  // p above the limit
  std::int64_t within = order_of(1.0);  // p is 0 at 1
  while (within - above > 1) {
    const std::int64_t middle = above + (within - above) / 2;
    (p(from_order(middle)) <= limit ? within : above) = middle;
  }
  // p falls but for the last bits: a few doubles below may reach the limit too, and are let in.
  constexpr int roughness = 64;
  std::int64_t first = within;
  for (int step = 1; step <= roughness && within - step > order_of(from); ++step) {
    if (p(from_order(within - step)) <= limit) first = within - step;
  }
  return from_order(first);
}

}  // namespace

double t_value(double r, index_t observations) {
  return r * std::sqrt(static_cast<double>(observations - 2) / ((1 + r) * (1 - r)));
}

double p_value(double r, index_t observations, tail side) {
  if (std::isnan(r)) return r;
  switch (side) {
    case tail::two_sided:
      return two_sided_p(std::abs(r), observations);
    case tail::greater:
      return upper_tail_p(r, observations);
    case tail::less:
      return upper_tail_p(-r, observations);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

double critical_value(double p, index_t observations, tail side) {
  if (side == tail::two_sided) {
    return first_at_most(p, 0.0, [&](double r) { return two_sided_p(r, observations); });
  }
  const double c = first_at_most(p, -1.0, [&](double r) { return upper_tail_p(r, observations); });
  return side == tail::greater ? c : -c;
}

}  // namespace gpu::stats
