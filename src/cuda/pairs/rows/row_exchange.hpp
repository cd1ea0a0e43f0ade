#pragma once
// Prepared rows from one engine of a call to the others.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda/pairs/rows/row_format.hpp"
#include "cuda/pairs/team/share.hpp"
#include "cuda_runtime/cuda_check.hpp"
#include "cuda_runtime/index_range.hpp"
#include "kernels/pairs/screen/kernels.hpp"

namespace gpu::cuda {

/// The resident rows of the engines that share a call, open to each other while this lives.
class row_exchange {
 public:
  /// The memory of `mine` is ordered on `stream`.
  row_exchange(pair_share& share, const exchanged_rows& mine, cudaStream_t stream)
      : share_(share), mine_(mine) {
    GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream));
    all_ = share.exchange(mine);
  }
  ~row_exchange() { share_.leave(); }
  row_exchange(const row_exchange&) = delete;
  row_exchange& operator=(const row_exchange&) = delete;

  /// Copies rows of this engine to all others; complete before this ends.
  void send(index_range rows, const row_format& format, cudaStream_t stream) const {
    const auto first = static_cast<std::size_t>(rows.begin);
    const auto count = static_cast<std::size_t>(rows.size());
    const auto copy = [&](auto* to, const auto* from, std::size_t row_bytes) {
      if (from == nullptr) return;
      const std::size_t elements = row_bytes / sizeof(*from);
      GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(to + first * elements, from + first * elements,
                                                count * row_bytes, cudaMemcpyDefault, stream));
    };
    for (const exchanged_rows& other : all_) {
      if (other.square_sums == mine_.square_sums) continue;
      copy(other.values, mine_.values, format.row_bytes);
      copy(other.unit, mine_.unit, format.unit_bytes);
      copy(other.square_sums, mine_.square_sums, sizeof(std::int64_t));
      copy(other.rounding, mine_.rounding, sizeof(kernels::row_rounding));
    }
  }

 private:
  pair_share& share_;
  exchanged_rows mine_;
  std::vector<exchanged_rows> all_;
};

}  // namespace gpu::cuda
