#include "cuda/pairs/rows/area_walk.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace gpu::cuda {
namespace {

// Pairs of a first launch, whose rate is not known.
constexpr double least_shared_pairs = 1 << 26;
// Row tiles times column spans of one launch must stay far below the grid's limit.
constexpr index_t most_launch_rows = index_t{1} << 20;
// What is done once for a column is worth it where enough rows meet the column. Tiles decide all
// pairs of a column with so many rows sooner than it is sorted and packed for a screen or for
// counts (0.3 ps a pair, 0.2 ns a column on an H200); from so many on best partners are found
// faster on tensor cores, for which columns are packed without being sorted.
constexpr index_t most_thin_rows = 512;
constexpr index_t most_few_rows = 128;
// Columns for each of these rows: with fewer, the rows' own part of the work counts.
constexpr index_t least_columns_per_row = 16;

bool has_at_most(const detail::pair_area& area, index_t rows) {
  return !area.is_whole_table() && area.rows.size() <= rows &&
         area.cols.size() >= least_columns_per_row * area.rows.size();
}

index_t count_in(row_range range, const std::vector<index_t>& rows) {
  return std::lower_bound(rows.begin(), rows.end(), range.end) -
         std::lower_bound(rows.begin(), rows.end(), range.begin);
}

}  // namespace

index_t rows_of_pairs(const detail::pair_area& area, index_t begin, double pairs) {
  const index_t left = area.rows.end - begin;
  double fitting = 0;
  if (area.is_against()) {
    fitting = pairs / static_cast<double>(std::max<index_t>(area.cols.size(), 1));
  } else {
    // r (first + first - r) / 2 = pairs, with `first` pairs in the first row.
    const double first = static_cast<double>(area.cols.end - begin);
    const double root = first * first - 2 * pairs;
    fitting = root <= 0 ? first : first - std::sqrt(root);
  }
  auto rows = static_cast<index_t>(std::min(fitting, static_cast<double>(most_launch_rows)));
  if (rows > rows_of_tile) rows = rows / rows_of_tile * rows_of_tile;
  return std::clamp<index_t>(rows, 1, left);
}

pair_walk::piece rows_piece(const pair_walk& walk, const detail::pair_area& area,
                            const double& pairs, index_t least) {
  return [&walk, area, &pairs, least](index_t at) {
    const index_t begin = area.rows.begin + at;
    const auto left = static_cast<double>(pairs_of_rows(area, {begin, area.rows.end}));
    const index_t rows = rows_of_pairs(area, begin, walk.fair(pairs, left, least_shared_pairs));
    return std::min(std::max(rows, least), area.rows.end - begin);
  };
}

double area_sides::pairs() const {
  const auto first = static_cast<double>(left);
  return (rows.within ? first * (first - 1) / 2 : 0.0) + first * static_cast<double>(right);
}

area_sides sides_of(const detail::pair_area& area, const detail::row_info& info) {
  const bool within = !area.is_against();
  const row_range right = within ? row_range{area.rows.end, area.cols.end} : area.cols;
  const auto valid = [&](row_range range) {
    if (range.empty()) return index_t{0};
    return range.size() - count_in(range, info.constant_rows) - count_in(range, info.nan_rows);
  };
  return {.rows = {.left_begin = area.rows.begin,
                   .left_end = area.rows.end,
                   .right_begin = right.begin,
                   .right_end = right.end,
                   .within = within},
          .left = valid(area.rows),
          .right = valid(right)};
}

bool is_thin(const detail::pair_area& area) {
  return has_at_most(area, most_thin_rows);
}

bool has_few_rows(const detail::pair_area& area) {
  return !area.rows.empty() && has_at_most(area, most_few_rows);
}

}  // namespace gpu::cuda
