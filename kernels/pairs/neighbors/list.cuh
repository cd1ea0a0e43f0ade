#pragma once
// The best partners of one row seen so far, kept by one warp in shared memory.

#include <math_constants.h>

#include <cstdint>

#include "kernels/pairs/neighbors/kernels.hpp"

namespace gpu::kernels {

/// What orders neighbours, of a statistic or an estimate of it: detail::key_of, with the magnitude
/// in one instruction.
template <class Real>
__device__ __forceinline__ Real neighbor_key(Real statistic, detail::bin_key key) {
  if (key == detail::bin_key::magnitude) return fabs(statistic);
  return key == detail::bin_key::value ? statistic : -statistic;
}

/// Collects partners that come in ascending order and now and then keeps the best k of them,
/// sorted: by key descending, ties to the lowest partner.
class neighbor_list {
 public:
  static constexpr int capacity = 192;
  // Further entries that are collected before the best k are sorted out again. The first k are
  // sorted at once, so that heavy ties end the search.
  static constexpr int slack = 16;

  struct storage {
    double statistic[capacity];
    std::uint32_t partner[capacity];
  };

  __device__ neighbor_list(storage& entries, int k, detail::bin_key key)
      : entries_(entries), k_(k), key_(key), limit_(k) {}

  /// The key that a further partner must exceed: of equal keys the earlier partner stays.
  [[nodiscard]] __device__ double bar() const { return bar_; }
  [[nodiscard]] __device__ int count() const { return count_; }

  __device__ void clear() {
    limit_ = k_;
    count_ = 0;
    bar_ = below_every_key;
  }
  /// Takes the partners of the lanes with `wanted`; true where the bar may have risen.
  __device__ bool add(bool wanted, double statistic, std::uint32_t partner) {
    const unsigned lanes = __ballot_sync(~0U, wanted);
    if (wanted) {
      const int place = count_ + __popc(lanes & ((1U << (threadIdx.x & 31U)) - 1));
      entries_.statistic[place] = statistic;
      entries_.partner[place] = partner;
    }
    count_ += __popc(lanes);
    if (count_ < limit_) return false;
    keep_best();
    limit_ = k_ + slack;
    return true;
  }

  /// Sorts, and drops all but the best k. Every entry finds its place by counting those before it.
  __device__ void keep_best() {
    constexpr int held = capacity / 32;
    double statistic[held];
    std::uint32_t partner[held];
    int place[held];
    const int lane = static_cast<int>(threadIdx.x & 31U);
    __syncwarp();
#pragma unroll
    for (int h = 0; h < held; ++h) {
      place[h] = capacity;
      if (h * 32 >= count_) continue;
      const int slot = min(h * 32 + lane, count_ - 1);
      statistic[h] = entries_.statistic[slot];
      partner[h] = entries_.partner[slot];
      const double key = neighbor_key(statistic[h], key_);
      int before = 0;
      for (int other = 0; other < count_; ++other) {
        const double other_key = neighbor_key(entries_.statistic[other], key_);
        before += other_key > key || (other_key == key && entries_.partner[other] < partner[h]);
      }
      if (h * 32 + lane < count_) place[h] = before;
    }
    __syncwarp();
#pragma unroll
    for (int h = 0; h < held; ++h) {
      if (place[h] >= k_) continue;
      entries_.statistic[place[h]] = statistic[h];
      entries_.partner[place[h]] = partner[h];
    }
    __syncwarp();
    if (count_ < k_) return;
    count_ = k_;
    bar_ = neighbor_key(entries_.statistic[k_ - 1], key_);
  }

  /// Writes the best k, as keep_best left them, as list `number` of `out`.
  __device__ void write(const neighbor_result& out, index_t number) const {
    const int lane = static_cast<int>(threadIdx.x & 31U);
    const index_t first = number * k_;
    for (int place = lane; place < k_; place += 32) {
      const bool there = place < count_;
      out.index[first + place] = there ? entries_.partner[place] : ~std::uint32_t{0};
      out.statistic[first + place] = there ? entries_.statistic[place] : CUDART_NAN;
    }
    if (lane == 0) out.count[number] = static_cast<std::uint32_t>(count_);
  }

 private:
  storage& entries_;
  int k_;
  detail::bin_key key_;
  int limit_;  // entries from which on the best are sorted out
  int count_ = 0;
  static constexpr double below_every_key = -2.0;
  double bar_ = below_every_key;
  static_assert(neighbor_most_listed + slack + 32 <= capacity);
};

}  // namespace gpu::kernels
