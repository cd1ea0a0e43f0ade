#pragma once
// The bins of the pair count (pair_count.cuh): a histogram of sums in shared memory.
//
// The sums of a step go to the warp's scratch as 16-bit numbers, two a store; each lane then
// walks through its kept bits, reads the sum and counts it in a histogram of sums in shared memory.
// Only where the classes change is that converted to bins, by the definition of rho: the number of
// bins costs nothing. A lane without bits counts a sum of its own that nobody reads.

#include "correlation/count_arguments.cuh"
#include "correlation/count_decisions.cuh"
#include "correlation/sink_bins.cuh"
#include "stats/statistic.hpp"

namespace gpu::kernels {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// Puts the sums of a thread into its scratch, 256 bytes from one q to the one before it.
__device__ __forceinline__ void write_sums(const int (&sums)[128], unsigned scratch) {
#pragma unroll
  for (int q = 0; q < 32; ++q) {
    const unsigned even = __byte_perm(sums[4 * q], sums[4 * q + 2], 0x5410);
    const unsigned odd = __byte_perm(sums[4 * q + 1], sums[4 * q + 3], 0x5410);
    asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(scratch + (31 - q) * 256), "r"(even),
                 "r"(odd)
                 : "memory");
  }
}

/// Where a sum is counted: bytes of histogram a sum, and the address of the sum 0. Ranks without
/// ties give sums that are equal modulo 4: four times as far apart, they would share few banks.
struct histogram_place {
  int step;
  unsigned zero;
};
__device__ __forceinline__ histogram_place place_sums(bool without_ties, unsigned middle,
                                                      int largest_sum) {
  if (without_ties) return {1, middle - static_cast<unsigned>(largest_sum % 4)};
  return {4, middle};
}

/// Counts the sum of the top bit of `word`; without one, that of the slot before the scratch.
__device__ __forceinline__ void count_top_sum(unsigned& word, unsigned sums,
                                              histogram_place place) {
  int bit = 0;
  short sum = 0;
  asm("bfind.u32 %0, %1;" : "=r"(bit) : "r"(word));
  asm volatile("ld.shared.s16 %0, [%1];" : "=h"(sum) : "r"(sums + bit * 256) : "memory");
  unsigned top = 0;  // the instruction, unlike <<, gives 0 for 0xffffffff
  asm("shl.b32 %0, 1, %1;" : "=r"(top) : "r"(bit));
  word &= ~top;
  asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(place.zero + sum * place.step) : "memory");
}

/// Counts the sums of a thread's kept pairs. Half of the lanes begin with the odd columns: so no
/// two lanes read from one bank.
__device__ __forceinline__ void count_sums(const decisions& d, unsigned scratch,
                                           histogram_place place) {
  constexpr int unasked_turns = 3;  // few warps are done after fewer
  const bool swapped = (threadIdx.x & 16U) != 0;
#pragma unroll
  for (int x = 0; x < 2; ++x) {
    unsigned low = swapped ? d.words[0][1 - x] : d.words[0][x];
    unsigned high = swapped ? d.words[1][1 - x] : d.words[1][x];
    const unsigned sums = scratch + (swapped ? (1 - x) * 4 : x * 4);
#pragma unroll
    for (int turn = 0; turn < unasked_turns; ++turn) {
      count_top_sum(low, sums, place);
      count_top_sum(high, sums + 2, place);
    }
    while (__any_sync(~0U, (low | high) != 0)) {
      count_top_sum(low, sums, place);
      count_top_sum(high, sums + 2, place);
    }
  }
}

/// Place of a sum in args.bins: by its rho, which is divided out only near the edge of a bin.
__device__ __forceinline__ index_t place_of(const bin_sink_args& args, int sum, double scale,
                                            double inverse) {
  const double near = static_cast<double>(sum) * inverse;
  const double key = args.key == detail::bin_key::value
                         ? near
                         : (args.key == detail::bin_key::magnitude ? fabs(near) : -near);
  const double position = (key - args.low) * args.scale;
  const double whole = floor(position);
  const double past = position - whole;
  constexpr double margin = 1e-4;  // of a bin: there are fewer than 1e9 of them
  if (past > margin && past < 1 - margin && whole >= 0 &&
      whole < static_cast<double>(args.count - 1) && fabs(near) < 1 - margin &&
      key < args.high - margin) {
    return 1 + static_cast<index_t>(whole);
  }
  const double rho = static_cast<double>(sum) / scale;  // as detail::rho_of
  return bin_of(args, rho > 1.0 ? 1.0 : (rho < -1.0 ? -1.0 : rho));
}

/// Converts the histogram of sums of two classes to bins, and clears it. All threads call.
__device__ __noinline__ void leave_histogram(const count_arguments& args, unsigned* histogram,
                                             int step, int square_sum_x, int square_sum_y) {
  __syncthreads();
  const int entries = 2 * args.largest_sum + 1;
  // An odd number of entries a thread: no two threads of a warp meet in a bank.
  const int share = (entries + count_threads - 1) / count_threads | 1;
  const int begin = static_cast<int>(threadIdx.x) * share;
  const int end = min(begin + share, entries);
  const double scale = sqrt(static_cast<double>(square_sum_x) * static_cast<double>(square_sum_y));
  const double inverse = 1 / scale;
  unsigned long long count = 0;
  index_t place = 0;
  for (int i = begin; i < end; ++i) {
    const unsigned found = histogram[i];
    if (found == 0) continue;
    histogram[i] = 0;
    int sum = i - args.largest_sum;
    if (step == 1) sum = sum * 4 + args.largest_sum % 4;
    if (sum > args.largest_sum) continue;  // what lanes without bits counted
    const index_t here = place_of(args.bins, sum, scale, inverse);
    if (here != place && count != 0) {
      atomicAdd(args.bins.bins + place, count);
      count = 0;
    }
    place = here;
    count += found;
  }
  if (count != 0) atomicAdd(args.bins.bins + place, count);
  __syncthreads();
}

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

}  // namespace gpu::kernels
