#include "pairs/differential/difference_walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include <gpu/error.hpp>

#include "base/parallel.hpp"
#include "pairs/progress.hpp"
#include "pairs/reading/host_rows.hpp"

namespace gpu::inline v0::detail {
namespace {

constexpr index_t least_group = 4;
// Rows and columns of a block: packing a row takes as long as some hundreds of pairs.
constexpr index_t block_rows = 2048;

void check_group(const char* name, std::span<const index_t> group, index_t cols,
                 std::vector<bool>& taken) {
  if (std::ssize(group) < least_group) {
    throw invalid_argument(fmt::format("groups.{}: got {} columns, expected at least {}", name,
                                       group.size(), least_group));
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

// The columns of both groups, as doubles.
void gather(const any_table& data, const column_groups& groups, int threads, matrix<double>& first,
            matrix<double>& second) {
  const host_rows rows(data);
  const auto copy = [](const auto* row, std::span<const index_t> columns, double* out) {
    for (const index_t column : columns) *out++ = static_cast<double>(row[column]);
  };
  rows.for_each_view({0, rows.rows()}, threads, [&](const auto& view, index_t begin) {
    cpu::parallel_for(view.rows(), threads, [&](index_t i, int) {
      copy(view.row(i), groups.first, first.data() + (begin + i) * first.cols());
      copy(view.row(i), groups.second, second.data() + (begin + i) * second.cols());
    });
  });
}

// A NaN of a group by its place in the table.
void refuse_nan(const matrix<double>& group, std::span<const index_t> columns) {
  for (index_t i = 0; i < group.rows(); ++i) {
    for (index_t k = 0; k < group.cols(); ++k) {
      if (group(i, k) == group(i, k)) continue;
      throw invalid_argument(
          fmt::format("data: row {} holds a NaN in column {}, expected numbers, "
                      "or nan_policy::propagate",
                      i, columns[static_cast<std::size_t>(k)]));
    }
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

void check_groups(const column_groups& groups, index_t cols) {
  std::vector<bool> taken(static_cast<std::size_t>(cols));
  check_group("first", groups.first, cols, taken);
  check_group("second", groups.second, cols, taken);
}

difference_walk::difference_walk(const any_table& data, const column_groups& groups,
                                 nan_policy nans, int threads, const progress_callback& on_progress,
                                 double standard_error, statistics_maker maker)
    : maker_(std::move(maker)),
      on_progress_(on_progress),
      threads_(threads),
      standard_error_(standard_error) {
  const index_t rows = std::visit([](const auto& view) { return view.rows(); }, data);
  first_ = matrix<double>(rows, std::ssize(groups.first));
  second_ = matrix<double>(rows, std::ssize(groups.second));
  gather(data, groups, threads_, first_, second_);
  if (nans == nan_policy::reject) {
    refuse_nan(first_, groups.first);
    refuse_nan(second_, groups.second);
  }
  find_rows_without_statistic();
}

void difference_walk::find_rows_without_statistic() {
  for (const matrix<double>* const group : {&first_, &second_}) {
    rows_without_statistic found = maker_.look_at(group->view());
    constant_rows_ = joined(constant_rows_, found.constant);
    nan_rows_ = joined(nan_rows_, found.with_nan);
    device_ = std::move(found.device);
  }
  // A row with a NaN in one group may be constant in the other.
  std::vector<index_t> constant;
  std::set_difference(constant_rows_.begin(), constant_rows_.end(), nan_rows_.begin(),
                      nan_rows_.end(), std::back_inserter(constant));
  constant_rows_ = std::move(constant);
}

std::uint64_t difference_walk::family() const {
  const auto without = constant_rows_.size() + nan_rows_.size();
  const auto with = static_cast<std::uint64_t>(rows()) - without;
  return with == 0 ? 0 : with * (with - 1) / 2;
}

differential_summary difference_walk::summary() const {
  return {.rows = rows(),
          .first_cols = first_.cols(),
          .second_cols = second_.cols(),
          .standard_error = standard_error_,
          .constant_rows = constant_rows_,
          .nan_rows = nan_rows_,
          .pairs_tested = family(),
          .device = device_};
}

void difference_walk::fill(const matrix<double>& group, index_range rows, index_range cols,
                           std::vector<double>& out) const {
  maker_.fill(rows_of(group, rows), rows_of(group, cols),
              matrix_view<double>(out.data(), rows.size(), cols.size()));
}

void difference_walk::for_each_block(
    const std::function<void(const statistics_block&)>& body) const {
  const index_t side = std::min(block_rows, rows());
  std::vector<double> first(static_cast<std::size_t>(side * side));
  std::vector<double> second(first.size());
  const auto all = static_cast<std::uint64_t>(rows());
  pair_progress meter(on_progress_, "differential", all == 0 ? 0 : all * (all - 1) / 2);
  for (index_t i = 0; i < rows(); i += block_rows) {
    const index_range panel{i, std::min(i + block_rows, rows())};
    for (index_t j = i; j < rows(); j += block_rows) {
      const index_range cols{j, std::min(j + block_rows, rows())};
      fill(first_, panel, cols, first);
      fill(second_, panel, cols, second);
      body({.rows = panel, .cols = cols, .first = first.data(), .second = second.data()});
      const auto done = static_cast<std::uint64_t>(panel.size());
      meter.advance(i == j ? done * (done - 1) / 2
                           : done * static_cast<std::uint64_t>(cols.size()));
    }
  }
  meter.finish();
}

}  // namespace gpu::inline v0::detail
