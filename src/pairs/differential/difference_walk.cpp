#include "pairs/differential/difference_walk.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/parallel.hpp"
#include "pairs/differential/group_checks.hpp"
#include "pairs/progress.hpp"

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

matrix_view<const double> first_rows(const matrix<double>& group, index_t rows) {
  return {group.data(), rows, group.cols()};
}

// Adds what is known of the rows from `begin` on.
void add(const rows_without_statistic& found, index_t begin, rows_without_statistic& to) {
  for (const index_t row : found.constant) to.constant.push_back(begin + row);
  for (const index_t row : found.with_nan) to.with_nan.push_back(begin + row);
  to.device = found.device;
}

}  // namespace

block_shape block_shape_of(const pair_area& area, index_t group_cols, std::size_t limit) {
  index_t rows = most_block_rows;
  while (limit > 0 && rows > least_block_rows && block_bytes(area, group_cols, rows) > limit / 4) {
    rows /= 2;
  }
  return {.rows = rows, .bytes = block_bytes(area, group_cols, rows)};
}

struct difference_walk::group_rows {
  matrix<double> first;  // [rows, columns of the group]
  matrix<double> second;

  group_rows() = default;
  group_rows(index_t rows, const column_groups& groups)
      : first(rows, std::ssize(groups.first)), second(rows, std::ssize(groups.second)) {}
};

difference_walk::difference_walk(const any_table& data, const column_groups& groups,
                                 const pair_area& area, walk_settings settings,
                                 statistics_maker maker)
    : area_(area),
      table_(data),
      groups_(groups),
      maker_(std::move(maker)),
      settings_(std::move(settings)) {
  if (settings_.nans == nan_policy::reject) {
    refuse_nans(groups_.first);
    refuse_nans(groups_.second);
  }
  maker_.on_device ? send_to_device() : look_at_groups();
}

difference_walk::difference_walk(const column_groups& groups, const pair_area& area,
                                 walk_settings settings, std::unique_ptr<difference_engine> engine)
    : area_(area), groups_(groups), on_device_(std::move(engine)), settings_(std::move(settings)) {
  note_rows_without_statistic(on_device_->first_rows(), on_device_->second_rows());
}

difference_walk::~difference_walk() = default;

// `columns` of some rows, as doubles.
void difference_walk::gather(index_range rows, std::span<const index_t> columns,
                             double* out) const {
  const auto copy = [&](const auto* row, double* to) {
    for (const index_t column : columns) *to++ = static_cast<double>(row[column]);
  };
  table_.for_each_view(rows, settings_.threads, [&](const auto& view, index_t begin) {
    detail::parallel_for(view.rows(), settings_.threads, [&](index_t i, int) {
      copy(view.row(i), out + (begin - rows.begin + i) * std::ssize(columns));
    });
  });
}

void difference_walk::gather(index_range rows, group_rows& out) const {
  gather(rows, groups_.first, out.first.data());
  gather(rows, groups_.second, out.second.data());
}

// A NaN of a group by its place in the table.
void difference_walk::refuse_nans(std::span<const index_t> columns) const {
  if (!table_.may_hold_nan()) return;
  std::vector<double> values(columns.size());
  table_.for_each_view({0, rows()}, settings_.threads, [&](const auto& view, index_t begin) {
    for (index_t i = 0; i < view.rows(); ++i) {
      std::transform(columns.begin(), columns.end(), values.begin(),
                     [&](index_t column) { return static_cast<double>(view.row(i)[column]); });
      refuse_nan(begin + i, values, columns);
    }
  });
}

void difference_walk::send_to_device() {
  on_way_ = std::make_unique<group_rows>(rows(), groups_);
  gather({0, rows()}, *on_way_);
  on_device_ =
      maker_.on_device(std::as_const(on_way_->first).view(), std::as_const(on_way_->second).view());
  note_rows_without_statistic(on_device_->first_rows(), on_device_->second_rows());
}

void difference_walk::look_at_groups() {
  rows_without_statistic first;
  rows_without_statistic second;
  const index_t most = std::min(settings_.block_rows, rows());
  group_rows some(most, groups_);
  index_t begin = 0;
  do {  // once also where there are no rows: it tells the device
    const index_range own{begin, std::min(begin + most, rows())};
    gather(own, some);
    add(maker_.look_at(first_rows(some.first, own.size())), begin, first);
    add(maker_.look_at(first_rows(some.second, own.size())), begin, second);
    begin = own.end;
  } while (begin < rows());
  note_rows_without_statistic(first, second);
}

void difference_walk::note_rows_without_statistic(const rows_without_statistic& first,
                                                  const rows_without_statistic& second) {
  nan_rows_ = joined(first.with_nan, second.with_nan);
  // A row with a NaN in one group may be constant in the other.
  const std::vector<index_t> constant = joined(first.constant, second.constant);
  std::set_difference(constant.begin(), constant.end(), nan_rows_.begin(), nan_rows_.end(),
                      std::back_inserter(constant_rows_));
  device_ = second.device;
}

std::vector<index_t> difference_walk::left_out() const {
  return joined(constant_rows_, nan_rows_);
}

std::uint64_t difference_walk::family() const {
  return pairs_in({.rows = area_.cols, .cols = area_.cols}, left_out());
}

differential_summary difference_walk::summary() const {
  return {.rows = rows(),
          .first_cols = std::ssize(groups_.first),
          .second_cols = std::ssize(groups_.second),
          .standard_error = settings_.standard_error,
          .constant_rows = constant_rows_,
          .nan_rows = nan_rows_,
          .part_begin = area_.rows.begin,
          .part_end = area_.rows.end,
          .pairs_tested = pairs_in(area_, left_out()),
          .device = device_};
}

/// One walk: the statistics of a block, and how far it is.
class difference_walk::block_walk {
 public:
  block_walk(const difference_walk& walk, const block_taker& take, std::uint64_t pairs)
      : walk_(walk),
        take_(take),
        block_rows_(walk.settings_.block_rows),
        meter_(walk.settings_.on_progress, "differential", pairs) {
    const index_t long_side = std::min(block_rows_, walk.rows());
    const index_t short_side = std::min(block_rows_, walk.panel().size());  // one side is the panel
    first_.resize(static_cast<std::size_t>(long_side * short_side));
    second_.resize(first_.size());
    own_ = group_rows(long_side, walk.groups_);
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
    if (rows != own_rows_) walk_.gather(rows, own_);
    own_rows_ = rows;
    const bool is_one_side = rows == cols;
    if (!is_one_side) {
      if (other_.first.rows() == 0) other_ = group_rows(own_.first.rows(), walk_.groups_);
      walk_.gather(cols, other_);
    }
    const group_rows& other = is_one_side ? own_ : other_;
    fill(own_.first, other.first, rows, cols, first_);
    fill(own_.second, other.second, rows, cols, second_);
    take_({.rows = rows, .cols = cols, .first = first_.data(), .second = second_.data()});
    meter_.advance(pairs_in({.rows = rows, .cols = cols}));
  }
  void fill(const matrix<double>& x, const matrix<double>& y, index_range rows, index_range cols,
            std::vector<double>& out) const {
    walk_.maker_.fill(first_rows(x, rows.size()), first_rows(y, cols.size()),
                      matrix_view<double>(out.data(), rows.size(), cols.size()));
  }

  const difference_walk& walk_;
  const block_taker& take_;
  index_t block_rows_;
  pair_progress meter_;
  index_range own_rows_{0, 0};  // that own_ holds
  group_rows own_;
  group_rows other_;
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
