#include "pairs/differential/difference_walk.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/parallel.hpp"
#include "pairs/differential/group_checks.hpp"
#include "pairs/progress.hpp"
#include "pairs/reading/host_rows.hpp"

namespace gpu::inline v0::detail {
namespace {

// Rows and columns of a block: packing a row takes as long as some hundreds of pairs.
constexpr index_t block_rows = 2048;

// The columns of both groups, as doubles.
void gather(const any_table& data, const column_groups& groups, int threads, matrix<double>& first,
            matrix<double>& second) {
  const host_rows rows(data);
  const auto copy = [](const auto* row, std::span<const index_t> columns, double* out) {
    for (const index_t column : columns) *out++ = static_cast<double>(row[column]);
  };
  rows.for_each_view({0, rows.rows()}, threads, [&](const auto& view, index_t begin) {
    detail::parallel_for(view.rows(), threads, [&](index_t i, int) {
      copy(view.row(i), groups.first, first.data() + (begin + i) * first.cols());
      copy(view.row(i), groups.second, second.data() + (begin + i) * second.cols());
    });
  });
}

// A NaN of a group by its place in the table.
void refuse_nans(const matrix<double>& group, std::span<const index_t> columns) {
  for (index_t i = 0; i < group.rows(); ++i) {
    refuse_nan(i, {group.data() + i * group.cols(), columns.size()}, columns);
  }
}

std::vector<index_t> joined(const std::vector<index_t>& a, const std::vector<index_t>& b) {
  std::vector<index_t> out;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

matrix_view<const double> rows_of(const matrix<double>& group, index_range rows) {
  return {group.data() + rows.begin * group.cols(), rows.size(), group.cols()};
}

}  // namespace

difference_walk::difference_walk(const any_table& data, const column_groups& groups,
                                 const pair_area& area, walk_settings settings,
                                 statistics_maker maker)
    : area_(area),
      first_cols_(std::ssize(groups.first)),
      second_cols_(std::ssize(groups.second)),
      maker_(std::move(maker)),
      settings_(std::move(settings)),
      first_(rows(), first_cols_),
      second_(rows(), second_cols_) {
  gather(data, groups, settings_.threads, first_, second_);
  if (settings_.nans == nan_policy::reject) {
    refuse_nans(first_, groups.first);
    refuse_nans(second_, groups.second);
  }
  if (maker_.on_device) {
    on_device_ = maker_.on_device(std::as_const(first_).view(), std::as_const(second_).view());
    note_rows_without_statistic(on_device_->first_rows(), on_device_->second_rows());
  } else {
    note_rows_without_statistic(maker_.look_at(first_.view()), maker_.look_at(second_.view()));
  }
}

difference_walk::difference_walk(const column_groups& groups, const pair_area& area,
                                 walk_settings settings, std::unique_ptr<difference_engine> engine)
    : area_(area),
      first_cols_(std::ssize(groups.first)),
      second_cols_(std::ssize(groups.second)),
      on_device_(std::move(engine)),
      settings_(std::move(settings)) {
  note_rows_without_statistic(on_device_->first_rows(), on_device_->second_rows());
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
          .first_cols = first_cols_,
          .second_cols = second_cols_,
          .standard_error = settings_.standard_error,
          .constant_rows = constant_rows_,
          .nan_rows = nan_rows_,
          .part_begin = area_.rows.begin,
          .part_end = area_.rows.end,
          .pairs_tested = pairs_in(area_, left_out()),
          .device = device_};
}

void difference_walk::fill(const matrix<double>& group, index_range rows, index_range cols,
                           std::vector<double>& out) const {
  maker_.fill(rows_of(group, rows), rows_of(group, cols),
              matrix_view<double>(out.data(), rows.size(), cols.size()));
}

/// One walk: the statistics of a block, and how far it is.
class difference_walk::block_walk {
 public:
  block_walk(const difference_walk& walk, const block_taker& take, std::uint64_t pairs)
      : walk_(walk), take_(take), meter_(walk.settings_.on_progress, "differential", pairs) {
    const index_t long_side = std::min(block_rows, walk.rows());
    const index_t short_side = std::min(block_rows, walk.panel().size());  // one side is the panel
    first_.resize(static_cast<std::size_t>(long_side * short_side));
    second_.resize(first_.size());
  }

  /// Every row of `rows` with every row of `cols`, which lie behind them.
  void take_rectangle(index_range rows, index_range cols) {
    for (index_t i = rows.begin; i < rows.end; i += block_rows) {
      const index_range own{i, std::min(i + block_rows, rows.end)};
      for (index_t j = cols.begin; j < cols.end; j += block_rows) {
        take(own, {j, std::min(j + block_rows, cols.end)});
      }
    }
  }
  /// Every row of `rows` with every later row up to `end`.
  void take_later(index_range rows, index_t end) {
    for (index_t i = rows.begin; i < rows.end; i += block_rows) {
      const index_range own{i, std::min(i + block_rows, rows.end)};
      take(own, own);
      take_rectangle(own, {own.end, end});
    }
  }
  void finish() { meter_.finish(); }

 private:
  void take(index_range rows, index_range cols) {
    walk_.fill(walk_.first_, rows, cols, first_);
    walk_.fill(walk_.second_, rows, cols, second_);
    take_({.rows = rows, .cols = cols, .first = first_.data(), .second = second_.data()});
    meter_.advance(pairs_in({.rows = rows, .cols = cols}));
  }

  const difference_walk& walk_;
  const block_taker& take_;
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
