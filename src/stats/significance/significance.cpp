#include "stats/significance/significance.hpp"

#include <limits>

#include "stats/significance/correlation_test.hpp"
#include "stats/significance/least_rank_p.hpp"

namespace gpu::stats {
namespace {

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

}  // namespace

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

}  // namespace gpu::stats
