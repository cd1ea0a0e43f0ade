#pragma once
// Rows that are ranked or scaled once for many calls.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <gpu/matrix_view.hpp>

#include "base/parallel.hpp"
#include "cpu/platform/aligned_buffer.hpp"
#include "pairs/engine.hpp"
#include "stats/unit_rows.hpp"

namespace gpu::cpu {

/// `view` is of the centred ranks, whose ranks they are again, or of the unit rows.
class kept_rows final : public detail::host_prepared_table {
 public:
  aligned_buffer<std::byte> values;       ///< What `view` is of.
  std::vector<std::int64_t> square_sums;  ///< Of ranks.
  std::vector<detail::row_kind> kinds;    ///< Of unit rows.
};

/// What the rows that are kept for a measure are prepared as once more: themselves.
inline detail::measure_traits of_kept_rows(detail::measure_traits what) {
  // Ranks of ranks are these again; rows of signs stay values.
  if (what.form == detail::row_form::unit_values) {
    what.centre = detail::row_centre::none;
    what.transform = detail::row_transform::none;
  }
  return what;
}

/// Copies rows without gaps between them.
template <class T>
void copy_rows(const matrix_view<const T>& from, T* to, int threads) {
  constexpr index_t rows_at_once = 8192;
  const index_t length = from.row_stride();
  detail::parallel_for_ranges(
      from.rows(), rows_at_once, detail::thread_count(threads), [&](detail::index_range some, int) {
        std::copy_n(from.row(some.begin), some.size() * length, to + some.begin * length);
      });
}

}  // namespace gpu::cpu
