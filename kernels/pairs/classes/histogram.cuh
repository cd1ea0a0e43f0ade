#pragma once
// The bins of the pair count (count.cuh). A block counts kept sums in a histogram in shared memory,
// one word a sum. Where the classes of the operands change it converts the histogram to bins, by
// the definition of rho. So the time of a pair does not depend on the number of bins.
//
// Right rows are multiplied by four, so that sums are byte offsets into the histogram. Every sum is
// counted, without a branch. One instruction adds a bias to the sum and takes the larger of the
// result and an offset, both unsigned: kept sums stay as they are, and every dropped sum becomes
// the largest dropped one. A second instruction adds 1 there. Several lanes with one address take
// no longer than one lane; several addresses in one bank do.
//
// Decisions by squares would need the pipe of that maximum as well, at two clocks an instruction.
// Instead a permutation of bytes spreads the signs of two differences over half a word each, -1 for
// dropped sums, and the multiplier adds that, times a power of two, to the word of decisions. The
// 16-bit fields borrow from each other; an odd factor in the power undoes the borrow (65535 * 65537
// = -1).
//
// Cost of a step (64 x 256 pairs of a warpgroup): 850 to 1020 clocks of a multiprocessor, 550 of
// them without the histogram; the unit of shared memory is busy for 540. The multiply is not
// overlapped with any of it.

#include "kernels/pairs/classes/arguments.cuh"
#include "kernels/pairs/classes/decisions.cuh"
#include "kernels/pairs/sinks/bins.cuh"
#include "stats/statistic.hpp"

namespace gpu::kernels {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// sum_step times each of 16 ranks, of at most 31 in magnitude.
__device__ __forceinline__ int4 times_sum_step(int4 ranks) {
  constexpr int whole_bytes = static_cast<int>(0xfcfcfcfcU);
  return make_int4(ranks.x << 2 & whole_bytes, ranks.y << 2 & whole_bytes,
                   ranks.z << 2 & whole_bytes, ranks.w << 2 & whole_bytes);
}

/// Clears the sums of columns that are not past their row, which drops them; `row` and `column` are
/// those of the lane's first sum.
__device__ __forceinline__ void clear_lower(int (&sums)[128], int row, int column) {
#pragma unroll
  for (int i = 0; i < 128; ++i) {
    if (column + (i >> 2) * 8 + (i & 1) <= row + (i >> 1 & 1) * 8) sums[i] = 0;
  }
}

/// Where the sums of two classes are counted; all in steps.
class sum_counter {
 public:
  /// `zero`: address of the count of the sum 0.
  __device__ __forceinline__ sum_counter(unsigned zero, dropped_sums dropped)
      : bias_(static_cast<unsigned>(-dropped.first)),
        largest_dropped_(static_cast<unsigned>(dropped.length - sum_step)),
        // The same in all lanes, and known to be: an instruction adds it to the address.
        base_(__shfl_sync(~0U, zero + static_cast<unsigned>(dropped.first), 0)) {}

  __device__ __forceinline__ void count(int sum) const {
    const unsigned offset = __viaddmax_u32(static_cast<unsigned>(sum), bias_, largest_dropped_);
    asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(base_ + offset) : "memory");
  }

 private:
  unsigned bias_;
  unsigned largest_dropped_;
  unsigned base_;
};

/// Selects bytes for prmt: the sign of the first word fills the low half of the result (0xb is the
/// sign of byte 3, twice), that of the second word the high half (0xf: of byte 7).
inline constexpr unsigned spread_signs = 0xffbb;
/// The odd factor that undoes the borrow between 16-bit fields: 2^16 + 1.
inline constexpr unsigned without_borrow = 65537;

/// Decides the sums of a thread and counts the kept ones. All in steps.
template <bool square>
__device__ __forceinline__ decisions decide_and_count(const int (&sums)[128], dropped_sums dropped,
                                                      unsigned zero, unsigned one) {
  const sum_counter counter(zero, dropped);
  if constexpr (!square) {
    const decisions kept = decide<false>(sums, dropped, one);
#pragma unroll
    for (int i = 0; i < 128; ++i) counter.count(sums[i]);
    return kept;
  }
  const int least = dropped.first + dropped.length;
  const int limit = -least * least;
  decisions kept;
#pragma unroll
  for (int i = 0; i < 4; ++i) kept.words[i >> 1][i & 1] = ~0U;
#pragma unroll
  for (int i = 0; i < 64; ++i) {
    const int high = sums[i];  // of the word's bits 16 and up
    const int low = sums[i + 64];
    counter.count(high);
    unsigned signs = 0;
    asm("prmt.b32 %0, %1, %2, %3;"
        : "=r"(signs)
        : "r"(low * low + limit), "r"(high * high + limit), "n"(spread_signs));
    asm("mad.lo.u32 %0, %1, %2, %0;"
        : "+r"(kept.words[(i >> 1) & 1][i & 1])
        : "r"(signs), "r"(without_borrow << (15 - (i >> 2))));
    counter.count(low);
  }
  return kept;
}

/// Adds to a bin of the block, or of all.
__device__ __forceinline__ void add_to_bin(const bin_sink_args& args, split_count* block_bins,
                                           index_t place, unsigned count) {
  if (args.count + 2 > most_block_bins) {
    atomicAdd(args.bins + place, static_cast<unsigned long long>(count));
    return;
  }
  const unsigned before = atomicAdd(&block_bins[place].low, count);
  if (before + count < before) atomicAdd(&block_bins[place].high, 1U);
}

/// Place of a sum in args.bins.
__device__ __noinline__ index_t exact_place(const bin_sink_args& args, int sum, double scale) {
  return place_of(args, detail::rho_at_scale(static_cast<double>(sum), scale));
}

/// The place of a sum by a float estimate of its rho, where no error of it could change that.
class place_estimate {
 public:
  __device__ __forceinline__ place_estimate(const bin_sink_args& args, double scale)
      : key_(args.key),
        inverse_(static_cast<float>(1 / scale)),
        low_(static_cast<float>(args.low)),
        high_(static_cast<float>(args.high) - near_),
        slope_(static_cast<float>(args.scale)),
        last_(static_cast<float>(args.count - 1)),
        // Of a position: rho is off by 2^-23, its distance from `low` by 2^-21 then, the position
        // by 2^-22 of itself more.
        margin_((slope_ + static_cast<float>(args.count)) * 0x1p-20F) {}

  /// 0 where the estimate does not tell.
  __device__ __forceinline__ int of(int sum) const {
    const float rho = static_cast<float>(sum) * inverse_;
    const float key = key_ == detail::bin_key::value
                          ? rho
                          : (key_ == detail::bin_key::magnitude ? fabsf(rho) : -rho);
    const float position = (key - low_) * slope_;
    const float whole = floorf(position);
    const float past = position - whole;
    const bool told = past > margin_ && past < 1 - margin_ && whole >= 0 && whole < last_ &&
                      fabsf(rho) < 1 - near_ && key < high_;
    return told ? 1 + static_cast<int>(whole) : 0;
  }

 private:
  static constexpr float near_ = 0x1p-18F;  // to the ends of the range, and to 1
  detail::bin_key key_;
  float inverse_;
  float low_;
  float high_;
  float slope_;
  float last_;
  float margin_;
};

/// The square sums of the left and the right rows whose sums the histogram holds.
struct class_pair {
  int left;
  int right;
  __device__ __forceinline__ bool none() const { return left == 0; }
  __device__ __forceinline__ bool operator==(const class_pair& other) const {
    return left == other.left && right == other.right;
  }
};

/// Converts the counts of the sums of two classes to bins, and clears them. `zero`: the count of
/// the sum 0; `dropped` in steps. All threads call.
__device__ __noinline__ void flush_histogram(const count_arguments& args, unsigned* zero,
                                             split_count* block_bins, dropped_sums dropped,
                                             class_pair classes) {
  __syncthreads();
  const double scale = detail::rho_scale(classes.left, classes.right);
  const int bound = min(static_cast<int>(scale) + 1, args.largest_sum);
  const int first = dropped.first / sum_step;
  const int past = first + dropped.length / sum_step;
  // Kept sums: those from -bound on that are below `first`, then those from `past` on.
  const int below = max(bound + first, 0);
  const int entries = below + max(bound - past + 1, 0);
  // An odd number of entries a thread: no two threads of a warp meet in a bank.
  const int share = static_cast<int>(ceil_div(entries, count_threads)) | 1;
  const int begin = static_cast<int>(threadIdx.x) * share;
  const int end = min(begin + share, entries);
  const place_estimate estimate(args.bins, scale);
  constexpr int side_by_side = 4;  // a thread waits for its reads and estimates
  unsigned count = 0;
  index_t place = 0;
  for (int i = begin; i < end; i += side_by_side) {
    int sum[side_by_side];
    unsigned found[side_by_side];
    index_t here[side_by_side];
#pragma unroll
    for (int k = 0; k < side_by_side; ++k) {
      sum[k] = i + k < below ? i + k - bound : i + k - below + past;
      found[k] = i + k < end ? zero[sum[k]] : 0;
      here[k] = estimate.of(sum[k]);
    }
#pragma unroll
    for (int k = 0; k < side_by_side; ++k) {
      if (i + k < end) zero[sum[k]] = 0;
      if (found[k] != 0 && here[k] == 0) here[k] = exact_place(args.bins, sum[k], scale);
    }
#pragma unroll
    for (int k = 0; k < side_by_side; ++k) {
      if (found[k] != 0 && here[k] != place) {
        if (count != 0) add_to_bin(args.bins, block_bins, place, count);
        count = 0;
        place = here[k];
      }
      count += found[k];
    }
  }
  if (count != 0) add_to_bin(args.bins, block_bins, place, count);
  if (threadIdx.x == 0) zero[past - 1] = 0;  // what dropped sums counted
  __syncthreads();
}

/// Adds the block's bins to all. All threads call, after flush_histogram().
__device__ __forceinline__ void flush_bins(const bin_sink_args& args,
                                           const split_count* block_bins) {
  if (args.count + 2 > most_block_bins) return;
  for (unsigned i = threadIdx.x; i < args.count + 2; i += count_threads) {
    const split_count count = block_bins[i];
    const unsigned long long whole = static_cast<unsigned long long>(count.high) << 32 | count.low;
    if (whole != 0) atomicAdd(args.bins + i, whole);
  }
}

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

}  // namespace gpu::kernels
