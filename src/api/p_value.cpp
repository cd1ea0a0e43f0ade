#include <gpu/p_value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include <gpu/error.hpp>

#include "api/arguments.hpp"
#include "base/call_progress.hpp"
#include "pairs/measures/measures.hpp"
#include "stats/observation_limits.hpp"
#include "stats/significance/kendall_test.hpp"
#include "stats/significance/least_rank_p.hpp"
#include "stats/significance/significance.hpp"
#include "stats/significance/spearman_test.hpp"

namespace gpu::inline v0 {
namespace {

void check_correlation(double r, const char* name = "r") {
  if (r < -1.0 || r > 1.0) {
    throw invalid_argument(fmt::format("{}: got {}, expected a correlation in [-1, 1]", name, r));
  }
}

// Of a row that is not constant.
void check_ties(const char* name, const row_ties& ties, index_t observations) {
  const index_t most = (observations - 1) * (observations - 2);
  if (ties.pairs >= 0 && 2 * ties.pairs <= most && ties.triples >= 0 &&
      ties.triples <= most * (observations - 3)) {
    return;
  }
  throw invalid_argument(fmt::format(
      "{}: got {} tied pairs and triples of {}, expected 0 to {} and 0 to {} of {} observations",
      name, ties.pairs, ties.triples, most / 2, most * (observations - 3), observations));
}

// The table of the last test and number of observations of a thread.
const stats::p_table& last_table(significance test, observation_count observations) {
  thread_local significance of = significance::none;
  thread_local std::shared_ptr<const stats::p_table> table;
  if (!table || of != test || table->observations != observations) {
    table = stats::p_table_for(test, observations);
    of = test;
  }
  return *table;
}

// The class of a pair of rows with these ties.
int checked_class(const stats::tie_classes& classes, const row_ties& x, const row_ties& y,
                  index_t observations) {
  check_ties("x", x, observations);
  check_ties("y", y, observations);
  return std::max(classes.of(stats::tie_sum(x)), classes.of(stats::tie_sum(y)));
}

// The test of the last number of observations of a thread.
template <class Test>
const Test& last_test(index_t observations) {
  thread_local std::optional<Test> last;
  if (!last || last->observations() != observations) last.emplace(observations);
  return *last;
}

}  // namespace

double correlation_t(double r, observation_count observations) {
  stats::check_observations("observations", observations);
  check_correlation(r);
  return stats::t_value(r, observations);
}

double correlation_p_value(double r, observation_count observations, tail side) {
  stats::check_observations("observations", observations);
  check_correlation(r);
  return stats::p_value(r, observations, side);
}

double least_rank_p(index_t observations, const row_ties& x, const row_ties& y, tail side) {
  stats::check_observations("observations", observations);
  const stats::tie_classes classes(observations);
  const double two_sided = classes.least_p(checked_class(classes, x, y, observations));
  return side == tail::two_sided ? two_sided : two_sided / 2;
}

double t_value_of(measure what, double statistic, observation_count observations) {
  stats::check_observations("observations", observations);
  check_correlation(statistic);
  switch (info_of(what).test) {
    case significance::student_t:
      return stats::t_value(statistic, observations);
    case significance::floored_t:
      return stats::rank_t_value(statistic, observations);
    case significance::none:
    case significance::kendall:
    case significance::permutations:
      break;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

double kendall_p_value(double tau, index_t observations, const row_ties& x, const row_ties& y,
                       tail side) {
  constexpr index_t most = 1'000'000;
  if (observations < stats::least_observations || observations > most) {
    throw invalid_argument(
        fmt::format("observations: got {}, expected from 3 to {}", observations, most));
  }
  check_correlation(tau, "tau");
  const auto& test = last_test<stats::kendall_test>(observations);
  check_ties("x", x, observations);
  check_ties("y", y, observations);
  if (std::isnan(tau)) return tau;
  return test.p(test.sum_of(tau, x, y), x, y, side);
}

double spearman_p_value(double rho, index_t observations, const row_ties& x, const row_ties& y,
                        tail side) {
  stats::check_observations("observations", observations);
  check_correlation(rho, "rho");
  const auto& test = last_test<stats::spearman_test>(observations);
  return test.p(rho, checked_class(test.classes(), x, y, observations), side);
}

double p_value_of(measure what, double statistic, observation_count observations, tail side) {
  switch (info_of(what).test) {
    case significance::none:
      check_correlation(statistic);
      break;
    case significance::student_t:
    case significance::floored_t:
      stats::check_observations("observations", observations);
      check_correlation(statistic);
      return stats::p_function{&last_table(info_of(what).test, observations), side}(statistic);
    case significance::kendall:
      throw unsupported(
          "measure: p of Kendall depends on the ties of both rows, gpu::kendall_p_value takes "
          "them");
    case significance::permutations:  // of no measure by itself
      break;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

void p_values_of(measure what, std::span<const double> statistics, observation_count observations,
                 tail side, std::span<double> out, const execution& exec) {
  detail::check_cpu_call(exec, "p_values_of");
  if (out.size() != statistics.size()) {
    throw invalid_argument(fmt::format("out: got {} elements, expected {}, as many as statistics",
                                       out.size(), statistics.size()));
  }
  const auto wrong =
      std::ranges::find_if(statistics, [](double each) { return each < -1.0 || each > 1.0; });
  if (wrong != statistics.end()) {
    check_correlation(*wrong, fmt::format("statistics[{}]", wrong - statistics.begin()).c_str());
  }
  static_cast<void>(p_value_of(what, 0.0, observations, side));  // throws what it has to
  const detail::polled_call polled(exec.on_progress, "p_values_of", std::ssize(statistics));
  stats::edge_p_values(info_of(what).test, observations, side, exec.cpu_threads)
      .fill(statistics, out);
}

double critical_correlation(double p, observation_count observations, tail side) {
  stats::check_observations("observations", observations);
  if (!(p > 0.0 && p <= 1.0)) {
    throw invalid_argument(fmt::format("p: got {}, expected a value in (0, 1]", p));
  }
  return stats::critical_value(p, observations, side);
}

}  // namespace gpu::inline v0
