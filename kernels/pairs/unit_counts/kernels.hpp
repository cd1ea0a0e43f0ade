#pragma once
// Host-callable launches of the unit count (sm_90a): counts the pairs of unit rows (Pearson) at any
// cut, per row. Half-precision products decide nearly every pair; the exact test decides the rest.

#include <cuda_runtime_api.h>

#include <cstdint>

#include <gpu/index.hpp>

#include "kernels/pairs/kernels.hpp"
#include "kernels/pairs/neighbors/kernels.hpp"
#include "kernels/pairs/neighbors/packing.hpp"

namespace gpu::kernels {

/// Elements of a row, as the neighbour search packs it, that the unit count takes at most: longer
/// rows leave no room in shared memory for a ring.
inline constexpr index_t unit_count_most_elements = 96;

/// Two packed positions whose product does not decide the pair, left before right.
struct undecided_pair {
  std::uint32_t left;
  std::uint32_t right;
};

/// Largest error of a product of `elements` halves added up on tensor cores in single precision,
/// for rows of a length of about 1. A step adds 16 products, the sum so far and the result, each
/// off by at most 2^-23 of the sum of the magnitudes.
constexpr double unit_sum_error(index_t elements) {
  return static_cast<double>((elements + 15) / 16) * 18 * 0x1p-23;
}

/// What a cut is for the products of the rows of a call: how far they are off is known on the
/// device alone.
struct unit_cut {
  cut_estimate estimate;
  float
      largest_rest;  ///< The longest that rounding to half precision takes from a row, rounded up.
};
/// Fills *cut for the rows of `source` that have a statistic.
void launch_unit_cut(const pair_operand& source, const detail::keep_range& keep, unit_cut* cut,
                     cudaStream_t stream);

/// Unit rows of both sides, one behind the other: from launch_neighbor_pack, one call a side.
/// Device memory of the caller.
struct unit_count_rows {
  neighbor_rows left;   ///< Depth at most 192.
  neighbor_rows right;  ///< Its tiles begin behind those of the left side; may have no rows.
  bool within;          ///< Whether left rows meet each other too.

  [[nodiscard]] constexpr index_t padded_rows() const {
    return left.padded_rows + right.padded_rows;
  }
  /// Row of the input at a packed position of both sides.
  [[nodiscard]] constexpr index_t row_at(index_t position) const {
    return neighbor_row_at(position) +
           (position < left.padded_rows ? left.first : right.first - left.padded_rows);
  }
};

/// Work items that cover all pairs of the packed rows.
index_t unit_count_items(const unit_count_rows& packed);

/// Device memory of a unit count, of the caller.
struct unit_count {
  unit_count_rows packed;
  const unit_cut* cut;        ///< From launch_unit_cut.
  bool symmetric;             ///< Whether cut->estimate.middle is 0.
  std::uint32_t* degree;      ///< [packed.padded_rows()] by packed position
  undecided_pair* undecided;  ///< [capacity]
  std::uint64_t capacity;     ///< Pairs beyond it are decided where they are found.
  unsigned long long* found;  ///< Undecided pairs of a launch; 0 before and after it.
};

/// Adds the kept pairs of the items [first, last) to `degree` of both rows. Only on devices of
/// compute capability 9.0.
void launch_unit_count(const pair_operand& source, const unit_count& count, index_t first,
                       index_t last, int multiprocessors, cudaStream_t stream);

/// degree[row] += that of its packed position, and *ends += all of them: twice the kept pairs.
void launch_unit_degrees(const unit_count& count, std::uint32_t* degree, unsigned long long* ends,
                         cudaStream_t stream);

}  // namespace gpu::kernels
