#pragma once
// Candidates in device memory, with their counters: what edges and top-k fill, decide and put in
// order. For host and device results.

#include <cstddef>
#include <cstdint>

#include "cuda_runtime/arena.hpp"
#include "cuda_runtime/copies.hpp"
#include "cuda_runtime/device_buffer.hpp"
#include "cuda_runtime/stream.hpp"
#include "kernels/pairs/sinks/kernels.hpp"

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
    copy_elements(host_counters_.data(), counters_.data(), counters_.size(), stream);
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

/// Places for candidates in device memory: a key and a product, or later a statistic, each.
struct candidate_places {
  std::uint64_t* keys = nullptr;
  std::uint64_t* values = nullptr;
  std::uint64_t capacity = 0;

  /// Takes so many places.
  static candidate_places in(arena& memory, std::uint64_t capacity) {
    return {memory.take<std::uint64_t>(capacity), memory.take<std::uint64_t>(capacity), capacity};
  }
  /// What a tile fills, and adds its finds to `found`.
  [[nodiscard]] kernels::candidate_sink_args sink(const kernels::cut_estimate& cut,
                                                  unsigned long long* found) const {
    return {.cut = cut, .keys = keys, .products = values, .capacity = capacity, .count = found};
  }
};

/// The same with memory of its own.
class candidate_buffer {
 public:
  candidate_buffer(std::uint64_t capacity, cudaStream_t stream)
      : keys_(capacity, stream), values_(capacity, stream) {}

  [[nodiscard]] std::uint64_t capacity() const { return keys_.size(); }
  [[nodiscard]] candidate_places places() const {
    return {keys_.data(), values_.data(), capacity()};
  }

 private:
  device_buffer<std::uint64_t> keys_;
  device_buffer<std::uint64_t> values_;
};

/// Scratch memory of a sort.
struct sort_scratch {
  std::byte* data;
  std::size_t bytes;
};

/// Puts `count` entries of the first of two queues in order by the `bits` of their keys; returns
/// which one holds them then.
inline int sort_candidates(const candidate_places (&queues)[2], std::uint64_t count, int bits,
                           const sort_scratch& scratch, cudaStream_t stream) {
  std::uint64_t* const keys[2] = {queues[0].keys, queues[1].keys};
  std::uint64_t* const values[2] = {queues[0].values, queues[1].values};
  return kernels::sort_candidates(scratch.data, scratch.bytes, keys, values, count, bits, stream);
}

}  // namespace gpu::cuda
