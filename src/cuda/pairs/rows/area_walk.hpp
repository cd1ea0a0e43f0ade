#pragma once
// How the engine walks the pairs of its area, and which rows take part in them.

#include <algorithm>
#include <cstdint>

#include "cuda/pairs/rows/device_rows.hpp"
#include "cuda/pairs/team/share.hpp"
#include "kernels/pairs/sides.hpp"
#include "pairs/area.hpp"
#include "pairs/engine.hpp"

namespace gpu::cuda {

/// Pairs i < j of rows [begin, end) of an area.
inline std::uint64_t pairs_of_rows(const detail::pair_area& area, row_range rows) {
  return detail::pairs_in({rows, area.cols});
}
/// The columns that rows of an area meet above the diagonal.
inline row_range cols_of_rows(const detail::pair_area& area, row_range rows) {
  return {std::max(rows.begin, area.cols.begin), area.cols.end};
}
/// The most rows of an area from `begin` on, at least one and rounded to tiles, that have at most
/// `pairs` pairs.
index_t rows_of_pairs(const detail::pair_area& area, index_t begin, double pairs);

/// Walks go over [0, rows of the area): the rows of a range taken from one, and back.
inline row_range from_walk(const detail::pair_area& area, index_range taken) {
  return {area.rows.begin + taken.begin, area.rows.begin + taken.end};
}
inline index_range to_walk(const detail::pair_area& area, row_range rows) {
  return {rows.begin - area.rows.begin, rows.end - area.rows.begin};
}

/// A piece of a walk over the rows of an area, of about `pairs` pairs, and of `least` rows at least
/// where there are so many.
pair_walk::piece rows_piece(const pair_walk& walk, const detail::pair_area& area,
                            const double& pairs, index_t least = 1);
/// Rows of most tiles: fewer against many columns take as long.
inline constexpr index_t rows_of_tile = 128;
/// Of `rows` rows of `row_bytes` each, those of a block that fits `room` bytes: whole tiles where
/// there are several, one row in any case.
inline index_t rows_of_block(index_t rows, std::size_t row_bytes, std::size_t room) {
  const auto fitting = static_cast<index_t>(room / std::max<std::size_t>(row_bytes, 1));
  if (fitting >= rows) return rows;
  return std::max<index_t>(fitting > rows_of_tile ? fitting / rows_of_tile * rows_of_tile : fitting,
                           1);
}

/// The rows of an area by side, and how many of them have a statistic.
struct area_sides {
  kernels::row_sides rows;
  index_t left = 0;
  index_t right = 0;

  /// Pairs that are asked for, of rows that have a statistic.
  [[nodiscard]] double pairs() const;
};
area_sides sides_of(const detail::pair_area& area, const detail::row_info& info);

/// Whether an area is thin: it has so few rows against so many columns that sorting and packing the
/// columns for a screen, or for counts class by class, takes longer than the tiles that decide
/// every pair.
bool is_thin(const detail::pair_area& area);
/// Whether it has so few that packing the columns for tensor cores takes longer than the search of
/// best partners without.
bool has_few_rows(const detail::pair_area& area);

}  // namespace gpu::cuda
