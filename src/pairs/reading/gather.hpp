#pragma once
// Rows of a table that does not stand row by row, that is sparse, of wide integers, or that are
// computed, as rows of memory.

#include <cstddef>
#include <type_traits>

#include <gpu/detail/any_view.hpp>
#include <gpu/index.hpp>

#include "base/index_range.hpp"

namespace gpu::inline v0::detail {

/// Whether tables of a type are read as they lie: row by row, in a type that rows are read as; or
/// they are in device memory.
template <class View>
inline constexpr bool is_read_in_place =
    View::space == memory_space::device ||
    (std::is_same_v<View, matrix_view<const typename View::value_type>> &&
     !wide_integer<typename View::value_type>);

/// Whether the rows of a table have to be gathered before they are read.
[[nodiscard]] bool is_gathered(const any_table& table);

/// An empty view of what the rows of a gathered table are gathered to: its own element type, double
/// for wide integers and computed rows.
[[nodiscard]] any_matrix_view gathered_type(const any_table& table);

/// Rows of so many elements of `element_bytes` that a panel holds: 8 MiB, or eight rows where these
/// are longer, and never more than `rows`.
[[nodiscard]] index_t panel_rows(index_t cols, std::size_t element_bytes, index_t rows);

/// The rows of `range` to `out`, one behind the other without gaps, in the type of gathered_type();
/// by `threads` threads (0: the default). Integers beyond 2^53 are no doubles: a row that
/// holds one becomes the places of its values among its distinct values, which have their order,
/// ties and all. Cost: a read and a write of each element, by tiles that fit a cache, and a sort of
/// such a row; of computed rows what computing them takes.
void gather_rows(const any_table& table, index_range range, void* out, int threads);

}  // namespace gpu::inline v0::detail
