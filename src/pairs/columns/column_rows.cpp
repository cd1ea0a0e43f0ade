#include "pairs/columns/column_rows.hpp"

#include <algorithm>
#include <type_traits>

#include "base/parallel.hpp"
#include "pairs/columns/ranks.hpp"

namespace gpu::inline v0::detail {
namespace {

constexpr index_t elements_per_task = index_t{1} << 17;
constexpr index_t most_task_rows = 64;

template <class T>
bool holds_nan(const T* row, index_t cols) {
  if constexpr (!std::is_floating_point_v<T>) return false;
  return std::any_of(row, row + cols, [](T value) { return value != value; });
}

// A NaN has no rank: its row stays as it is, and has no statistic.
template <class T>
void rank_rows(const matrix_view<const T>& rows, double* out) {
  rank_about_0(rows, out);
  for (index_t i = 0; i < rows.rows(); ++i) {
    if (!holds_nan(rows.row(i), rows.cols())) continue;
    std::copy_n(rows.row(i), rows.cols(), out + i * rows.cols());
  }
}

}  // namespace

void column_rows::compute(index_range range, double* out, int threads) const {
  const index_t cols = rows_.cols();
  const index_t task_rows =
      std::clamp(elements_per_task / std::max<index_t>(cols, 1), index_t{1}, most_task_rows);
  const int team = detail::thread_count(threads);
  rows_.for_each_view(range, team, [&]<class T>(const matrix_view<const T>& view, index_t first) {
    double* const block = out + (first - range.begin) * cols;
    detail::parallel_for((view.rows() + task_rows - 1) / task_rows, team, [&](index_t task, int) {
      const index_t begin = task * task_rows;
      const matrix_view<const T> rows(view.row(begin), std::min(task_rows, view.rows() - begin),
                                      cols, view.row_stride());
      double* const to = block + begin * cols;
      if (model_.takes_ranks()) rank_rows(rows, to);
      for (index_t i = 0; i < rows.rows(); ++i) {
        double* const row = to + i * cols;
        if (!model_.takes_ranks()) std::copy_n(rows.row(i), cols, row);
        model_.take(row);
      }
    });
  });
}

}  // namespace gpu::inline v0::detail
