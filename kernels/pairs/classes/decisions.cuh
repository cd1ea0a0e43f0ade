#pragma once
// A step of the counts by warpgroup products, 64 left rows times 256 right rows: how the pair count
// (count.cuh) decides whether the exact sum of a pair lies in the window that the classes of its
// rows drop; and how kept pairs are counted per row and per column, also those of unit rows.
//
// Per sum: s^2 - T^2 (one multiply-add), whose sign a funnel shift collects into words of
// 32 decisions, on two different pipes. Sums whose square does not fit are compared with the window
// instead: subtract, compare, add a bit.

#include "kernels/pairs/classes/arguments.cuh"
#include "stats/statistic.hpp"

namespace gpu::kernels {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// The least sum in [-bound, bound] whose rho is at least `cut`, or bound + 1. The definition of
/// rho decides; the product only starts the search.
__device__ __forceinline__ int least_sum_at(double cut, double scale, int bound) {
  const auto reaches = [&](int sum) {
    return detail::rho_at_scale(static_cast<double>(sum), scale) >= cut;
  };
  const double guess = ceil(fmax(-1.0, fmin(cut, 1.0)) * scale);
  int sum = max(-bound, min(static_cast<int>(guess), bound + 1));
  while (sum > -bound && reaches(sum - 1)) --sum;
  while (sum <= bound && !reaches(sum)) ++sum;
  return sum;
}

/// The window of sums that two classes drop at a cut.
__device__ __noinline__ dropped_sums find_dropped(int square_sum_x, int square_sum_y,
                                                  double at_least, double at_most) {
  const double scale = detail::rho_scale(square_sum_x, square_sum_y);
  const int bound = static_cast<int>(scale) + 1;
  const int least = least_sum_at(at_least, scale, bound);
  const int most = -least_sum_at(-at_most, scale, bound);
  return {most + 1, least - most - 1};
}

/// Decisions of one thread: words[half][parity] has rows g + 8 half and columns 2 t + parity + 8 q
/// of the step, q = 0 at the top bit; g and t are the lane's place among its quads and in its quad.
struct decisions {
  unsigned words[2][2];
};

/// Decides the sums of a thread. `square`: the window is symmetric, and squares of sums fit.
template <bool square>
__device__ __forceinline__ decisions decide(const int (&sums)[128], dropped_sums dropped,
                                            unsigned one) {
  decisions out{};
  if constexpr (square) {
    const int least = dropped.first + dropped.length;
    const int limit = -least * least;
#pragma unroll
    for (int i = 0; i < 128; ++i) {
      unsigned& word = out.words[(i >> 1) & 1][i & 1];
      word = __funnelshift_l(static_cast<unsigned>(sums[i] * sums[i] + limit), word, 1);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) out.words[i >> 1][i & 1] = ~out.words[i >> 1][i & 1];
  } else {
#pragma unroll
    for (int i = 0; i < 128; ++i) {
      asm("{\n.reg .pred kept;\n.reg .u32 past;\n"
          "mad.lo.u32 past, %1, %4, %2;\n"
          "setp.ge.u32 kept, past, %3;\n"
          "@kept mad.lo.u32 %0, %4, %5, %0;\n}"
          : "+r"(out.words[(i >> 1) & 1][i & 1])
          : "r"(sums[i]), "r"(-dropped.first), "r"(dropped.length), "r"(one),
            "r"(0x80000000U >> (i >> 2)));
    }
  }
  return out;
}

/// Drops the decisions of columns that are not past their row; `row` and `column` are those of the
/// lane's first sum.
__device__ __forceinline__ void keep_upper(decisions& d, int row, int column) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
#pragma unroll
    for (int parity = 0; parity < 2; ++parity) {
      const int behind = row + 8 * half - column - parity;  // column + 8 q > row from here on
      const int dropped = behind < 0 ? 0 : behind / 8 + 1;
      d.words[half][parity] &= dropped >= 32 ? 0U : ~0U >> dropped;
    }
  }
}

// ---- counts of decisions ----------------------------------------------------------------------

/// A thread's place in a step.
struct count_lane {
  int row;          // of its first sum
  int column;       // of its first sum
  int counted_row;  // of those that its quad holds: lane t counts row g + 8 t
};

__device__ __forceinline__ count_lane find_lane() {
  const unsigned in_group = threadIdx.x & 127U;
  const unsigned lane = threadIdx.x & 31U;
  const int warp_row = static_cast<int>((in_group >> 5) * 16);
  return {.row = warp_row + static_cast<int>(lane >> 2),
          .column = static_cast<int>(lane & 3U) * 2,
          .counted_row = warp_row + static_cast<int>((lane >> 2) + (lane & 1U) * 8)};
}

/// Kept pairs of the thread's two rows, one in each half of the word.
__device__ __forceinline__ unsigned kept_in_rows(const decisions& kept) {
  unsigned rows = 0;
#pragma unroll
  for (int x = 0; x < 2; ++x) {
    rows += static_cast<unsigned>(__popc(kept.words[0][x]) + (__popc(kept.words[1][x]) << 16));
  }
  return rows;
}

/// Adds the row counts of a step to `degree`, which begins with the step's first row. All lanes
/// call.
__device__ __forceinline__ void add_row_counts(unsigned rows, unsigned* degree, int counted_row) {
  const unsigned lane = threadIdx.x & 31U;
  rows += __shfl_xor_sync(~0U, rows, 1);
  rows += __shfl_xor_sync(~0U, rows, 2);
  if ((lane & 3U) < 2) {
    atomicAdd(degree + counted_row, (lane & 1U) != 0 ? rows >> 16 : rows & 0xffffU);
  }
}

// Counts of kept pairs per column: bit-planes in registers. A step adds to them with a ripple
// carry; once in 60 steps they are added to global memory.

/// Adds the number of the lane at distance `distance` to the lane's own. Both have `planes`
/// bit-planes, the sum has one more. Each bit position is a column.
template <int planes, int size>
__device__ __forceinline__ void add_from_lane(unsigned (&number)[size], int distance) {
  unsigned carry = 0;
#pragma unroll
  for (int p = 0; p < planes; ++p) {
    const unsigned other = __shfl_xor_sync(~0U, number[p], distance);
    const unsigned mixed = number[p] ^ other;
    const unsigned next = (number[p] & other) | (mixed & carry);
    number[p] = mixed ^ carry;
    carry = next;
  }
  number[planes] = carry;
}

/// Counts of the 64 columns of a thread, bit-sliced; room for 63 steps of two rows.
struct sliced_counts {
  static constexpr int planes = 7;
  static constexpr int most_steps = 63;
  unsigned plane[2][planes];

  __device__ __forceinline__ void add(const decisions& d) {
#pragma unroll
    for (int x = 0; x < 2; ++x) {
      const unsigned a = d.words[0][x];
      const unsigned b = d.words[1][x];
      unsigned carry = (a & b) | (plane[x][0] & (a | b));
      plane[x][0] ^= a ^ b;
#pragma unroll
      for (int p = 1; p < planes; ++p) {
        const unsigned next = plane[x][p] & carry;
        plane[x][p] ^= carry;
        carry = next;
      }
    }
  }

  /// Adds the counts of the warp's rows to `degree`, that of the step's first column, and clears
  /// them.
  __device__ __forceinline__ void flush(unsigned* degree) {
    const unsigned lane = threadIdx.x & 31U;
#pragma unroll
    for (int x = 0; x < 2; ++x) {
      unsigned number[planes + 3] = {};
#pragma unroll
      for (int p = 0; p < planes; ++p) {
        number[p] = plane[x][p];
        plane[x][p] = 0;
      }
      add_from_lane<planes>(number, 4);
      add_from_lane<planes + 1>(number, 8);
      add_from_lane<planes + 2>(number, 16);
      // All eight lanes of a column have its count: each adds four of the columns.
#pragma unroll
      for (unsigned j = 0; j < 4; ++j) {
        const unsigned q = (lane >> 2) * 4 + j;
        unsigned count = 0;
#pragma unroll
        for (int p = 0; p < planes + 3; ++p) count |= (number[p] >> (31 - q) & 1U) << p;
        if (count != 0) atomicAdd(degree + q * 8 + (lane & 3U) * 2 + x, count);
      }
    }
  }
};

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

}  // namespace gpu::kernels
