#include "io/sparse_matrix.hpp"

#include <algorithm>
#include <mutex>
#include <type_traits>

#include "base/parallel.hpp"

namespace gpu::io {
namespace {

constexpr index_t stored_per_task = index_t{1} << 16;

// Tasks of about as many stored values: [first row, last row) of each.
template <class Index>
std::vector<index_t> task_bounds(const std::vector<Index>& row_begin, index_t rows) {
  std::vector<index_t> bounds{0};
  index_t from = 0;
  for (index_t i = 1; i <= rows; ++i) {
    const auto end = static_cast<index_t>(row_begin[static_cast<std::size_t>(i)]);
    // Rows that store nothing take time too.
    if (end - from < stored_per_task && i - bounds.back() < stored_per_task && i < rows) continue;
    bounds.push_back(i);
    from = end;
  }
  return bounds;
}

// body(row) for every row, by `threads` threads.
template <class Index, class Body>
void for_each_row(const std::vector<Index>& row_begin, index_t rows, int threads,
                  const Body& body) {
  const std::vector<index_t> bounds = task_bounds(row_begin, rows);
  detail::parallel_for(
      static_cast<index_t>(bounds.size()) - 1, detail::thread_count(threads),
      [&](index_t task, int) {
        const auto k = static_cast<std::size_t>(task);
        for (index_t i = bounds[k]; i < bounds[k + 1]; ++i) {
          body(i, static_cast<std::size_t>(row_begin[static_cast<std::size_t>(i)]),
               static_cast<std::size_t>(row_begin[static_cast<std::size_t>(i) + 1]));
        }
      });
}

template <class Index, class T>
void sort_row(Index* column, T* value, std::size_t count) {
  if (std::is_sorted(column, column + count)) return;
  std::vector<std::pair<Index, T>> places(count);
  for (std::size_t k = 0; k < count; ++k) places[k] = {column[k], value[k]};
  std::sort(places.begin(), places.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t k = 0; k < count; ++k) {
    column[k] = places[k].first;
    value[k] = places[k].second;
  }
}

}  // namespace

index_t sparse_matrix::stored() const {
  return std::visit([](const auto& own) { return static_cast<index_t>(own.column.size()); },
                    pattern);
}

any_matrix dense_rows(const sparse_matrix& from, index_t begin, index_t end, int threads) {
  return std::visit(
      [&]<class Index, class T>(const sparse_pattern<Index>& own,
                                const array<T>& values) -> any_matrix {
        matrix<T> out(end - begin, from.cols);
        detail::parallel_for(end - begin, detail::thread_count(threads), [&](index_t i, int) {
          T* const row = out.data() + i * from.cols;
          std::fill_n(row, from.cols, T{});
          const auto at = static_cast<std::size_t>(begin + i);
          for (auto k = static_cast<std::size_t>(own.row_begin[at]);
               k < static_cast<std::size_t>(own.row_begin[at + 1]); ++k) {
            row[own.column[k]] = values[k];
          }
        });
        return out;
      },
      from.pattern, from.values);
}

std::vector<index_t> nan_columns(const sparse_matrix& from, index_t row) {
  std::vector<index_t> out;
  std::visit(
      [&](const auto& own, const auto& values) {
        const auto at = static_cast<std::size_t>(row);
        for (auto k = static_cast<std::size_t>(own.row_begin[at]);
             k < static_cast<std::size_t>(own.row_begin[at + 1]); ++k) {
          if (values[k] != values[k]) out.push_back(static_cast<index_t>(own.column[k]));
        }
      },
      from.pattern, from.values);
  return out;
}

void sort_columns(sparse_matrix& matrix, int threads) {
  std::visit(
      [&](auto& own, auto& values) {
        for_each_row(own.row_begin, matrix.rows, threads,
                     [&](index_t, std::size_t begin, std::size_t end) {
                       sort_row(own.column.data() + begin, values.data() + begin, end - begin);
                     });
      },
      matrix.pattern, matrix.values);
}

std::optional<std::pair<index_t, index_t>> find_repeated(const sparse_matrix& matrix, int threads) {
  std::optional<std::pair<index_t, index_t>> found;
  std::mutex mutex;
  std::visit(
      [&](const auto& own) {
        for_each_row(own.row_begin, matrix.rows, threads,
                     [&](index_t row, std::size_t begin, std::size_t end) {
                       const auto* const first = own.column.data() + begin;
                       const auto* const last = own.column.data() + end;
                       const auto* const twice = std::adjacent_find(first, last);
                       if (twice == last) return;
                       const std::scoped_lock lock(mutex);
                       if (!found || row < found->first) {
                         found.emplace(row, static_cast<index_t>(*twice));
                       }
                     });
      },
      matrix.pattern);
  return found;
}

stored_nans find_nans(const sparse_matrix& matrix) {
  stored_nans out;
  std::visit(
      [&]<class Index, class T>(const sparse_pattern<Index>& own, const array<T>& values) {
        if constexpr (std::is_floating_point_v<T>) {
          for (const T value : values) out.count += value != value ? 1 : 0;
          if (out.count == 0) return;
          const auto at = std::find_if(values.begin(), values.end(), [](T v) { return v != v; }) -
                          values.begin();
          const auto behind =
              std::upper_bound(own.row_begin.begin(), own.row_begin.end(), static_cast<Index>(at));
          out.first.emplace(behind - own.row_begin.begin() - 1,
                            static_cast<index_t>(own.column[static_cast<std::size_t>(at)]));
        }
      },
      matrix.pattern, matrix.values);
  return out;
}

}  // namespace gpu::io
