#include "stats/significance/significance.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "base/parallel.hpp"
#include "stats/significance/least_rank_p.hpp"

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

// One piece for every statistic, whose scale makes any p NaN.
std::shared_ptr<const p_table> table_of_nans() {
  static const auto table = [] {
    auto made = std::make_shared<p_table>();
    made->pieces[0].scale = std::numeric_limits<double>::quiet_NaN();
    made->pieces_used = 1;
    return made;
  }();
  return table;
}

double weakest_of_all(tail side) {
  switch (side) {
    case tail::two_sided:
      return 0.0;
    case tail::greater:
      return -1.0;
    case tail::less:
      return 1.0;
  }
  return 0.0;
}

// About 0.1 ms of work.
constexpr index_t edges_per_task = 8192;

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

std::shared_ptr<const p_table> p_table_for(significance test, observation_count observations) {
  switch (test) {
    case significance::none:
    case significance::kendall:       // not of the statistic alone: kendall_test.hpp
    case significance::permutations:  // nor this: spearman_test.hpp
      return table_of_nans();
    case significance::student_t:
      return p_table_for(observations);
    case significance::floored_t:
      return p_table_for(observations, least_untied_p(observations));
  }
  return nullptr;
}

double critical_value(significance test, double p, const p_table& table, tail side) {
  switch (test) {
    case significance::none:
    case significance::kendall:
    case significance::permutations:
      return weakest_of_all(side);
    case significance::student_t:
    case significance::floored_t:
      return critical_value(p, table, side);
  }
  return std::numeric_limits<double>::infinity();
}

double critical_value(significance test, double p, observation_count observations, tail side) {
  return critical_value(test, p, *p_table_for(test, observations), side);
}

void fill_p(const p_function& p_of, std::span<edge> edges, int threads) {
  if (p_of.table == nullptr) return;
  detail::parallel_for_ranges(
      std::ssize(edges), edges_per_task, threads, [&](detail::index_range some, int) {
        const p_function p = p_of;
        for (edge& e : edges.subspan(static_cast<std::size_t>(some.begin),
                                     static_cast<std::size_t>(some.size()))) {
          e.p = p(e.statistic);
        }
      });
}

edge_p_values::edge_p_values(significance test, observation_count observations, tail side,
                             int threads)
    : table_(p_table_for(test, observations)),
      side_(side),
      threads_(detail::thread_count(threads)) {}

void edge_p_values::fill(std::span<const double> statistics, std::span<double> out) const {
  constexpr index_t at_once = 2048;
  detail::parallel_for_ranges(
      std::ssize(statistics), at_once, threads_, [&](detail::index_range some, int) {
        const auto begin = static_cast<std::size_t>(some.begin);
        const auto part = statistics.subspan(begin, static_cast<std::size_t>(some.size()));
        std::ranges::transform(part, out.subspan(begin).begin(), function());
      });
}

double normal_upper_quantile(double p) {
  if (p > 0.5) return -normal_upper_quantile(1.0 - p);
  // Newton's method on log Q(z) - log p. log Q is concave and falls, and Q(z) <= exp(-z^2 / 2) / 2
  // says that the start is not below the root: so the steps go down to it, and the first one that
  // does not is rounding.
  double z = std::sqrt(-2.0 * std::log(2.0 * p));
  for (int step = 0; step < 100; ++step) {
    const double above = std::erfc(z / std::numbers::sqrt2) / 2.0;
    const double density = std::exp(-z * z / 2.0) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
    const double next = z + std::log(above / p) * (above / density);
    if (!(next < z)) break;
    z = next;
  }
  return z;
}

}  // namespace gpu::stats
