#pragma once
// How the pair count (count.cuh) decides whether the exact sum of a pair lies in the window that
// the classes of its rows drop.
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

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

}  // namespace gpu::kernels
