#pragma once
// What the tiles of rows with missing values write of a pair, for the time of one sink: its cuts or
// its tests by the number of shared columns, in device memory.

#include <cuda_runtime_api.h>

#include "cuda/pairs/rows/budget.hpp"
#include "cuda/pairs/rows/device_rows.hpp"
#include "cuda_runtime/device_buffer.hpp"
#include "pairs/observations.hpp"

namespace gpu::cuda {

class pairwise_scope {
 public:
  /// Nothing for rows without missing values. Either may be null; waits for the copies.
  pairwise_scope(device_rows& rows, const pair_budget& budget, const detail::observation_cuts* cuts,
                 const detail::observation_tests* tests, cudaStream_t stream);
  ~pairwise_scope() { rows_.decide_by({}); }
  pairwise_scope(const pairwise_scope&) = delete;
  pairwise_scope& operator=(const pairwise_scope&) = delete;

 private:
  device_rows& rows_;
  device_buffer<detail::keep_range> cuts_;
  device_buffer<stats::p_table> tables_;
};

}  // namespace gpu::cuda
