#include "pairs/reading/shuffled_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/parallel.hpp"

namespace gpu::inline v0::detail {

index_t shuffled_rows::rows_in(std::size_t bytes) const {
  return rows_.with_type([&]<class T>(const host_rows& rows, T) {
    const std::size_t row = static_cast<std::size_t>(std::max<index_t>(rows.cols(), 1)) * sizeof(T);
    return std::max<index_t>(1, static_cast<index_t>(bytes / row));
  });
}

any_table shuffled_rows::make(index_t count, const std::function<shuffled_row(index_t)>& row_at,
                              int threads) {
  return rows_.with_type([&]<class T>(const host_rows& rows, T) -> any_table {
    memory_.emplace<matrix<T>>();  // nothing, before as much is taken again
    auto& out = memory_.emplace<matrix<T>>(count, rows.cols());
    constexpr index_t rows_at_once = 64;
    detail::parallel_for((count + rows_at_once - 1) / rows_at_once, detail::thread_count(threads),
                         [&](index_t task, int) {
                           std::vector<T> plain(static_cast<std::size_t>(rows.cols()));
                           const index_t end = std::min(count, (task + 1) * rows_at_once);
                           for (index_t r = task * rows_at_once; r < end; ++r) {
                             const shuffled_row wanted = row_at(r);
                             rows.copy_row<T>(wanted.row, plain.data());
                             std::transform(
                                 wanted.columns.begin(), wanted.columns.end(), out.row(r).begin(),
                                 [&](index_t col) { return plain[static_cast<std::size_t>(col)]; });
                           }
                         });
    return std::as_const(out).view();
  });
}

}  // namespace gpu::inline v0::detail
