#pragma once
// Which pairs a call is about: all of a table, those of a part of the job, or x against y.
//
// The rows of an engine are those of the table or, for x against y, the rows of x with the rows of
// y behind them. So every area is rows times columns of one matrix of all pairs. Its pairs lie
// above the diagonal, except for the sinks that say otherwise below.

#include <cstdint>
#include <span>

#include <gpu/detail/any_view.hpp>
#include <gpu/pair_options.hpp>

#include "base/index_range.hpp"

namespace gpu::inline v0::detail {

/// Rows `rows` against rows `cols` of an engine. `cols` is the whole table, or all of y.
///
/// Edges, counts and bins take the pairs (i, j), i in rows, j in cols, i < j; a table of neighbours
/// those with i != j; a dense result every (i, j).
struct pair_area {
  index_range rows;
  index_range cols;

  /// Whether it is x against y: then i < j always holds.
  [[nodiscard]] bool is_against() const { return cols.begin >= rows.end && cols.begin > 0; }
  /// Whether it is every pair of one table.
  [[nodiscard]] bool is_whole_table() const { return rows == cols && cols.begin == 0; }
  /// The first j of row i.
  [[nodiscard]] index_t first_col(index_t i) const { return i < cols.begin ? cols.begin : i + 1; }
  friend bool operator==(const pair_area&, const pair_area&) = default;
};

/// How a job is cut into parts.
enum class part_shape {
  equal_pairs,  ///< Panels of about as many pairs above the diagonal.
  equal_rows    ///< Panels of about as many rows.
};

/// Row `part.index` begins at, of the rows of a table or of x: begins(0) = 0, begins(of) = rows. A
/// function of the extents and `of` alone. With equal_pairs row a_k is near
/// rows (1 - sqrt(1 - k / of)).
index_t part_begin(index_t rows, const pair_part& part, part_shape shape);

/// The area of a call. x against y is always cut into equal rows.
pair_area area_of(const pair_tables& tables, const pair_part& part, part_shape shape);

/// Pairs i < j of the area.
std::uint64_t pairs_in(const pair_area& area);
/// Pairs i < j of the area where neither row is one of `without`, ascending row numbers of the
/// engine.
std::uint64_t pairs_in(const pair_area& area, std::span<const index_t> without);

}  // namespace gpu::inline v0::detail
