#pragma once
// A queue of candidates in device memory, with its counters: what edges and top-k fill and drain.

#include <cstdint>

#include "cuda_runtime/device_buffer.hpp"
#include "cuda_runtime/stream.hpp"
#include "kernels/pairs/kernels.hpp"

namespace gpu::cuda {

class candidate_queue {
 public:
  candidate_queue(std::uint64_t capacity, cudaStream_t stream)
      : capacity_(capacity),
        keys_(capacity, stream),
        values_(capacity, stream),
        counters_(2, stream),
        host_counters_(2) {}

  /// Empties the queue, ordered on `stream`.
  void clear(cudaStream_t stream) {
    GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(counters_.data(), 0, counters_.bytes(), stream));
  }
  /// Begins to copy the counters to the host; `ready` tells when they are there.
  void read_counters(cudaStream_t stream) {
    GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(host_counters_.data(), counters_.data(),
                                              counters_.bytes(), cudaMemcpyDeviceToHost, stream));
    GPU_SIMILARITY_CUDA_CHECK(cudaEventRecord(ready_.get(), stream));
  }
  void wait_for_counters() const { GPU_SIMILARITY_CUDA_CHECK(cudaEventSynchronize(ready_.get())); }

  [[nodiscard]] kernels::candidate_sink_args sink(const kernels::cut_estimate& cut) const {
    return {.cut = cut,
            .keys = keys_.data(),
            .products = values_.data(),
            .capacity = capacity_,
            .count = counters_.data()};
  }
  /// Decides exactly, ordered on `stream`; `all` describes every row of the input.
  void finish(kernels::pair_tile_kind tile, const kernels::pair_operand& all,
              const detail::keep_range& keep, cudaStream_t stream) {
    kernels::launch_finish_candidates({.tile = tile,
                                       .rows = all,
                                       .cols = all,
                                       .at_least = keep.at_least,
                                       .at_most = keep.at_most,
                                       .keys = keys_.data(),
                                       .values = values_.data(),
                                       .count = found(),
                                       .kept = counters_.data() + 1},
                                      stream);
  }

  [[nodiscard]] std::uint64_t capacity() const { return capacity_; }
  /// Candidates there were, also past the capacity; valid after wait_for_counters.
  [[nodiscard]] std::uint64_t found() const { return host_counters_.data()[0]; }
  /// Those that were kept; valid after finish, read_counters and wait_for_counters.
  [[nodiscard]] std::uint64_t kept() const { return host_counters_.data()[1]; }
  [[nodiscard]] std::uint64_t* keys() const { return keys_.data(); }
  [[nodiscard]] std::uint64_t* values() const { return values_.data(); }

 private:
  std::uint64_t capacity_;
  device_buffer<std::uint64_t> keys_;
  device_buffer<std::uint64_t> values_;
  device_buffer<unsigned long long> counters_;  // found, kept
  pinned_buffer<unsigned long long> host_counters_;
  event ready_;
};

}  // namespace gpu::cuda
