#pragma once
// Prepared rows from one engine of a call to the others.

#include <cuda_runtime_api.h>

#include <vector>

#include "cuda/pairs/rows/row_memory.hpp"
#include "cuda/pairs/team/share.hpp"
#include "cuda_runtime/cuda_check.hpp"
#include "cuda_runtime/index_range.hpp"

namespace gpu::cuda {

/// The resident rows of the engines that share a call, open to each other while this lives.
class row_exchange {
 public:
  /// The memory of `mine` is ordered on `stream`.
  row_exchange(pair_share& share, const row_memory& mine, cudaStream_t stream)
      : share_(share), mine_(mine) {
    mine_.norms = nullptr;  // every engine makes those of all rows
    GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream));
    all_ = share.exchange(&mine_);
  }
  ~row_exchange() { share_.leave(); }
  row_exchange(const row_exchange&) = delete;
  row_exchange& operator=(const row_exchange&) = delete;

  /// Copies rows of this engine to all others; complete before this ends.
  void send(index_range rows, const row_format& format, cudaStream_t stream) const {
    const row_memory from = rows_from(format, mine_, rows.begin);
    for (const void* engine : all_) {
      if (engine == &mine_) continue;
      const auto& other = *static_cast<const row_memory*>(engine);
      copy_rows(format, rows.size(), from, rows_from(format, other, rows.begin), stream);
    }
  }

 private:
  pair_share& share_;
  row_memory mine_;
  std::vector<const void*> all_;  // of each engine its row_memory
};

}  // namespace gpu::cuda
