#include "pairs/reading/gather.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <variant>
#include <vector>

#include "base/parallel.hpp"
#include "pairs/reading/computed_rows.hpp"
#include "pairs/reading/csr_rows.hpp"
#include "pairs/reading/exact_integers.hpp"

namespace gpu::inline v0::detail {
namespace {

constexpr std::size_t panel_bytes = std::size_t{8} << 20;
constexpr index_t least_panel_rows = 8;  // a cache line of doubles

// A tile goes through a buffer that stays in the first level of cache: neither the strided reads
// nor the strided writes depend on how far apart rows and columns are.
constexpr index_t tile_row_bytes = 256;
constexpr index_t tile_cols = 32;
constexpr index_t cols_per_task = 2048;
constexpr index_t rows_per_task = 64;
constexpr index_t stored_per_task = index_t{1} << 18;

// 64-bit integers wait in the place of the double that they become.
template <class T>
read_as<T> to_place(T value) {
  if constexpr (is_inexact<T>) {
    return std::bit_cast<double>(value);
  } else {
    return static_cast<read_as<T>>(value);
  }
}

// `Columns` is column_matrix_view or column_list_view.
template <template <class> class Columns, class T>
void gather_tile(const Columns<const T>& table, index_range rows, index_range cols, index_t first,
                 read_as<T>* out) {
  constexpr index_t most = tile_row_bytes / static_cast<index_t>(sizeof(T));
  read_as<T> tile[static_cast<std::size_t>(tile_cols * most)];
  for (index_t j = cols.begin; j < cols.end; ++j) {
    const T* const from = table.column(j) + rows.begin;
    for (index_t i = 0; i < rows.size(); ++i) {
      tile[i * tile_cols + (j - cols.begin)] = to_place(from[i]);
    }
  }
  for (index_t i = 0; i < rows.size(); ++i) {
    std::copy_n(tile + i * tile_cols, cols.size(),
                out + (rows.begin + i - first) * table.cols() + cols.begin);
  }
}

template <template <class> class Columns, class T>
void copy_rows(const Columns<const T>& table, index_range range, read_as<T>* out, int threads) {
  constexpr index_t tile_rows = tile_row_bytes / static_cast<index_t>(sizeof(T));
  const index_t down = (range.size() + tile_rows - 1) / tile_rows;
  const index_t across = (table.cols() + cols_per_task - 1) / cols_per_task;
  detail::parallel_for(down * across, threads, [&](index_t task, int) {
    const index_t begin = range.begin + task / across * tile_rows;
    const index_range rows{begin, std::min(range.end, begin + tile_rows)};
    const index_t left = task % across * cols_per_task;
    const index_t right = std::min(table.cols(), left + cols_per_task);
    for (index_t j = left; j < right; j += tile_cols) {
      gather_tile(table, rows, {j, std::min(right, j + tile_cols)}, range.begin, out);
    }
  });
}

template <class T>
void copy_rows(const matrix_view<const T>& table, index_range range, read_as<T>* out, int threads) {
  detail::parallel_for_each(range.size(), rows_per_task, threads, [&](index_t i, int) {
    const T* const from = table.row(range.begin + i);
    std::transform(from, from + table.cols(), out + i * table.cols(), to_place<T>);
  });
}

// Of a sparse table: zeros, and the stored values in their places.
template <class T>
void copy_rows(const csr_view<const T>& table, index_range range, read_as<T>* out, int threads) {
  const index_t cols = table.cols();
  const auto rows_at_once = std::max<index_t>(1, stored_per_task / (cols + 1));
  std::visit(
      [&](const auto& pattern) {
        detail::parallel_for_each(range.size(), rows_at_once, threads, [&](index_t i, int) {
          read_as<T>* const row = out + i * cols;
          std::fill_n(row, cols, to_place(T{}));
          for_each_stored(
              pattern, range.begin + i, table.stored(), cols,
              [&](index_t k, index_t column) { row[column] = to_place(table.values()[k]); });
        });
      },
      table.pattern());
}

// The place of each value among the distinct values of the row.
template <class T>
void number_values(double* row, index_t cols) {
  std::vector<T> values(static_cast<std::size_t>(cols));
  std::transform(row, row + cols, values.begin(), [](double x) { return std::bit_cast<T>(x); });
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  std::transform(row, row + cols, row, [&](double x) {
    const auto place = std::lower_bound(values.begin(), values.end(), std::bit_cast<T>(x));
    return static_cast<double>(place - values.begin());
  });
}

template <class T>
void make_doubles(double* rows, index_t count, index_t cols, int threads) {
  detail::parallel_for_each(count, rows_per_task, threads, [&](index_t i, int) {
    double* const row = rows + i * cols;
    const bool exact =
        std::all_of(row, row + cols, [](double x) { return is_exact_double(std::bit_cast<T>(x)); });
    if (!exact) return number_values<T>(row, cols);
    std::transform(row, row + cols, row,
                   [](double x) { return static_cast<double>(std::bit_cast<T>(x)); });
  });
}

}  // namespace

bool is_gathered(const any_table& table) {
  return std::visit([]<class View>(const View&) { return !is_read_in_place<View>; }, table);
}

any_matrix_view gathered_type(const any_table& table) {
  return std::visit(
      []<class View>(const View&) -> any_matrix_view {
        return matrix_view<const read_as<typename View::value_type>>();
      },
      table);
}

index_t panel_rows(index_t cols, std::size_t element_bytes, index_t rows) {
  // Not by the bytes of a row: the columns of a sparse table can be more than 63 bits of them.
  const auto fitting =
      static_cast<index_t>(panel_bytes / element_bytes) / std::max<index_t>(cols, 1);
  return std::min(rows, std::max(fitting, least_panel_rows));
}

void gather_rows(const any_table& table, index_range range, void* out, int threads) {
  const int team = detail::thread_count(threads);
  std::visit(
      [&]<class View>(const View& view) {
        if constexpr (std::is_same_v<View, computed_view>) {
          view.maker().compute(range, static_cast<double*>(out), team);
        } else if constexpr (!is_read_in_place<View>) {
          using value = typename View::value_type;
          auto* const rows = static_cast<read_as<value>*>(out);
          copy_rows(view, range, rows, team);
          if constexpr (is_inexact<value>) {
            make_doubles<value>(rows, range.size(), view.cols(), team);
          }
        }
      },
      table);
}

}  // namespace gpu::inline v0::detail
