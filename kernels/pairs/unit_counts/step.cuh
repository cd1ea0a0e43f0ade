#pragma once
// A step of the unit count, 64 left rows times 256 right rows: from its products to decisions, and
// from these to counts.

#include "kernels/pairs/classes/columns.cuh"
#include "kernels/pairs/classes/step.cuh"
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

/// Shifts the sign of `rest` into a word of decisions.
__device__ __forceinline__ void add_decision(unsigned& word, float rest) {
  word = __funnelshift_l(__float_as_uint(rest), word, 1);
}

/// Decides the products of a step, each twice.
template <bool symmetric>
__device__ __forceinline__ unit_decisions decide_products(const float (&sums)[128],
                                                          const step_cut& cut) {
  unit_decisions out{};
#pragma unroll
  for (int i = 0; i < 128; ++i) {
    const float distance = distance_of<symmetric>(sums[i], cut);
    add_decision(out.certain.words[(i >> 1) & 1][i & 1], cut.certain - distance);
    add_decision(out.possible.words[(i >> 1) & 1][i & 1], cut.possible - distance);
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
  column_counts columns;

  /// Counts a step. `on_diagonal`: both operands are the same rows, and `row` is that of the
  /// thread's first sum among them. `left`, `right`: positions of the step's first row and column.
  __device__ __forceinline__ void add(unit_decisions found, bool any_undecided, bool on_diagonal,
                                      int row, std::uint32_t left, std::uint32_t right) {
    if (on_diagonal) {
      keep_upper(found.certain, row, lane.column);
      keep_upper(found.possible, row, lane.column);
    }
    if (any_undecided) gather_undecided(args, found, left + lane.row, right + lane.column, list);
    const unsigned rows = kept_in_rows(found.certain);
    columns.add(found.certain);
    add_row_counts(rows, args.count.degree + left, lane.counted_row);
  }
};

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

}  // namespace gpu::kernels
