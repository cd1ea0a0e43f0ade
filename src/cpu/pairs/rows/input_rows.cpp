#include "cpu/pairs/rows/input_rows.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/parallel.hpp"
#include "cpu/pairs/rows/kept_rows.hpp"
#include "stats/shared_columns.hpp"

namespace gpu::cpu {
namespace {

constexpr index_t elements_per_task = index_t{1} << 17;

template <class T>
bool varies(const T* row, index_t cols) {
  return std::any_of(row + 1, row + cols, [first = row[0]](T value) { return value != first; });
}

template <class T>
bool is_finite(const T* row, index_t cols) {
  if constexpr (std::is_floating_point_v<T>) {
    bool all = true;
    for (index_t k = 0; k < cols; ++k) all &= std::isfinite(row[k]);
    return all;
  }
  return true;
}

template <class T>
bool is_zero(const T* row, index_t cols) {
  return std::all_of(row, row + cols, [](T value) { return value == T{}; });
}

// Of a row with missing values.
template <class T>
bool has_shared_statistic(const detail::measure_traits& what, const T* row, index_t cols) {
  if (what.form == detail::row_form::unit_values) {
    // A transform centres, whatever is done to its rows behind it.
    const bool is_transformed = what.transform != detail::row_transform::none;
    const auto value = [row](index_t k) { return static_cast<double>(row[k]); };
    return detail::look_at_row(value, cols, what.least_shared,
                               is_transformed ? detail::row_centre::mean : what.centre)
        .has_statistic;
  }
  const T* const end = row + cols;
  const T* const first = std::find_if(row, end, [](T value) { return value == value; });
  const auto count = std::count_if(first, end, [](T value) { return value == value; });
  return count >= what.least_shared &&
         std::any_of(first, end, [first](T value) { return value == value && value != *first; });
}

template <class T>
bool has_statistic(const detail::measure_traits& what, const T* row, index_t cols) {
  if (what.is_pairwise) return has_shared_statistic(what, row, cols);
  switch (what.form) {
    case detail::row_form::ranks:
    case detail::row_form::signs:
      return varies(row, cols);
    case detail::row_form::unit_values:
      if (!is_finite(row, cols)) return false;
      if (what.transform == detail::row_transform::biweight) return varies(row, cols);
      return detail::is_centred(what.centre) ? varies(row, cols) : !is_zero(row, cols);
    case detail::row_form::bits:
      break;
  }
  return false;
}

}  // namespace

input_rows::input_rows(const detail::pair_tables& tables) : x_(tables.x) {
  if (tables.y) y_ = detail::host_rows(*tables.y);
  kept_ = dynamic_cast<const kept_rows*>(tables.prepared_y.get());
  rows_of_x_ = x_.rows();
  rows_of_y_ = y_.rows();
  cols_ = x_.cols();
}

std::vector<std::uint8_t> input_rows::with_statistic(index_range range,
                                                     const detail::measure_traits& what,
                                                     int threads) const {
  std::vector<std::uint8_t> out(static_cast<std::size_t>(range.size()));
  const detail::measure_traits kept = of_kept_rows(what);
  for_each_view(range, threads, [&]<class T>(const matrix_view<const T>& view, index_t first) {
    const detail::measure_traits& own = kept_of(first) != nullptr ? kept : what;
    const index_t at_once = std::max<index_t>(1, elements_per_task / view.cols());
    detail::parallel_for_each(view.rows(), at_once, detail::thread_count(threads),
                              [&](index_t i, int) {
                                out[static_cast<std::size_t>(first + i - range.begin)] =
                                    has_statistic(own, view.row(i), view.cols()) ? 1 : 0;
                              });
  });
  return out;
}

}  // namespace gpu::cpu
