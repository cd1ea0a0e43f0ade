#pragma once
// How unit rows are packed and counted by half-precision products. Used for host and device
// results.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "cuda/pairs/area_walk.hpp"
#include "kernels/pairs/unit_counts/kernels.hpp"

namespace gpu::cuda {

/// The shape of the packed rows of both sides of an area, for rows of `elements`.
inline kernels::unit_count_rows unit_rows_of(const detail::pair_area& area, index_t elements) {
  constexpr index_t unit = kernels::neighbor_row_multiple;
  const kernels::row_sides sides = sides_of(area, {}).rows;
  const auto rows = [&](index_t begin, index_t end) {
    return kernels::neighbor_rows{.depth = kernels::unit_depth(elements),
                                  .rows = end - begin,
                                  .padded_rows = (end - begin + unit - 1) / unit * unit,
                                  .tiles = nullptr,
                                  .first = begin};
  };
  return {.left = rows(sides.left_begin, sides.left_end),
          .right = rows(sides.right_begin, sides.right_end),
          .within = sides.within};
}

/// Bytes of the packed rows.
inline std::size_t unit_tile_bytes(const kernels::unit_count_rows& rows) {
  return static_cast<std::size_t>(rows.padded_rows()) * static_cast<std::size_t>(rows.left.depth);
}

/// Packs both sides into `tiles`, one behind the other.
inline void pack_unit_rows(const kernels::pair_operand& source, std::uint8_t* tiles,
                           kernels::unit_count_rows& rows, cudaStream_t stream) {
  rows.left.tiles = tiles;
  rows.right.tiles = tiles + rows.left.padded_rows * rows.left.depth;
  kernels::launch_unit_pack(source, rows.left, stream);
  kernels::launch_unit_pack(source, rows.right, stream);
}

/// Entries, 12 bytes each, of the list of undecided pairs of a launch: least_undecided and one for
/// each pairs_of_undecided pairs of the call, up to most_undecided. An item of the count is 13
/// million pairs, those of a launch on an H200 are 1.7e9, or 1.3e10 of corrected rows.
/// most_undecided is one in a hundred or in 800 of these, more than a cut near 0 leaves undecided
/// of rows of 96 columns, or of corrected ones.
inline constexpr std::uint64_t least_undecided = std::uint64_t{1} << 16;
constexpr std::uint64_t undecided_wanted(std::uint64_t pairs) {
  constexpr std::uint64_t most_undecided = std::uint64_t{1} << 24;
  constexpr std::uint64_t pairs_of_undecided = 64;
  return least_undecided + std::min(most_undecided, pairs / pairs_of_undecided);
}

/// Items of a launch for each multiprocessor: a launch ends when its last item does, and the list
/// of undecided pairs is that of a launch.
constexpr index_t unit_items_of_launch(index_t elements) {
  return kernels::unit_rows_are_corrected(elements) ? 8 : 1;
}

/// Counts the items [first, last), launch by launch.
inline void count_unit_items(const kernels::pair_operand& source, const kernels::unit_count& work,
                             index_t first, index_t last, int multiprocessors,
                             cudaStream_t stream) {
  const index_t step = multiprocessors * unit_items_of_launch(source.unit_pitch);
  for (index_t begin = first; begin < last; begin += step) {
    kernels::launch_unit_count(source, work, begin, std::min(begin + step, last), multiprocessors,
                               stream);
  }
}

}  // namespace gpu::cuda
