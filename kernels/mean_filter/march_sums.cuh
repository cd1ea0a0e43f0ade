#pragma once
// The sums of chunks that a marching block (march.cuh) keeps in shared memory.

#include "kernels/mean_filter/block_sums.cuh"

namespace gpu::kernels {

/// The sums of the front chunks of a run.
template <class Sum, int Threads>
struct march_sums {
  Sum* sums;    // suffixes within 32 chunks where there are many between, else the chunks' own
  Sum* totals;  // of 32 chunks
  int kept;
  int between;  // chunks in every base
  int tile_at = 0;

  [[nodiscard]] __device__ bool many() const { return between >= 32; }

  /// Stores the sum of the thread's chunk; returns the sum of those of lower lanes where needed.
  __device__ Sum store(const Sum& own) {
    const int at = tile_at + static_cast<int>(threadIdx.x);
    if (!many()) {
      sums[at] = own;
      return {};
    }
    const Sum inclusive = warp_prefix(own);
    Sum suffix = warp_suffix_after(own);
    suffix.add(own);
    sums[at] = suffix;
    if (threadIdx.x % 32 == 31) totals[at / 32] = inclusive;
    const Sum before = shuffled_up(inclusive, 1);
    return threadIdx.x % 32 == 0 ? Sum{} : before;
  }

  /// Adds the chunks between to `base`; `before` is what store() returned. After a __syncthreads().
  __device__ void add_between(const Sum& before, Sum& base) const {
    const int own = tile_at + static_cast<int>(threadIdx.x);
    int at = own - between;
    if (at < 0) at += kept;
    if (!many()) {
      for (int c = 0; c < between; ++c) {
        base.add(sums[at]);
        if (++at == kept) at = 0;
      }
      return;
    }
    base.add(sums[at]);
    const int groups = kept / 32;
    // The groups that every lane adds stand behind the last lane's; lanes below may have one more.
    int first = __shfl_sync(0xffffffffu, at / 32, 31) + 1;
    if (at / 32 + 1 != first) base.add(totals[first - 1]);
    if (first == groups) first = 0;
    int count = own / 32 - first;
    if (count < 0) count += groups;
    if (count <= few_groups) {
      for (int i = 0; i < count; ++i) {
        base.add(totals[first]);
        if (++first == groups) first = 0;
      }
    } else {
      base.add(sum_of_groups(first, count));
    }
    base.add(before);
  }

  __device__ void next_tile() {
    tile_at += Threads;
    if (tile_at == kept) tile_at = 0;
  }

 private:
  // Up to so many totals each lane adds by itself; more are shared out among the lanes of a warp.
  static constexpr int few_groups = 5;

  __device__ Sum sum_of_groups(int first, int count) const {
    const int groups = kept / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int width = count <= 8 ? 8 : count <= 16 ? 16 : 32;
    Sum sum;
    for (int i = lane % width; i < count; i += width) {
      const int group = first + i;
      sum.add(totals[group < groups ? group : group - groups]);
    }
    for (int lanes = width / 2; lanes > 0; lanes /= 2) {
      const Sum other = shuffled_xor(sum, lanes);
      sum.add(other);
    }
    return sum;
  }
};

}  // namespace gpu::kernels
