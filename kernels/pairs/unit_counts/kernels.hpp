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

/// Rows of at most 32 elements are corrected: what rounding to half precision takes from them is
/// packed too. It doubles the depth and leaves few pairs undecided.
///
/// Let h be a row x rounded to half precision, d = x - h, a = unit_correction, c = 1 + a^2 and
/// u = a h + (c / a) d, rounded. The row is packed as h and u. But for that rounding,
/// h h' + u u' = c x x' + (c / a^2) d d'.
/// Unit rows are multiplied by s / sqrt(c) before they are packed, so the product is s^2 times
/// theirs. a is near the least sum of both errors.
inline constexpr double unit_correction = 0.125;
/// s. A product is off by less than 1 (unit_corrected_error), so those that are undecided are less
/// than 2 past the least that may be kept: the exponent's first bit says which.
inline constexpr double unit_corrected_scale = 152.5;
inline constexpr index_t unit_corrected_elements = 32;
constexpr bool unit_rows_are_corrected(index_t elements) {
  return elements <= unit_corrected_elements;
}
/// Bytes of a packed row.
constexpr int unit_depth(index_t elements) {
  return unit_rows_are_corrected(elements) ? 128 : neighbor_depth(elements);
}

/// Pairs that their products do not decide: of the packed position `left` with each packed position
/// right + 8 q, q from 0 to 31, for which bit 31 - q of `mask` is set.
struct undecided_pairs {
  std::uint32_t left;
  std::uint32_t right;
  std::uint32_t mask;
};

/// Elements from one row in single precision to the next.
constexpr index_t unit_float_pitch(index_t unit_pitch) {
  return (unit_pitch + 31) / 32 * 32;
}
/// Largest error of a product of two such rows, added up in single precision: each element is off
/// by at most 2^-24 of itself, and so is each intermediate sum.
constexpr double unit_float_error(index_t unit_pitch) {
  return static_cast<double>(unit_float_pitch(unit_pitch) / 8 + 8) * 0x1p-24;
}

/// Largest error of a product of `elements` halves added up on tensor cores in single precision,
/// for rows of a length of about 1. A step adds 16 products, the sum so far and the result, each
/// off by at most 2^-23 of the sum of the magnitudes.
constexpr double unit_sum_error(index_t elements) {
  return static_cast<double>((elements + 15) / 16) * 18 * 0x1p-23;
}

/// The cut of a call with the margins of its products. In device memory, because the rounding of
/// the rows is known there alone.
struct unit_cut {
  cut_estimate estimate;   ///< For products of rows as they are packed.
  cut_estimate of_floats;  ///< The same for the products of rows in single precision.
  /// Largest distance of a row from its form in half precision, rounded up. Not of corrected rows.
  float largest_rest;
};
/// Fills *cut for the rows of `source` that have a statistic.
void launch_unit_cut(const pair_operand& source, const detail::keep_range& keep, unit_cut* cut,
                     cudaStream_t stream);

/// Packs the unit rows of one side, `packed.depth` being that of unit_depth.
void launch_unit_pack(const pair_operand& source, const neighbor_rows& packed, cudaStream_t stream);

/// Unit rows of both sides, one behind the other: from launch_unit_pack, one call a side.
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
  const unit_cut* cut;         ///< From launch_unit_cut.
  bool symmetric;              ///< Whether cut->estimate.middle is 0.
  std::uint32_t* degree;       ///< [packed.padded_rows()] by packed position
  undecided_pairs* undecided;  ///< [capacity]
  std::uint64_t capacity;      ///< Pairs beyond it are decided where they are found.
  unsigned long long* found;   ///< Entries of `undecided` in a launch; 0 before and after it.
  /// [rows of the input * unit_float_pitch], from launch_unit_floats. Decides most of the pairs
  /// that the products leave undecided. Null for corrected rows, and where there is no memory.
  const float* floats;
};

/// Writes the rows in single precision to `out`.
void launch_unit_floats(const pair_operand& source, float* out, cudaStream_t stream);

/// Adds the kept pairs of the items [first, last) to `degree` of both rows. Only on devices of
/// compute capability 9.0.
void launch_unit_count(const pair_operand& source, const unit_count& count, index_t first,
                       index_t last, int multiprocessors, cudaStream_t stream);

/// degree[row] += that of its packed position, and *ends += all of them: twice the kept pairs.
void launch_unit_degrees(const unit_count& count, std::uint32_t* degree, unsigned long long* ends,
                         cudaStream_t stream);

}  // namespace gpu::kernels
