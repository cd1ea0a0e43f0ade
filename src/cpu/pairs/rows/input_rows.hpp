#pragma once
// The rows of the tables of a call, one behind the other, which of them are packed, and where the
// packed ones stand.

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <gpu/detail/any_view.hpp>
#include <gpu/index.hpp>
#include <gpu/pair_options.hpp>

#include "base/index_range.hpp"
#include "cpu/pairs/choice/policy.hpp"
#include "cpu/pairs/loops/kernels.hpp"
#include "cpu/pairs/rows/row_source.hpp"
#include "pairs/measures/measures.hpp"
#include "pairs/reading/host_rows.hpp"

namespace gpu::cpu {

using detail::index_range;
class kept_rows;

/// The rows of x with those of y behind them, in host memory. The tables' data outlives it.
class input_rows {
 public:
  explicit input_rows(const detail::pair_tables& tables);

  /// What is kept of the rows of the table that row `first` is of; null where nothing is.
  [[nodiscard]] const kept_rows* kept_of(index_t first) const {
    return first < rows_of_x_ ? nullptr : kept_;
  }
  /// Its number in that table.
  [[nodiscard]] index_t row_of_table(index_t row) const {
    return row < rows_of_x_ ? row : row - rows_of_x_;
  }

  [[nodiscard]] index_t rows() const { return rows_of_x_ + rows_of_y_; }
  [[nodiscard]] index_t cols() const { return cols_; }

  /// body(view, first) for the rows of `range`, table by table, in order; the view begins with row
  /// `first`. `threads` threads gather the rows of a table that does not stand row by row.
  template <class Body>
  void for_each_view(index_range range, int threads, const Body& body) const {
    visit_table(x_, 0, range, threads, body);
    visit_table(y_, rows_of_x_, range, threads, body);
  }

  /// body(view, row a of it, row b of it) for two rows of one table.
  template <class Body>
  auto with_rows(index_t a, index_t b, const Body& body) const {
    const index_t before = a < rows_of_x_ ? 0 : rows_of_x_;
    return (a < rows_of_x_ ? x_ : y_).with_rows(a - before, b - before, body);
  }

  /// For each row of `range`, whether it has a statistic of `what`. Reads what it takes to know
  /// that. A row with a NaN may say either.
  [[nodiscard]] std::vector<std::uint8_t> with_statistic(index_range range,
                                                         const detail::measure_traits& what,
                                                         int threads) const;

 private:
  template <class Body>
  static void visit_table(const detail::host_rows& table, index_t before, index_range range,
                          int threads, const Body& body) {
    table.for_each_view({range.begin - before, range.end - before}, threads,
                        [&](const auto& view, index_t first) { body(view, before + first); });
  }

  detail::host_rows x_;
  detail::host_rows y_;              // none where there is one table
  const kept_rows* kept_ = nullptr;  // of y, which outlives this
  index_t rows_of_x_ = 0;
  index_t rows_of_y_ = 0;
  index_t cols_ = 0;
};

/// Which rows of an input are packed.
struct row_selection {
  /// Ascending rows of the input. Rows of one section are folded with each other, never with those
  /// of another; other rows are only asked for having a statistic.
  std::vector<index_range> sections;
  /// Whether the first of two sections meets the second alone.
  bool is_across = false;
  /// The section whose rows are those of the area.
  std::size_t rows_section = 0;

  [[nodiscard]] index_t rows() const {
    index_t sum = 0;
    for (const index_range& section : sections) sum += section.size();
    return sum;
  }
  /// Places that they take at most.
  [[nodiscard]] index_t places() const {
    return rows() + (is_across ? pair_policy::window_step : 0);
  }
};

/// for_selected(begin, end) for every section in order and for_others(begin, end) for the ranges
/// of rows between them and around.
template <class ForSelected, class ForOthers>
void for_each_section(const row_selection& selection, index_t rows, const ForSelected& for_selected,
                      const ForOthers& for_others) {
  index_t next = 0;
  for (const index_range& section : selection.sections) {
    if (section.begin > next) for_others(index_range{next, section.begin});
    for_selected(section);
    next = section.end;
  }
  if (rows > next) for_others(index_range{next, rows});
}

/// Where packed rows stand: those of a first range from place 0 on and those of a second one from
/// the next whole group of columns on. In places between, the last row of the first range is there
/// again; no tile holds them.
struct row_layout {
  index_t first = 0;   ///< Rows of the first range.
  index_t second = 0;  ///< Rows of the second one, which the first meets; 0: it meets itself.
  row_range asked;     ///< The rows of the first range whose pairs are asked for.
  /// Columns of a whole group.
  index_t group = pair_policy::window_step;

  static index_t second_begin(index_t first, index_t group) { return round_up(first, group); }
  [[nodiscard]] index_t second_begin() const { return second_begin(first, group); }
  [[nodiscard]] index_t places() const { return second == 0 ? first : second_begin() + second; }
  /// Whether the kernels find their groups of columns; else every pair is decided.
  [[nodiscard]] bool has_kernel_groups() const { return group == pair_policy::window_step; }
  /// Whether so few rows meet so many columns that what is done to a column once costs most.
  [[nodiscard]] bool is_thin() const {
    constexpr index_t most_rows = 256;
    constexpr index_t least_ratio = 64;
    return asked.size() < most_rows && second > least_ratio * asked.size();
  }
};

}  // namespace gpu::cpu
