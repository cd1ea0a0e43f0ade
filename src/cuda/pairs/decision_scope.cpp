#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "cuda/pairs/engine.hpp"
#include "cuda_runtime/copies.hpp"

namespace gpu::cuda {
namespace {

// A copy of value(n) for every n in [least, most].
template <class Value, class ValueOf>
device_buffer<Value> upload_values(index_t least, index_t most, const ValueOf& value,
                                   const char* what, const pair_budget& budget, int cpu_threads,
                                   cudaStream_t stream) {
  const auto count = static_cast<std::size_t>(most - least + 1);
  budget.require(count * sizeof(Value), what);
  std::vector<Value> host(count);
  detail::parallel_for(most - least + 1, detail::thread_count(cpu_threads), [&](index_t at, int) {
    host[static_cast<std::size_t>(at)] = value(least + at);
  });
  return upload(std::span(host), stream);
}

}  // namespace

decision_scope::decision_scope(device_rows& rows, const pair_budget& budget,
                               const pair_decisions& by, int cpu_threads, cudaStream_t stream)
    : rows_(rows) {
  if (is_pairwise(rows.format().tile)) decide_pairwise(budget, by, cpu_threads, stream);
  if (rows.format().tile == kernels::pair_tile_kind::signs) {
    decide_tied(budget, by, cpu_threads, stream);
  }
}

void decision_scope::decide_pairwise(const pair_budget& budget, const pair_decisions& by,
                                     int cpu_threads, cudaStream_t stream) {
  kernels::pairwise_decision decision{.min_observations = rows_.format().least_shared};
  if (by.cuts != nullptr) {
    const detail::observation_cuts& cuts = *by.cuts;
    cuts_ = upload_values<detail::keep_range>(
        cuts.least(), cuts.most(), [&](index_t n) { return cuts.of(n); },
        "cuts by the number of observations", budget, cpu_threads, stream);
    decision.least = cuts.least();
    decision.cuts = cuts_.data();
  }
  if (by.tests != nullptr) {
    const detail::observation_tests& tests = *by.tests;
    tables_ = upload_values<stats::p_table>(
        tests.least(), tests.most(), [&](index_t n) { return tests.table_of(n); },
        "tests by the number of observations", budget, cpu_threads, stream);
    decision.least = tests.least();
    decision.tables = tables_.data();
    decision.side = tests.side();
  }
  rows_.decide_by(decision);
}

void decision_scope::decide_tied(const pair_budget& budget, const pair_decisions& by,
                                 int cpu_threads, cudaStream_t stream) {
  if (by.tied != nullptr) return rows_.decide_by(stats::decide_by(*by.tied->p, by.tied->keep));
  if (by.bins == nullptr || by.bins->tied.kendall == nullptr) {
    return rows_.decide_by(stats::decide_nothing(rows_.format().cols));
  }
  const detail::bin_request& bins = *by.bins;
  const stats::kendall_steps steps = stats::steps_of(
      *bins.tied.kendall,
      {.low = bins.low, .high = bins.high, .scale = bins.scale, .bins = bins.bins}, cpu_threads);
  std::vector<double> host(steps.z);
  host.insert(host.end(), steps.p.begin(), steps.p.end());
  host.insert(host.end(), steps.untied_p.begin(), steps.untied_p.end());
  budget.require(host.size() * sizeof(double), "p by the place among the bins");
  steps_ = upload(std::span(host), stream);
  stats::kendall_decision decision = stats::decide_steps(*bins.tied.kendall);
  decision.steps = static_cast<int>(steps.z.size());
  decision.step_z = steps_.data();
  decision.step_p = decision.step_z + steps.z.size();
  decision.untied_p = decision.step_p + steps.p.size();
  rows_.decide_by(decision);
}

}  // namespace gpu::cuda
