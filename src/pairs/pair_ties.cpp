#include "pairs/pair_ties.hpp"

#include <algorithm>
#include <cstddef>

#include "base/parallel.hpp"
#include "pairs/prepared_table.hpp"
#include "pairs/reading/host_rows.hpp"

namespace gpu::inline v0::detail {
namespace {

constexpr index_t values_per_task = index_t{1} << 15;

template <class T>
row_ties ties_of(std::vector<T>& values) {
  if (std::any_of(values.begin(), values.end(), [](T value) { return value != value; })) return {};
  std::sort(values.begin(), values.end());
  row_ties out;
  for (auto begin = values.begin(); begin != values.end();) {
    const auto end = std::find_if(begin, values.end(), [&](T value) { return value != *begin; });
    stats::add_group(out, end - begin);
    begin = end;
  }
  return out;
}

template <class T>
void add_ties(const matrix_view<const T>& rows, int threads, row_ties* out) {
  const index_t at_once = std::max<index_t>(1, values_per_task / std::max<index_t>(rows.cols(), 1));
  detail::parallel_for((rows.rows() + at_once - 1) / at_once, detail::thread_count(threads),
                       [&](index_t task, int) {
                         std::vector<T> values;
                         const index_t end = std::min(rows.rows(), (task + 1) * at_once);
                         for (index_t i = task * at_once; i < end; ++i) {
                           values.assign(rows.row(i), rows.row(i) + rows.cols());
                           out[i] = ties_of(values);
                         }
                       });
}

}  // namespace

std::vector<row_ties> find_ties(const pair_tables& tables, int threads) {
  const host_rows x(tables.x);
  const host_rows y = tables.y ? host_rows(*tables.y) : host_rows();
  std::vector<row_ties> out(static_cast<std::size_t>(x.rows() + y.rows()));
  const auto add_table = [&](const host_rows& table, index_t before) {
    table.for_each_view({0, table.rows()}, threads, [&](const auto& view, index_t first) {
      add_ties(view, threads, out.data() + before + first);
    });
  };
  add_table(x, 0);
  add_table(y, x.rows());
  return out;
}

std::vector<row_ties> find_ties(const host_prepared_table& data, int threads) {
  std::vector<row_ties> out = find_ties(pair_tables{data.view}, threads);
  // What stands for a row with a NaN need not show it.
  for (const index_t row : data.nan_rows) out[static_cast<std::size_t>(row)] = {};
  return out;
}

}  // namespace gpu::inline v0::detail
