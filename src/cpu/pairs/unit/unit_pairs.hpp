#pragma once
// Unit rows on the CPU: doubles of unit length, dot products in the fixed order of
// stats/unit_rows.hpp.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "cpu/pairs/rows/pair_rows.hpp"
#include "cpu/pairs/rows/unit_row.hpp"
#include "cpu/platform/aligned_buffer.hpp"

namespace gpu::cpu {

/// Centred and scaled rows of those that have a statistic, in order, zeros up to the stride.
struct unit_rows {
  index_t stride = 0;
  index_t count = 0;
  aligned_buffer<double> values;
  std::vector<detail::row_kind> kinds;  ///< Until all are there.

  unit_rows(index_t places, index_t cols)
      : stride(unit_row_stride(cols)),
        values(static_cast<std::size_t>(places * stride)),
        kinds(static_cast<std::size_t>(places)) {}
  void resize(index_t places) {
    count = places;
    kinds = {};
  }

  [[nodiscard]] index_t size() const { return count; }
  [[nodiscard]] double* row(index_t i) { return values.data() + i * stride; }
  [[nodiscard]] const double* row(index_t i) const { return values.data() + i * stride; }
  [[nodiscard]] bool has_statistic(index_t i) const {
    return kinds[static_cast<std::size_t>(i)] == detail::row_kind::ordinary;
  }
  /// Row `from` to row `to` as well.
  void copy_row(index_t from, index_t to) { std::copy_n(row(from), stride, row(to)); }
};

/// Bytes that a thread takes for the statistics of rows of so many columns.
std::size_t unit_scratch_bytes(index_t cols);

/// The rows in the form that the variant and their length ask for.
std::unique_ptr<pair_rows> pair_unit_rows(unit_rows rows, const row_layout& layout, index_t cols,
                                          const row_options& options);

}  // namespace gpu::cpu
