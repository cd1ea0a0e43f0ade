// Pearson's rows on the CPU: centred and scaled doubles, dot products in the fixed order of
// stats/pearson_order.hpp.
#include <algorithm>
#include <cstdint>
#include <variant>

#include "cpu/pair_rows.hpp"
#include "cpu/parallel.hpp"
#include "stats/pearson_order.hpp"
#include "validate/pair_checks.hpp"

namespace gpu::cpu {
namespace {

constexpr index_t cols_padding = detail::partial_sums;
constexpr index_t rows_per_task = 256;

class pearson_rows final : public pair_rows {
 public:
  template <class T>
  pearson_rows(const matrix_view<const T>& data, const std::vector<index_t>& nan_rows, int threads,
               row_preparation& found)
      : stride_((data.cols() + cols_padding - 1) / cols_padding * cols_padding),
        values_(static_cast<std::size_t>(data.rows() * stride_)) {
    std::vector<detail::row_kind> kinds(static_cast<std::size_t>(data.rows()));
    const index_t tasks = (data.rows() + rows_per_task - 1) / rows_per_task;
    parallel_for(tasks, thread_count(threads), [&](index_t task, int) {
      const index_t end = std::min(data.rows(), (task + 1) * rows_per_task);
      for (index_t i = task * rows_per_task; i < end; ++i) {
        double* row = row_of(i);
        std::fill(std::copy_n(data.row(i), data.cols(), row), row + stride_, 0.0);
        kinds[static_cast<std::size_t>(i)] = detail::scale_pearson_row(row, data.cols(), row);
      }
    });
    keep_ordinary_rows(kinds, nan_rows, found);
  }

  [[nodiscard]] index_t size() const override { return size_; }

  void statistics(const pair_tile& tile, pair_scratch&, double* out) const override {
    for (index_t i = tile.row_begin; i < tile.row_end; ++i) {
      double* row = out + (i - tile.row_begin) * pair_policy::block_cols;
      for (index_t j = tile.col_begin; j < tile.col_end; ++j) {
        row[j - tile.col_begin] = detail::clip_correlation(detail::ordered_dot(
            stride_, [x = row_of(i)](index_t k) { return x[k]; },
            [y = row_of(j)](index_t k) { return y[k]; }));
      }
    }
  }

 private:
  [[nodiscard]] double* row_of(index_t i) { return values_.data() + i * stride_; }
  [[nodiscard]] const double* row_of(index_t i) const { return values_.data() + i * stride_; }

  // Moves the rows that have a statistic together.
  void keep_ordinary_rows(const std::vector<detail::row_kind>& kinds,
                          const std::vector<index_t>& nan_rows, row_preparation& found) {
    auto next_nan = nan_rows.begin();
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      const auto row = static_cast<index_t>(i);
      if (next_nan != nan_rows.end() && *next_nan == row) {
        ++next_nan;
        continue;
      }
      if (kinds[i] != detail::row_kind::ordinary) {
        found.constant_rows.push_back(row);
        continue;
      }
      if (size_ != row) std::copy_n(row_of(row), stride_, row_of(size_));
      found.original.push_back(static_cast<node_id>(row));
      ++size_;
    }
  }

  index_t stride_;
  index_t size_ = 0;
  aligned_buffer<double> values_;
};

}  // namespace

row_preparation prepare_pearson_rows(const detail::any_matrix_view& data,
                                     const pair_options& options, pair_variant) {
  row_preparation found;
  const int threads = options.exec.cpu_threads;
  found.nan_rows = validate::find_nan_rows(data, threads);
  std::visit(
      [&](const auto& view) {
        found.rows = std::make_unique<pearson_rows>(view, found.nan_rows, threads, found);
      },
      data);
  return found;
}

}  // namespace gpu::cpu
