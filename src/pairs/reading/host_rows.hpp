#pragma once
// The rows of a table in host memory, as all that reads rows takes them: row by row, in one of the
// library's element types. A table that stands so is read in place; of another one a panel of rows
// is gathered (or computed) at a time, so that it never stands in memory twice.

#include <algorithm>
#include <optional>
#include <variant>

#include <gpu/detail/any_view.hpp>
#include <gpu/index.hpp>
#include <gpu/matrix.hpp>

#include "base/index_range.hpp"
#include "base/parallel.hpp"
#include "pairs/reading/gather.hpp"

namespace gpu::inline v0::detail {

class host_rows {
 public:
  /// No rows.
  host_rows() = default;
  /// Those of a table in host memory, which outlives this; none of a table in device memory.
  explicit host_rows(const any_table& table);

  [[nodiscard]] index_t rows() const { return rows_; }
  [[nodiscard]] index_t cols() const { return cols_; }
  /// Whether a value may be NaN.
  [[nodiscard]] bool may_hold_nan() const { return may_hold_nan_; }

  /// body(view, first) for the rows of `range`, in order: a matrix_view<const T> that begins with
  /// row `first`. A table that is read in place has one view, another one a view a panel, which is
  /// gone when the body returns; `threads` threads gather it.
  template <class Body>
  void for_each_view(index_range range, int threads, const Body& body) const {
    range = {std::max<index_t>(range.begin, 0), std::min(range.end, rows_)};
    if (range.empty()) return;
    std::visit(
        [&]<class T>(const matrix_view<const T>& view) {
          if (gathered_) return for_each_panel<T>(range, threads, body);
          body(matrix_view<const T>(view.row(range.begin), range.size(), cols_, view.row_stride()),
               range.begin);
        },
        plain_);
  }

  /// body(view, row a of it, row b of it) for two rows.
  template <class Body>
  auto with_rows(index_t a, index_t b, const Body& body) const {
    return std::visit(
        [&]<class T>(const matrix_view<const T>& view) {
          if (!gathered_) return body(view, a, b);
          matrix<T> both(2, cols_);
          copy_row<T>(a, both.data());
          copy_row<T>(b, both.data() + cols_);
          return body(matrix_view<const T>(both.view()), index_t{0}, index_t{1});
        },
        plain_);
  }

  /// body(*this, T{}): the type T that rows are read as.
  template <class Body>
  auto with_type(const Body& body) const {
    return std::visit([&]<class T>(const matrix_view<const T>&) { return body(*this, T{}); },
                      plain_);
  }
  /// Row i to `out`; T is the type of with_type().
  template <class T>
  void copy_row(index_t i, T* out) const {
    if (gathered_) return gather_rows(*gathered_, {i, i + 1}, out, 1);
    std::copy_n(std::get<matrix_view<const T>>(plain_).row(i), cols_, out);
  }

 private:
  template <class T, class Body>
  void for_each_panel(index_range range, int threads, const Body& body) const {
    const index_t most = panel_rows(cols_, sizeof(T), range.size());
    matrix<T> panel(most, cols_);
    for (index_t begin = range.begin; begin < range.end; begin += most) {
      const index_range some{begin, std::min(range.end, begin + most)};
      gather_rows(*gathered_, some, panel.data(), threads);
      body(matrix_view<const T>(panel.data(), some.size(), cols_), begin);
    }
  }

  any_matrix_view plain_;              // of gathered rows their type alone
  std::optional<any_table> gathered_;  // a table that is not read in place
  index_t rows_ = 0;
  index_t cols_ = 0;
  bool may_hold_nan_ = false;
};

/// body(view, range of its rows, number of its first row) for all rows of both tables of a call,
/// those of y numbered behind those of x: in parallel, about so many values at a time.
template <class Body>
void for_each_range_of(const pair_tables& tables, index_t values_at_once, int threads,
                       const Body& body) {
  index_t before = 0;
  const auto take = [&](const any_table& table) {
    const host_rows rows(table);
    const index_t at_once =
        std::max<index_t>(1, values_at_once / std::max<index_t>(rows.cols(), 1));
    rows.for_each_view({0, rows.rows()}, threads, [&](const auto& view, index_t first) {
      parallel_for_ranges(view.rows(), at_once, thread_count(threads),
                          [&](index_range some, int) { body(view, some, before + first); });
    });
    before += rows.rows();
  };
  take(tables.x);
  if (tables.y) take(*tables.y);
}

}  // namespace gpu::inline v0::detail
