#pragma once
// A step of the unit count, 64 left rows times 256 right rows: from its products to decisions, and
// from these to counts.

#include "kernels/pairs/classes/decisions.cuh"
#include "kernels/pairs/unit_counts/undecided.cuh"

namespace gpu::kernels {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// What the products say of a thread's pairs: kept for certain, and kept perhaps.
struct unit_decisions {
  decisions certain;
  decisions possible;
};

/// What a product is compared with: its distance from `middle` makes the pair possible or certain.
struct step_cut {
  float middle;
  float possible;
  float certain;
};

/// A product's distance from the middle. `symmetric`: cut.middle is 0.
template <bool symmetric>
__device__ __forceinline__ float distance_of(float sum, const step_cut& cut) {
  return fabsf(symmetric ? sum : sum - cut.middle);
}

/// Decides the products of a step, each twice.
template <bool symmetric>
__device__ __forceinline__ unit_decisions decide_products(const float (&sums)[128],
                                                          const step_cut& cut) {
  unit_decisions out{};
#pragma unroll
  for (int i = 0; i < 128; ++i) {
    const float distance = distance_of<symmetric>(sums[i], cut);
    unsigned& certain = out.certain.words[(i >> 1) & 1][i & 1];
    unsigned& possible = out.possible.words[(i >> 1) & 1][i & 1];
    certain = __funnelshift_l(__float_as_uint(cut.certain - distance), certain, 1);
    possible = __funnelshift_l(__float_as_uint(cut.possible - distance), possible, 1);
  }
  return out;
}

/// What products of corrected rows say of half a step, those of every second group of eight right
/// rows: words[2 half + parity] as in `decisions`, two bits a pair. The first: it may be kept; the
/// second: it is not undecided.
struct half_decisions {
  unsigned words[4];
};

/// Decides half a step. What is left of the cut behind a pair's distance is negative where the pair
/// may be kept, and -2 or less where it is kept (unit_corrected_scale): sign and first bit of the
/// exponent.
template <bool symmetric>
__device__ __forceinline__ half_decisions decide_half(const float (&sums)[64],
                                                      const step_cut& cut) {
  half_decisions out{};
#pragma unroll
  for (int i = 0; i < 64; ++i) {
    const float left = cut.possible - distance_of<symmetric>(sums[i], cut);
    unsigned& word = out.words[i & 3];
    word = __funnelshift_l(__float_as_uint(left), word, 2);
  }
  return out;
}

/// Puts the halves of a step together: of the even groups of right rows, and of the odd ones.
__device__ __forceinline__ unit_decisions join_halves(const half_decisions& even,
                                                      const half_decisions& odd) {
  constexpr unsigned first = 0xaaaaaaaaU;  // bits of the even groups
  unit_decisions out;
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    const unsigned possible = (even.words[w] & first) | (odd.words[w] >> 1 & ~first);
    const unsigned decided = (even.words[w] << 1 & first) | (odd.words[w] & ~first);
    out.possible.words[w / 2][w % 2] = possible;
    out.certain.words[w / 2][w % 2] = possible & decided;
  }
  return out;
}

/// Gathers the pairs that are possible but not certain. `left` and `right`: positions of the
/// thread's first sum. All lanes call; in each round every lane that has such pairs adds a word of
/// them.
__device__ __forceinline__ void gather_undecided(const unit_count_arguments& args,
                                                 const unit_decisions& found, std::uint32_t left,
                                                 std::uint32_t right, undecided_list& list) {
  unsigned rest[4];  // word by word: half * 2 + parity
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    rest[w] = found.possible.words[w / 2][w % 2] & ~found.certain.words[w / 2][w % 2];
  }
  while (__any_sync(~0U, (rest[0] | rest[1] | rest[2] | rest[3]) != 0)) {
    undecided_pairs pairs{};
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      if (pairs.mask != 0 || rest[w] == 0) continue;
      pairs = {left + 8 * (w / 2), right + w % 2, rest[w]};
      rest[w] = 0;
    }
    list.add(args, pairs);
  }
}

/// Where the decisions of a thread go.
struct unit_step_sink {
  const unit_count_arguments& args;
  count_lane lane;
  undecided_list list;
  sliced_counts columns;

  /// Counts a step. `on_diagonal`: both operands are the same rows, and `row` is that of the
  /// thread's first sum among them. `left`, `right`: positions of the step's first row and column.
  __device__ __forceinline__ void add(unit_decisions found, bool on_diagonal, int row,
                                      std::uint32_t left, std::uint32_t right) {
    if (on_diagonal) {
      keep_upper(found.certain, row, lane.column);
      keep_upper(found.possible, row, lane.column);
    }
    gather_undecided(args, found, left + lane.row, right + lane.column, list);
    const unsigned rows = kept_in_rows(found.certain);
    columns.add(found.certain);
    add_row_counts(rows, args.count.degree + left, lane.counted_row);
  }
};

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

}  // namespace gpu::kernels
