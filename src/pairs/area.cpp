#include "pairs/area.hpp"

#include <algorithm>
#include <cmath>

#include "pairs/engine.hpp"
#include "pairs/tables.hpp"

namespace gpu::inline v0::detail {
namespace {

// The sum of first, first + 1, ..., last.
std::uint64_t sum_of(std::uint64_t first, std::uint64_t last) {
  const std::uint64_t count = last - first + 1;
  const std::uint64_t ends = first + last;
  return count % 2 == 0 ? count / 2 * ends : count * (ends / 2);
}

index_t count_in(index_range range, std::span<const index_t> rows) {
  return std::lower_bound(rows.begin(), rows.end(), range.end) -
         std::lower_bound(rows.begin(), rows.end(), range.begin);
}

// The area with the rows of `without` left out, numbered anew.
pair_area without_rows(const pair_area& area, std::span<const index_t> without) {
  const auto place = [&](index_t row) { return row - count_in({0, row}, without); };
  return {.rows = {place(area.rows.begin), place(area.rows.end)},
          .cols = {place(area.cols.begin), place(area.cols.end)}};
}

}  // namespace

index_t part_begin(index_t rows, const pair_part& part, part_shape shape) {
  if (part.index >= part.of) return rows;
  const double share = static_cast<double>(part.index) / static_cast<double>(part.of);
  const double before = shape == part_shape::equal_rows ? share : 1 - std::sqrt(1 - share);
  // Doubles hold every number of rows, and neither function falls with the index.
  const auto row = static_cast<index_t>(before * static_cast<double>(rows));
  return std::clamp<index_t>(row, 0, rows);
}

pair_area area_of(const pair_tables& tables, const pair_part& part, part_shape shape) {
  const index_t rows = rows_of(tables.x);
  const part_shape cut = has_y(tables) ? part_shape::equal_rows : shape;
  const pair_part next{.index = part.index + 1, .of = part.of};
  pair_area area{.rows = {part_begin(rows, part, cut), part_begin(rows, next, cut)},
                 .cols = {0, rows}};
  if (has_y(tables)) area.cols = {rows, rows + rows_of_y(tables)};
  return area;
}

std::uint64_t pairs_in(const pair_area& area) {
  const auto rows = static_cast<std::uint64_t>(area.rows.size());
  if (area.rows.empty() || area.cols.empty()) return 0;
  if (area.cols.begin >= area.rows.end) {
    return rows * static_cast<std::uint64_t>(area.cols.size());
  }
  // Row i meets cols.end - 1 - i columns.
  const auto of_row = [&](index_t i) { return static_cast<std::uint64_t>(area.cols.end - 1 - i); };
  return sum_of(of_row(area.rows.end - 1), of_row(area.rows.begin));
}

std::uint64_t pairs_in(const pair_area& area, std::span<const index_t> without) {
  return pairs_in(without_rows(area, without));
}

pair_input input_of(const pair_request& request, part_shape shape, fold_scope of_sink) {
  return {.tables = request.tables,
          .area = area_of(request.tables, request.part, shape),
          .pairs_above = shape != part_shape::equal_rows,
          .folds = scope_of(request.folding, of_sink),
          .refuses_nan = request.refuses_nan,
          .variant = request.variant,
          .exec = request.exec};
}

}  // namespace gpu::inline v0::detail
