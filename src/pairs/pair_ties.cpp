#include "pairs/pair_ties.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <iterator>
#include <utility>

#include "pairs/engine.hpp"
#include "pairs/reading/host_rows.hpp"
#include "pairs/tables.hpp"

namespace gpu::inline v0::detail {
namespace {

constexpr index_t values_per_task = index_t{1} << 15;
constexpr index_t tested_edges_per_task = index_t{1} << 12;
constexpr std::uint32_t sign_word_bits = 64;

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

// Rows of both tables in host memory.
std::size_t rows_of_both(const pair_tables& tables) {
  return static_cast<std::size_t>(rows_of(tables.x) + (tables.y ? rows_of(*tables.y) : 0));
}

}  // namespace

std::vector<row_ties> find_ties(const pair_tables& tables, int threads) {
  std::vector<row_ties> out(rows_of_both(tables));
  for_each_range_of(
      tables, values_per_task, threads,
      [&]<class T>(const matrix_view<const T>& view, index_range some, index_t first) {
        std::vector<T> values;
        for (index_t i = some.begin; i < some.end; ++i) {
          values.assign(view.row(i), view.row(i) + view.cols());
          out[static_cast<std::size_t>(first + i)] = ties_of(values);
        }
      });
  return out;
}

std::vector<row_ties> find_ties(const host_prepared_table& data, int threads) {
  std::vector<row_ties> out = find_ties(pair_tables{data.view}, threads);
  // What stands for a row with a NaN need not show it.
  for (const index_t row : data.nan_rows) out[static_cast<std::size_t>(row)] = {};
  return out;
}

template <class T>
void order_columns(const T* values, index_t cols, std::vector<std::uint32_t>& out) {
  out.clear();
  out.reserve(static_cast<std::size_t>(cols));
  for (index_t k = 0; k < cols; ++k) {
    if (values[k] == values[k]) out.push_back(static_cast<std::uint32_t>(k));
  }
  std::sort(out.begin(), out.end(), [values](std::uint32_t a, std::uint32_t b) {
    return values[a] < values[b] || (values[a] == values[b] && a < b);
  });
}

template <class T>
shared_row_ties::shared_row_ties(const T* values, const std::vector<std::uint32_t>& order) {
  // body(column, begins, ends) for the columns of every group: whether the column is the first of
  // its group in a word, and whether it is the last of the group.
  const auto for_each_tied = [&](const auto& body) {
    for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
      while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
      if (end - begin == 1) continue;
      for (std::size_t k = begin; k < end; ++k) {
        const bool begins =
            k == begin || order[k] / sign_word_bits != order[k - 1] / sign_word_bits;
        body(order[k], begins, k + 1 == end);
      }
    }
  };
  std::size_t words = 0;
  for_each_tied([&](std::uint32_t, bool begins, bool) { words += begins ? 1 : 0; });
  columns_.reserve(words);
  for_each_tied([&](std::uint32_t column, bool begins, bool is_last) {
    if (begins) columns_.push_back({0, column / sign_word_bits, false});
    columns_.back().bits |= std::uint64_t{1} << (column % sign_word_bits);
    columns_.back().is_last = is_last;
  });
}

row_ties shared_row_ties::within(const std::uint64_t* present) const {
  row_ties out;
  std::int64_t size = 0;
  for (const some_columns& some : columns_) {
    size += std::popcount(some.bits & present[some.word]);
    if (!some.is_last) continue;
    stats::add_group(out, size);
    size = 0;
  }
  return out;
}

std::vector<shared_row_ties> find_shared_ties(const pair_tables& tables, int threads) {
  std::vector<shared_row_ties> out(rows_of_both(tables));
  for_each_range_of(tables, values_per_task, threads,
                    [&](const auto& view, index_range some, index_t first) {
                      std::vector<std::uint32_t> order;
                      for (index_t i = some.begin; i < some.end; ++i) {
                        order_columns(view.row(i), view.cols(), order);
                        out[static_cast<std::size_t>(first + i)] = {view.row(i), order};
                      }
                    });
  return out;
}

double shared_kendall::p(double tau, const present_values& present, index_t x, index_t y,
                         tail side) const {
  const row_ties of_x = ties_[static_cast<std::size_t>(x)].within(present.row(y));
  const row_ties of_y = ties_[static_cast<std::size_t>(y)].within(present.row(x));
  const stats::kendall_test& test = tests_.of(present.shared(x, y));
  return test.p(test.sum_of(tau, of_x, of_y), of_x, of_y, side);
}

std::vector<double> shared_kendall::p_of(std::span<const edge> edges, const present_values& present,
                                         index_t first, tail side, int threads) const {
  std::vector<double> out(edges.size(), no_statistic);
  detail::parallel_for_each(
      std::ssize(edges), tested_edges_per_task, detail::thread_count(threads),
      [&](index_t number, int) {
        const auto i = static_cast<std::size_t>(number);
        const edge& e = edges[i];
        const index_t col = first + index_t{e.col};
        if (e.statistic != e.statistic || present.shared(e.row, col) < tests_.least()) return;
        out[i] = p(e.statistic, present, e.row, col, side);
      });
  return out;
}

template shared_row_ties::shared_row_ties(const double*, const std::vector<std::uint32_t>&);
template void order_columns(const double*, index_t, std::vector<std::uint32_t>&);

}  // namespace gpu::inline v0::detail
