#include "api/differential_walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include <gpu/error.hpp>

#include "api/all_pairs_run.hpp"
#include "api/arguments.hpp"
#include "api/pair_call.hpp"
#include "base/parallel.hpp"
#include "pairs/checks.hpp"
#include "pairs/progress.hpp"
#include "pairs/reading/host_rows.hpp"
#include "pairs/tables.hpp"

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

void check_options(const any_table& data, const pair_options& options) {
  if (is_on_device(data)) {
    throw unsupported("data: got a table in device memory, expected host memory");
  }
  if (options.exec.target == backend::cuda) {
    throw unsupported(
        "execution.target: differential correlation is computed on the CPU alone, got cuda, "
        "expected automatic or cpu");
  }
  if (options.nans == nan_policy::pairwise) {
    throw unsupported(
        "options.nans: pairwise is not offered for differential correlation, expected reject or "
        "propagate");
  }
  refuse_columns(options, "for differential correlation");
  if (options.p_method != p_method::t) {
    throw unsupported("options.p_method: p of a difference is that of z, got exact, expected t");
  }
  if (options.part.of != 1 || options.part.index != 0) {
    throw unsupported("options.part: differential correlation takes all pairs, expected the whole");
  }
  if (options.fold == row_folding::always) {
    throw unsupported("options.fold: always is not offered for differential correlation");
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

differential_walk::differential_walk(measure what, const any_table& data,
                                     const column_groups& groups, const pair_options& options)
    : what_(traits_of(what)),
      options_(options),
      on_progress_(options.exec.on_progress),
      threads_(cpu::thread_count(options.exec.cpu_threads)),
      standard_error_(0) {
  check_options(data, options);
  const pair_tables tables{data};
  const auto [rows, cols] =
      std::visit([](const auto& view) { return std::pair{view.rows(), view.cols()}; }, data);
  std::vector<bool> taken(static_cast<std::size_t>(cols));
  check_group("first", groups.first, cols, taken);
  check_group("second", groups.second, cols, taken);
  standard_error_ =
      differential_standard_error(what, std::ssize(groups.first), std::ssize(groups.second));
  options_.exec.target = backend::cpu;
  (void)checked_backend(what_, tables, options_);
  options_.exec.on_progress = {};
  options_.fold = row_folding::never;
  first_ = matrix<double>(rows, std::ssize(groups.first));
  second_ = matrix<double>(rows, std::ssize(groups.second));
  gather(data, groups, threads_, first_, second_);
  if (options.nans == nan_policy::reject) {
    refuse_nan(first_, groups.first);
    refuse_nan(second_, groups.second);
  }
  options_.nans = nan_policy::propagate;
  find_rows_without_statistic();
}

void differential_walk::find_rows_without_statistic() {
  for (const matrix<double>* const group : {&first_, &second_}) {
    const pair_run run(what_, {group->view()}, options_, part_shape::equal_pairs);
    const pair_summary found = run.finish(std::uint64_t{0});
    constant_rows_ = joined(constant_rows_, found.constant_rows);
    nan_rows_ = joined(nan_rows_, found.nan_rows);
    device_ = found.device;
  }
  // A row with a NaN in one group may be constant in the other.
  std::vector<index_t> constant;
  std::set_difference(constant_rows_.begin(), constant_rows_.end(), nan_rows_.begin(),
                      nan_rows_.end(), std::back_inserter(constant));
  constant_rows_ = std::move(constant);
}

std::uint64_t differential_walk::family() const {
  const auto without = constant_rows_.size() + nan_rows_.size();
  const auto with = static_cast<std::uint64_t>(rows()) - without;
  return with == 0 ? 0 : with * (with - 1) / 2;
}

differential_summary differential_walk::summary() const {
  return {.rows = rows(),
          .first_cols = first_.cols(),
          .second_cols = second_.cols(),
          .standard_error = standard_error_,
          .constant_rows = constant_rows_,
          .nan_rows = nan_rows_,
          .pairs_tested = family(),
          .device = device_};
}

void differential_walk::fill(const matrix<double>& group, index_range rows, index_range cols,
                             std::vector<double>& out) const {
  pair_tables tables{rows_of(group, rows)};
  if (rows != cols) tables.y = rows_of(group, cols);
  pair_run run(what_, tables, options_, part_shape::equal_rows);
  run.engine().dense(matrix_view<double>(out.data(), rows.size(), cols.size()));
}

void differential_walk::for_each_block(
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
