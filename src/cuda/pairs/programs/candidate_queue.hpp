#pragma once
// Candidates in device memory, with their counters: what edges and top-k fill and drain.

#include <cstdint>

#include "cuda_runtime/device_buffer.hpp"
#include "cuda_runtime/stream.hpp"
#include "kernels/pairs/kernels.hpp"

namespace gpu::cuda {

/// How many candidates a launch found and how many of them were kept.
class candidate_counters {
 public:
  explicit candidate_counters(cudaStream_t stream) : counters_(2, stream), host_counters_(2) {}

  /// Sets both to 0, ordered on `stream`.
  void clear(cudaStream_t stream) {
    GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(counters_.data(), 0, counters_.bytes(), stream));
  }
  /// Begins to copy the counters to the host.
  void read(cudaStream_t stream) {
    GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(host_counters_.data(), counters_.data(),
                                              counters_.bytes(), cudaMemcpyDeviceToHost, stream));
    GPU_SIMILARITY_CUDA_CHECK(cudaEventRecord(ready_.get(), stream));
  }
  /// Waits for the copy.
  void wait() const { GPU_SIMILARITY_CUDA_CHECK(cudaEventSynchronize(ready_.get())); }
  /// Recorded behind the copy.
  [[nodiscard]] const event& ready() const { return ready_; }

  /// Candidates there were, also past the capacity; valid after wait().
  [[nodiscard]] std::uint64_t found() const { return host_counters_.data()[0]; }
  /// Those that were kept; valid after launch_finish_candidates, read() and wait().
  [[nodiscard]] std::uint64_t kept() const { return host_counters_.data()[1]; }
  [[nodiscard]] unsigned long long* device_found() const { return counters_.data(); }
  [[nodiscard]] unsigned long long* device_kept() const { return counters_.data() + 1; }

 private:
  device_buffer<unsigned long long> counters_;  // found, kept
  pinned_buffer<unsigned long long> host_counters_;
  event ready_;
};

/// Room for candidates: a key and a product, or later a statistic, each.
struct candidate_buffer {
  candidate_buffer(std::uint64_t capacity, cudaStream_t stream)
      : keys(capacity, stream), values(capacity, stream) {}

  [[nodiscard]] std::uint64_t capacity() const { return keys.size(); }
  [[nodiscard]] kernels::candidate_sink_args sink(const kernels::cut_estimate& cut,
                                                  const candidate_counters& counters) const {
    return {.cut = cut,
            .keys = keys.data(),
            .products = values.data(),
            .capacity = capacity(),
            .count = counters.device_found()};
  }
  /// What decides `found` candidates exactly; `all` describes every row of the input.
  [[nodiscard]] kernels::finish_request finish(kernels::pair_tile_kind tile,
                                               const kernels::pair_operand& all,
                                               const detail::pair_cut& keep,
                                               const candidate_counters& counters) const {
    return {.tile = tile,
            .rows = all,
            .cols = all,
            .keep = keep,
            .keys = keys.data(),
            .values = values.data(),
            .count = counters.found(),
            .kept = counters.device_kept()};
  }

  device_buffer<std::uint64_t> keys;
  device_buffer<std::uint64_t> values;
};

}  // namespace gpu::cuda
