// Pearson and cosine of rows with missing values.
#include <algorithm>
#include <utility>

#include "base/parallel.hpp"
#include "cpu/pairs/pairwise/pairwise_rows.hpp"
#include "stats/shared_columns.hpp"

namespace gpu::cpu {
namespace {

class pairwise_value_rows final : public counted_pairwise_rows {
 public:
  pairwise_value_rows(double_rows values, index_t rows, index_t cols, const row_options& options)
      : counted_pairwise_rows(rows, cols, options.what.least_shared),
        centre_(options.what.centre),
        least_shared_(options.what.least_shared),
        values_(std::move(values)),
        groups_(static_cast<std::size_t>(round_up(rows, pairwise_lanes) * cols * 2)) {
    const index_t groups = round_up(rows, pairwise_lanes) / pairwise_lanes;
    detail::parallel_for(groups, detail::thread_count(options.threads), [&](index_t group, int) {
      double* const to = groups_.data() + group * cols * 2 * pairwise_lanes;
      std::fill_n(to, cols * 2 * pairwise_lanes, 0.0);
      const index_t first = group * pairwise_lanes;
      for (index_t i = first; i < std::min(rows, first + pairwise_lanes); ++i) {
        pack(i, to + i - first);
      }
    });
    if (take_masks(mask_value_bytes, options.mask_bytes)) {
      const auto count = static_cast<std::size_t>(rows * masks().count());
      row_sums_ = aligned_buffer<double>(count);
      col_sums_ = aligned_buffer<double>(count);
      reduce_to_masks(options.threads);
    }
  }

 private:
  [[nodiscard]] const double* row(index_t i) const { return values_.data() + i * cols(); }

  void pack(index_t i, double* to) {
    const double* const from = row(i);
    set_bits(i, from);
    const detail::shared_row_scale how =
        detail::look_at_row([from](index_t k) { return from[k]; }, cols(), least_shared_, centre_);
    for (index_t k = 0; k < cols(); ++k) {
      to[k * 2 * pairwise_lanes] = detail::shared_value(from[k], how);
      to[(k * 2 + 1) * pairwise_lanes] = from[k] == from[k] ? 1.0 : 0.0;
    }
  }

  void compute(const pair_tile& tile, const double* counts, std::byte*,
               double* out) const override {
    constexpr index_t stride = pair_policy::block_cols;
    // Whole groups of columns: tiles begin with one.
    usable_pair_kernels().pairwise_statistics({.values = groups_.data(),
                                               .cols = cols(),
                                               .centre = centre_,
                                               .first_row = tile.row_begin,
                                               .row_count = tile.rows(),
                                               .first_col = tile.col_begin,
                                               .col_count = round_up(tile.cols(), pairwise_lanes),
                                               .counts = counts,
                                               .out = out,
                                               .stride = stride});
    for (index_t i = 0; i < tile.rows(); ++i) {
      for (index_t j = 0; j < tile.cols(); ++j) {
        double& statistic = out[i * stride + j];
        const double count = counts[i * stride + j];
        if (statistic == statistic || count < static_cast<double>(least_shared_)) continue;
        statistic = decide_carefully(tile.row_begin + i, tile.col_begin + j, count);
      }
    }
  }

  // The sums that a pair of such rows has, in the order of the columns.
  double reduce(index_t i, index_t mask, index_t shared, int /*thread*/) override {
    const double* const values =
        groups_.data() + i / pairwise_lanes * cols() * 2 * pairwise_lanes + i % pairwise_lanes;
    const std::uint64_t* const others = masks().bits(mask);
    double sum = 0;
    double sum_of_squares = 0;
    for (index_t k = 0; k < cols(); ++k) {
      if (!is_there(others, k)) continue;
      const double x = values[k * 2 * pairwise_lanes];
      sum += x;
      sum_of_squares += x * x;
    }
    row_sums_[static_cast<std::size_t>(i * masks().count() + mask)] = sum;
    col_sums_[static_cast<std::size_t>(mask * size() + i)] = sum;
    const auto count = static_cast<double>(shared);
    const double square = detail::shared_variance(sum, sum_of_squares, count, centre_);
    return detail::variance_tells(square, sum_of_squares, count) ? square : 0;
  }

  void visit_by_masks(const pair_tile& tile, mask_row* rows, double* memory, double* out,
                      mask_visitor visit) const override {
    const index_t count = masks().count();
    for (index_t r = 0; r < tile.rows(); ++r) {
      const index_t own = masks().of(rows[r].place);
      double* const counts = memory + r * count;
      for (index_t m = 0; m < count; ++m) {
        counts[m] = static_cast<double>(masks().shared(own, m));
      }
      rows[r].counts = counts;
      rows[r].sums = row_sums_.data() + rows[r].place * count;
      rows[r].col_sums = col_sums_.data() + own * size();
    }
    usable_pair_kernels().mask_values({.values = groups_.data(),
                                       .cols = cols(),
                                       .centre = centre_,
                                       .mask_of = masks().by_row(),
                                       .rows = rows,
                                       .first_row = tile.row_begin,
                                       .row_count = tile.rows(),
                                       .first_col = tile.col_begin,
                                       .col_count = tile.cols(),
                                       .out = out,
                                       .stride = pair_policy::block_cols,
                                       .visit = visit});
  }

  [[nodiscard]] double decide_anew(index_t i, index_t j, index_t shared) const override {
    return decide_carefully(i, j, static_cast<double>(shared));
  }

  struct shared_row {
    const double* own;
    const double* other;
    [[nodiscard]] bool is_shared(index_t k) const {
      return own[k] == own[k] && other[k] == other[k];
    }
    [[nodiscard]] double value(index_t k) const { return own[k]; }
  };
  [[nodiscard]] double decide_carefully(index_t i, index_t j, double count) const {
    const shared_row x{row(i), row(j)};
    const shared_row y{row(j), row(i)};
    return detail::careful_statistic(x, y, cols(), count, centre_);
  }

  detail::row_centre centre_;
  index_t least_shared_;
  double_rows values_;             // [rows, cols], NaN where missing
  aligned_buffer<double> groups_;  // as pairwise_block has them
  // Of the values in the columns that a row shares with the rows of a mask.
  aligned_buffer<double> row_sums_;  // [rows, masks]
  aligned_buffer<double> col_sums_;  // [masks, rows]
};

}  // namespace

std::unique_ptr<pair_rows> make_pairwise_value_rows(double_rows values, index_t rows, index_t cols,
                                                    const row_options& options) {
  return std::make_unique<pairwise_value_rows>(std::move(values), rows, cols, options);
}

}  // namespace gpu::cpu
