#include "pairs/differential/difference_walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include <gpu/error.hpp>

#include "base/counted.hpp"
#include "base/parallel.hpp"
#include "pairs/checks.hpp"
#include "pairs/progress.hpp"
#include "pairs/tables.hpp"

namespace gpu::inline v0::detail {
namespace {

// Rows and columns of a block: packing a row takes as long as some hundreds of pairs.
constexpr index_t most_block_rows = 2048;
constexpr index_t least_block_rows = 16;

// What a walk over blocks of so many rows takes: both statistics, and the rows of both sides.
std::size_t block_bytes(const pair_area& area, index_t group_cols, index_t block_rows) {
  const index_t rows = std::min(block_rows, area.cols.size());
  const index_t panel = std::min(block_rows, area.rows.size());  // one side is the panel
  return static_cast<std::size_t>(2 * rows * (panel + group_cols)) * sizeof(double);
}

std::vector<index_t> joined(const std::vector<index_t>& a, const std::vector<index_t>& b) {
  std::vector<index_t> out;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

// Some rows of a table in host memory with the columns of a group alone, as doubles.
matrix<double> gather(const host_rows& table, std::span<const index_t> columns, index_range rows,
                      int threads) {
  constexpr index_t rows_at_once = 64;
  matrix<double> out(rows.size(), std::ssize(columns));
  table.for_each_view(rows, threads, [&](const auto& view, index_t first) {
    detail::parallel_for_each(view.rows(), rows_at_once, threads, [&](index_t i, int) {
      double* to = out.row(first - rows.begin + i).data();
      for (const index_t column : columns) *to++ = static_cast<double>(view.row(i)[column]);
    });
  });
  return out;
}

any_table table_of(const matrix<double>& rows) {
  return rows.view();
}

void check_group(const char* name, std::span<const index_t> group, index_t cols,
                 std::vector<bool>& taken) {
  if (std::ssize(group) < least_group_cols) {
    throw invalid_argument(fmt::format("groups.{}: got {}, expected at least {}", name,
                                       counted(group.size(), "column"), least_group_cols));
  }
  for (const index_t column : group) {
    if (column < 0 || column >= cols) {
      throw invalid_argument(
          fmt::format("groups.{}: got column {}, expected 0 to {}", name, column, cols - 1));
    }
    if (taken[static_cast<std::size_t>(column)]) {
      throw invalid_argument(
          fmt::format("groups.{}: got column {} twice, expected each column in one group at most, "
                      "once",
                      name, column));
    }
    taken[static_cast<std::size_t>(column)] = true;
  }
}

}  // namespace

void check_groups(const column_groups& groups, index_t cols) {
  std::vector<bool> taken(static_cast<std::size_t>(cols));
  check_group("first", groups.first, cols, taken);
  check_group("second", groups.second, cols, taken);
}

block_shape block_shape_of(const pair_area& area, index_t group_cols, std::size_t limit) {
  index_t rows = most_block_rows;
  while (limit > 0 && rows > least_block_rows && block_bytes(area, group_cols, rows) > limit / 4) {
    rows /= 2;
  }
  return {.rows = rows, .bytes = block_bytes(area, group_cols, rows)};
}

difference_walk::difference_walk(const any_table& data, const column_groups& groups,
                                 const pair_area& area, walk_settings settings,
                                 statistics_maker maker)
    : area_(area),
      table_(data),
      groups_(groups),
      maker_(std::move(maker)),
      settings_(std::move(settings)),
      threads_(detail::thread_count(settings_.exec.cpu_threads)) {
  if (maker_.on_device && is_on_device(data)) {
    on_device_ =
        maker_.on_device({column_group{data, groups_.first}, column_group{data, groups_.second}});
  } else if (maker_.on_device) {
    sent_ = {gather(table_, groups_.first, area_.cols, threads_),
             gather(table_, groups_.second, area_.cols, threads_)};
    on_device_ =
        maker_.on_device({column_group{table_of(sent_[0])}, column_group{table_of(sent_[1])}});
  }
  const auto& [first, second] = on_device_ ? on_device_->left_out() : look_at_groups();
  if (settings_.refuses_nan) {
    validate::refuse_nan({data}, first.with_nan, settings_.exec, groups_.first);
    validate::refuse_nan({data}, second.with_nan, settings_.exec, groups_.second);
  }
  summary_ = {.rows = rows(),
              .first_cols = std::ssize(groups_.first),
              .second_cols = std::ssize(groups_.second),
              .standard_error = settings_.standard_error,
              .constant_rows = joined(first.constant, second.constant),
              .nan_rows = joined(first.with_nan, second.with_nan),
              .part_begin = area_.rows.begin,
              .part_end = area_.rows.end,
              .device = second.device};
  // A row with a NaN in one group may be constant in the other.
  validate::leave_out(summary_.nan_rows, summary_.constant_rows);
  without_ = joined(summary_.constant_rows, summary_.nan_rows);
  summary_.pairs_tested = pairs_in(area_, without_);
}

std::array<rows_without_statistic, 2> difference_walk::look_at_groups() const {
  std::array<rows_without_statistic, 2> out;
  index_t begin = 0;
  do {  // once also where there are no rows: it tells the device
    const index_range some{begin, std::min(begin + settings_.block_rows, rows())};
    for (std::size_t group = 0; group < out.size(); ++group) {
      const auto& columns = group == 0 ? groups_.first : groups_.second;
      const rows_without_statistic found =
          maker_.look_at(table_of(gather(table_, columns, some, threads_)));
      for (const index_t row : found.constant) out[group].constant.push_back(begin + row);
      for (const index_t row : found.with_nan) out[group].with_nan.push_back(begin + row);
      out[group].device = found.device;
    }
    begin = some.end;
  } while (begin < rows());
  return out;
}

/// One walk: the statistics of a block, and how far it is.
class difference_walk::block_walk {
 public:
  block_walk(const difference_walk& walk, const block_taker& take, std::uint64_t pairs)
      : walk_(walk),
        take_(take),
        block_rows_(walk.settings_.block_rows),
        meter_(walk.settings_.exec.on_progress, "differential", pairs) {
    const index_t long_side = std::min(block_rows_, walk.rows());
    const index_t short_side = std::min(block_rows_, walk.panel().size());  // one side is the panel
    first_.resize(static_cast<std::size_t>(long_side * short_side));
    second_.resize(first_.size());
  }

  /// Every row of `rows` with every row of `cols`, which lie behind them.
  void take_rectangle(index_range rows, index_range cols) {
    for (index_t i = rows.begin; i < rows.end; i += block_rows_) {
      const index_range own{i, std::min(i + block_rows_, rows.end)};
      for (index_t j = cols.begin; j < cols.end; j += block_rows_) {
        take(own, {j, std::min(j + block_rows_, cols.end)});
      }
    }
  }
  /// Every row of `rows` with every later row up to `end`.
  void take_later(index_range rows, index_t end) {
    for (index_t i = rows.begin; i < rows.end; i += block_rows_) {
      const index_range own{i, std::min(i + block_rows_, rows.end)};
      take(own, own);
      take_rectangle(own, {own.end, end});
    }
  }
  void finish() { meter_.finish(); }

 private:
  void take(index_range rows, index_range cols) {
    fill(walk_.groups_.first, rows, cols, first_);
    fill(walk_.groups_.second, rows, cols, second_);
    take_({.rows = rows, .cols = cols, .first = first_.data(), .second = second_.data()});
    meter_.advance(pairs_in({.rows = rows, .cols = cols}));
  }
  void fill(std::span<const index_t> columns, index_range rows, index_range cols,
            std::vector<double>& out) const {
    const matrix<double> x = gather(walk_.table_, columns, rows, walk_.threads_);
    matrix<double> y;
    pair_tables tables{.x = table_of(x)};
    if (rows != cols) {
      y = gather(walk_.table_, columns, cols, walk_.threads_);
      tables.y = table_of(y);
    }
    walk_.maker_.fill(tables, matrix_view<double>(out.data(), rows.size(), cols.size()));
  }

  const difference_walk& walk_;
  const block_taker& take_;
  index_t block_rows_;
  pair_progress meter_;
  std::vector<double> first_;
  std::vector<double> second_;
};

void difference_walk::for_each_block(const block_taker& take) const {
  block_walk walk(*this, take, pairs_in(area_));
  walk.take_later(area_.rows, rows());
  walk.finish();
}

void difference_walk::for_each_block_of_panel(const block_taker& take) const {
  const index_range earlier{0, area_.rows.begin};
  block_walk walk(*this, take, pairs_in({.rows = earlier, .cols = area_.rows}) + pairs_in(area_));
  walk.take_rectangle(earlier, area_.rows);
  walk.take_later(area_.rows, rows());
  walk.finish();
}

}  // namespace gpu::inline v0::detail
