#pragma once
// Rows that are computed from those of another table whenever they are read.

#include <variant>

#include <gpu/detail/any_view.hpp>

#include "base/index_range.hpp"

namespace gpu::inline v0::detail {

/// What a computed_view refers to.
class computed_rows {
 public:
  computed_rows() = default;
  virtual ~computed_rows() = default;
  computed_rows(const computed_rows&) = delete;
  computed_rows& operator=(const computed_rows&) = delete;

  /// The table in host memory that they are computed from. Its rows hold a NaN where theirs do.
  [[nodiscard]] virtual const any_table& source() const = 0;
  /// The rows of `range` to `out`, one behind the other without gaps, by `threads` threads. Any
  /// threads may call it at the same time.
  virtual void compute(index_range range, double* out, int threads) const = 0;
};

/// The table that the rows of `table` are computed from, or `table`.
[[nodiscard]] inline const any_table& source_of(const any_table& table) {
  const auto* const computed = std::get_if<computed_view>(&table);
  return computed == nullptr ? table : computed->maker().source();
}

}  // namespace gpu::inline v0::detail
