// Spearman's rows on the CPU: centred doubled ranks, exact integer dot products.
#include <algorithm>
#include <cstdint>
#include <variant>

#include "cpu/centred_ranks.hpp"
#include "cpu/pair_rows.hpp"
#include "cpu/parallel.hpp"
#include "stats/statistic.hpp"
#include "validate/pair_checks.hpp"

namespace gpu::cpu {
namespace {

constexpr index_t cols_padding = 64;

// Largest |sum| that a dot product of `cols` centred ranks takes is cols (cols^2 - 1) / 3.
constexpr index_t most_cols_of_int32_sums = 1860;

// The textbook: one pair at a time.
template <class Integer>
std::int64_t naive_dot(const Integer* x, const Integer* y, index_t cols) {
  std::int64_t sum = 0;
  for (index_t k = 0; k < cols; ++k) sum += std::int64_t{x[k]} * y[k];
  return sum;
}

template <class Integer, class Sum>
std::int64_t tiled_dot(const Integer* x, const Integer* y, index_t cols) {
  Sum sum = 0;
  for (index_t k = 0; k < cols; ++k) sum += static_cast<Sum>(Sum{x[k]} * Sum{y[k]});
  return sum;
}

template <class Integer>
class spearman_rows final : public pair_rows {
 public:
  template <class T>
  spearman_rows(const matrix_view<const T>& data, const std::vector<index_t>& nan_rows, int threads,
                pair_variant variant, row_preparation& found)
      : cols_(data.cols()),
        stride_((data.cols() + cols_padding - 1) / cols_padding * cols_padding),
        ranks_(static_cast<std::size_t>(data.rows() * stride_)),
        square_sums_(static_cast<std::size_t>(data.rows())),
        naive_(variant == pair_variant::naive) {
    const matrix_view<Integer> ranks{ranks_.data(), data.rows(), stride_, stride_};
    if (data.rows() > 0) centred_ranks(data, ranks, square_sums_.data(), threads);
    keep_ordinary_rows(data.rows(), nan_rows, found);
  }

  [[nodiscard]] index_t size() const override { return static_cast<index_t>(square_sums_.size()); }

  void statistics(const pair_tile& tile, pair_scratch&, double* out) const override {
    for (index_t i = tile.row_begin; i < tile.row_end; ++i) {
      double* row = out + (i - tile.row_begin) * pair_policy::block_cols;
      for (index_t j = tile.col_begin; j < tile.col_end; ++j) {
        row[j - tile.col_begin] =
            detail::rho_of(dot(row_of(i), row_of(j)), square_sum(i), square_sum(j));
      }
    }
  }

 private:
  [[nodiscard]] const Integer* row_of(index_t i) const { return ranks_.data() + i * stride_; }
  [[nodiscard]] std::int64_t square_sum(index_t i) const {
    return square_sums_[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] std::int64_t dot(const Integer* x, const Integer* y) const {
    if (naive_) return naive_dot(x, y, cols_);
    return cols_ <= most_cols_of_int32_sums ? tiled_dot<Integer, std::int32_t>(x, y, stride_)
                                            : tiled_dot<Integer, std::int64_t>(x, y, stride_);
  }

  // Moves the rows that have a statistic together.
  void keep_ordinary_rows(index_t rows, const std::vector<index_t>& nan_rows,
                          row_preparation& found) {
    auto next_nan = nan_rows.begin();
    index_t packed = 0;
    for (index_t i = 0; i < rows; ++i) {
      if (next_nan != nan_rows.end() && *next_nan == i) {
        ++next_nan;
        continue;
      }
      if (square_sum(i) == 0) {
        found.constant_rows.push_back(i);
        continue;
      }
      if (packed != i) {
        std::copy_n(row_of(i), stride_, ranks_.data() + packed * stride_);
        square_sums_[static_cast<std::size_t>(packed)] = square_sum(i);
      }
      found.original.push_back(static_cast<node_id>(i));
      ++packed;
    }
    square_sums_.resize(static_cast<std::size_t>(packed));
  }

  index_t cols_;
  index_t stride_;
  aligned_buffer<Integer> ranks_;
  std::vector<std::int64_t> square_sums_;
  bool naive_;
};

}  // namespace

row_preparation prepare_spearman_rows(const detail::any_matrix_view& data,
                                      const pair_options& options, pair_variant variant) {
  row_preparation found;
  const int threads = options.exec.cpu_threads;
  found.nan_rows = validate::find_nan_rows(data, threads);
  std::visit(
      [&](const auto& view) {
        const auto make = [&]<class Integer>(Integer) {
          found.rows = std::make_unique<spearman_rows<Integer>>(view, found.nan_rows, threads,
                                                                variant, found);
        };
        if (view.cols() <= 128) {
          make(std::int8_t{});
        } else if (view.cols() <= 32768) {
          make(std::int16_t{});
        } else {
          make(std::int32_t{});
        }
      },
      data);
  return found;
}

}  // namespace gpu::cpu
