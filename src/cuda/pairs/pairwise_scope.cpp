#include "cuda/pairs/pairwise_scope.hpp"

#include <vector>

#include "base/parallel.hpp"
#include "cuda_runtime/cuda_check.hpp"

namespace gpu::cuda {
namespace {

// A copy of value(n) for every n in [least, most].
template <class Value, class ValueOf>
device_buffer<Value> upload(index_t least, index_t most, const ValueOf& value, const char* what,
                            const pair_budget& budget, cudaStream_t stream) {
  const auto count = static_cast<std::size_t>(most - least + 1);
  budget.require(count * sizeof(Value), what);
  std::vector<Value> host(count);
  cpu::parallel_for(most - least + 1, cpu::thread_count(0), [&](index_t at, int) {
    host[static_cast<std::size_t>(at)] = value(least + at);
  });
  device_buffer<Value> out(count, stream);
  GPU_SIMILARITY_CUDA_CHECK(
      cudaMemcpyAsync(out.data(), host.data(), out.bytes(), cudaMemcpyHostToDevice, stream));
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream));
  return out;
}

}  // namespace

pairwise_scope::pairwise_scope(device_rows& rows, const pair_budget& budget,
                               const detail::observation_cuts* cuts,
                               const detail::observation_tests* tests, cudaStream_t stream)
    : rows_(rows) {
  if (!is_pairwise(rows.format().tile)) return;
  kernels::pairwise_decision decision{.min_observations = rows.format().min_observations};
  if (cuts != nullptr) {
    cuts_ = upload<detail::keep_range>(
        cuts->least(), cuts->most(), [&](index_t n) { return cuts->of(n); },
        "cuts by the number of observations", budget, stream);
    decision.least = cuts->least();
    decision.cuts = cuts_.data();
  }
  if (tests != nullptr) {
    tables_ = upload<stats::p_table>(
        tests->least(), tests->most(), [&](index_t n) { return tests->table_of(n); },
        "tests by the number of observations", budget, stream);
    decision.least = tests->least();
    decision.tables = tables_.data();
    decision.side = tests->side();
  }
  rows.decide_by(decision);
}

}  // namespace gpu::cuda
