#pragma once
// What tiles write of a pair whose p is not of the statistic alone, for the time of one sink: of
// rows with missing values the cuts or tests by the number of shared columns, of Kendall's those by
// the ties of both rows; their tables are in device memory.

#include <cuda_runtime_api.h>

#include "cuda/pairs/rows/budget.hpp"
#include "cuda/pairs/rows/device_rows.hpp"
#include "cuda_runtime/device_buffer.hpp"
#include "pairs/engine.hpp"
#include "pairs/observations.hpp"
#include "pairs/pair_ties.hpp"

namespace gpu::cuda {

/// What a request says of pairs; each may be null.
struct pair_decisions {
  const detail::observation_cuts* cuts = nullptr;
  const detail::observation_tests* tests = nullptr;
  const detail::tied_cut* tied = nullptr;
  const detail::bin_request* bins = nullptr;  ///< Of whose `tied` p is binned.
};

class decision_scope {
 public:
  /// Nothing for other rows. Waits for the copies.
  decision_scope(device_rows& rows, const pair_budget& budget, const pair_decisions& by,
                 int cpu_threads, cudaStream_t stream);
  ~decision_scope() { rows_.decide_nothing(); }
  decision_scope(const decision_scope&) = delete;
  decision_scope& operator=(const decision_scope&) = delete;

 private:
  void decide_pairwise(const pair_budget& budget, const pair_decisions& by, int cpu_threads,
                       cudaStream_t stream);
  void decide_tied(const pair_budget& budget, const pair_decisions& by, int cpu_threads,
                   cudaStream_t stream);

  device_rows& rows_;
  device_buffer<detail::keep_range> cuts_;
  device_buffer<stats::p_table> tables_;
  device_buffer<double> steps_;
};

}  // namespace gpu::cuda
