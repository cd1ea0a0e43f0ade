#pragma once
// Pairs that the products of the unit count leave undecided: a warp gathers them in shared memory
// and writes them to global memory many at a time.

#include <cstdint>

#include "kernels/pairs/frame/statistic.cuh"
#include "kernels/pairs/neighbors/packing.hpp"
#include "kernels/pairs/unit_counts/kernels.hpp"

namespace gpu::kernels {

struct unit_count_arguments {
  pair_operand source;
  unit_count count;
  index_t first_item;
  index_t last_item;
  int blocks;       // of 256 packed rows
  int left_blocks;  // of those, of the left side
};

/// Calls use(right) for each right position of `pairs`.
template <class Use>
__device__ __forceinline__ void for_each_right(undecided_pairs pairs, const Use& use) {
  while (pairs.mask != 0) {
    const auto q = static_cast<unsigned>(__clz(static_cast<int>(pairs.mask)));
    pairs.mask &= ~(0x80000000U >> q);
    use(pairs.right + 8 * q);
  }
}

/// Decides pairs by the definition of the statistic, and counts those that are kept. One thread.
/// Not inlined: it is rare, and its registers are not the kernel's.
static __device__ __noinline__ void decide_alone(const unit_count_arguments& args,
                                                 undecided_pairs pairs) {
  const cut_estimate& cut = args.count.cut->estimate;
  const index_t i = args.count.packed.row_at(pairs.left);
  for_each_right(pairs, [&](std::uint32_t right) {
    const index_t j = args.count.packed.row_at(right);
    const double statistic = refined_pearson_statistic::of(0.0, args.source, i, args.source, j);
    if (!keeps(statistic, cut.at_least, cut.at_most)) return;
    atomicAdd(args.count.degree + pairs.left, 1U);
    atomicAdd(args.count.degree + right, 1U);
  });
}

/// The pairs that one warp has gathered.
class undecided_list {
 public:
  static constexpr int capacity = 128;
  using storage = undecided_pairs[capacity];

  __device__ explicit undecided_list(storage& pairs) : pairs_(pairs) {}

  /// Adds the pairs of each lane that has any. All lanes call.
  __device__ void add(const unit_count_arguments& args, undecided_pairs pairs) {
    const bool wanted = pairs.mask != 0;
    const unsigned lanes = __ballot_sync(~0U, wanted);
    if (wanted) pairs_[held_ + __popc(lanes & ((1U << (threadIdx.x & 31U)) - 1))] = pairs;
    held_ += __popc(lanes);
    if (held_ > capacity - 32) flush(args);
  }

  /// Writes the pairs to global memory; decides those that have no room there.
  __device__ void flush(const unit_count_arguments& args) {
    const int lane = static_cast<int>(threadIdx.x & 31U);
    __syncwarp();  // lanes read what others wrote
    unsigned long long first = 0;
    if (lane == 0 && held_ > 0) {
      first = atomicAdd(args.count.found, static_cast<unsigned long long>(held_));
    }
    first = __shfl_sync(~0U, first, 0);
    for (int i = lane; i < held_; i += 32) {
      if (first + static_cast<unsigned long long>(i) < args.count.capacity) {
        args.count.undecided[first + static_cast<unsigned long long>(i)] = pairs_[i];
      } else {
        decide_alone(args, pairs_[i]);
      }
    }
    __syncwarp();
    held_ = 0;
  }

 private:
  storage& pairs_;
  int held_ = 0;
};

}  // namespace gpu::kernels
