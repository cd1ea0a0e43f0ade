// Spearman of rows with missing values: both rows of a pair are ranked anew over the columns they
// share, and the exact sums of these ranks decide.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/parallel.hpp"
#include "cpu/pairs/pairwise/pairwise_rows.hpp"
#include "stats/shared_columns.hpp"
#include "stats/statistic.hpp"

namespace gpu::cpu {
namespace {

class pairwise_rank_rows final : public counted_pairwise_rows {
 public:
  pairwise_rank_rows(const double* values, index_t rows, index_t cols, const row_options& options)
      : counted_pairwise_rows(rows, cols, options.what.least_shared),
        padded_cols_(round_up(cols, index_t{pairwise_rank_padding})),
        order_(static_cast<std::size_t>(rows * cols)),
        present_count_(static_cast<std::size_t>(rows)) {
    if (cols <= most_pairwise_rank_cols) {
      ranks_ = aligned_buffer<std::int16_t>(static_cast<std::size_t>(rows * padded_cols_));
      present_ = aligned_buffer<std::int16_t>(static_cast<std::size_t>(rows * padded_cols_));
      missing_ = aligned_buffer<std::uint16_t>(static_cast<std::size_t>(rows * cols));
    }
    detail::parallel_for(rows, detail::thread_count(options.threads),
                         [&](index_t i, int) { pack(i, values + i * cols); });
    if (cols <= most_mask_rank_cols && take_masks(mask_rank_bytes(cols), options.mask_bytes)) {
      mask_ranks_ =
          aligned_buffer<std::int16_t>(static_cast<std::size_t>(masks().count() * mask_stride()));
      reduce_to_masks(options.threads);
    }
  }

  [[nodiscard]] std::size_t kernel_bytes() const override {
    return pairwise_rows::kernel_bytes() +
           static_cast<std::size_t>(cols()) * 2 * sizeof(std::int32_t);
  }

 private:
  // Columns in the order of their values; of values that are equal, the first has this bit.
  static constexpr std::uint32_t begins_run = std::uint32_t{1} << 31;

  [[nodiscard]] const std::uint32_t* order_of(index_t i) const {
    return order_.data() + i * cols();
  }

  void pack(index_t i, const double* values) {
    set_bits(i, values);
    std::uint32_t* const order = order_.data() + i * cols();
    index_t count = 0;
    for (index_t k = 0; k < cols(); ++k) {
      if (values[k] == values[k]) order[count++] = static_cast<std::uint32_t>(k);
    }
    std::sort(order, order + count,
              [values](std::uint32_t a, std::uint32_t b) { return values[a] < values[b]; });
    present_count_[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(count);
    if (ranks_.data() != nullptr) pack_ranks(i, values, count);
    for (index_t p = count - 1; p >= 0; --p) {
      if (p == 0 || values[order[p]] != values[order[p - 1]]) order[p] |= begins_run;
    }
  }

  void pack_ranks(index_t i, const double* values, index_t count) {
    const std::uint32_t* const order = order_of(i);
    std::int16_t* const ranks = ranks_.data() + i * padded_cols_;
    std::int16_t* const present = present_.data() + i * padded_cols_;
    std::uint16_t* missing = missing_.data() + i * cols();
    std::fill_n(ranks, padded_cols_, std::int16_t{0});
    std::fill_n(present, padded_cols_, std::int16_t{0});
    for (index_t k = 0; k < cols(); ++k) {
      if (values[k] == values[k]) {
        present[k] = -1;
      } else {
        *missing++ = static_cast<std::uint16_t>(k);
      }
    }
    for (index_t begin = 0, end = 0; begin < count; begin = end) {
      while (end < count && values[order[end]] == values[order[begin]]) ++end;
      for (index_t p = begin; p < end; ++p) {
        ranks[order[p]] = static_cast<std::int16_t>(begin + end - count);
      }
    }
  }

  [[nodiscard]] index_t missing_of(index_t i) const {
    return cols() - present_count_[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] bool has_few_missing(index_t i) const {
    return ranks_.data() != nullptr && missing_of(i) <= most_pairwise_missing;
  }
  [[nodiscard]] pairwise_ranks ranks_of(index_t i) const {
    return {.ranks = ranks_.data() + i * padded_cols_,
            .present = present_.data() + i * padded_cols_,
            .missing = missing_.data() + i * cols(),
            .missing_count = missing_of(i)};
  }

  void compute(const pair_tile& tile, const double* counts, std::byte* memory,
               double* out) const override {
    constexpr index_t stride = pair_policy::block_cols;
    const pair_kernels& kernels = usable_pair_kernels();
    auto* const ranks = reinterpret_cast<std::int32_t*>(memory);
    for (index_t r = 0; r < tile.rows(); ++r) {
      const index_t i = tile.row_begin + r;
      const bool row_is_short = has_few_missing(i);
      for (index_t c = 0; c < tile.cols(); ++c) {
        const index_t j = tile.col_begin + c;
        std::int64_t sums[3];
        if (row_is_short && has_few_missing(j)) {
          kernels.pairwise_rank_sums(ranks_of(i), ranks_of(j), padded_cols_, sums);
        } else {
          rank_in_order(i, j, static_cast<index_t>(counts[r * stride + c]), ranks, sums);
        }
        const auto [xy, xx, yy] = sums;
        out[r * stride + c] = detail::rho_or_none(xy, xx, yy);
      }
    }
  }

  // Goes through the values of each row in their order: any number may be missing.
  void rank_in_order(index_t i, index_t j, index_t count, std::int32_t* ranks,
                     std::int64_t (&sums)[3]) const {
    std::int32_t* const x = ranks;
    std::int32_t* const y = ranks + cols();
    rank_shared(i, bits(j), count, x);
    rank_shared(j, bits(i), count, y);
    std::fill(std::begin(sums), std::end(sums), std::int64_t{0});
    for (index_t p = 0; p < present_count_[static_cast<std::size_t>(i)]; ++p) {
      const std::uint32_t k = order_of(i)[p] & ~begins_run;
      if (!is_present(j, k)) continue;
      sums[0] += std::int64_t{x[k]} * y[k];
      sums[1] += std::int64_t{x[k]} * x[k];
      sums[2] += std::int64_t{y[k]} * y[k];
    }
  }

  // Centred ranks of the values of row i in the `count` columns that it shares with other rows;
  // `others` says what these have. Columns that i has and they miss may receive anything.
  template <class Rank>
  void rank_shared(index_t i, const std::uint64_t* others, index_t count, Rank* out) const {
    const std::uint32_t* const order = order_of(i);
    const auto values = static_cast<index_t>(present_count_[static_cast<std::size_t>(i)]);
    index_t below = 0;
    for (index_t begin = 0; begin < values;) {
      index_t end = begin;
      index_t run = 0;
      do {
        if (is_there(others, order[end] & ~begins_run)) ++run;
        ++end;
      } while (end < values && (order[end] & begins_run) == 0);
      for (index_t p = begin; p < end; ++p) {
        out[order[p] & ~begins_run] = static_cast<Rank>(2 * below + run - count);
      }
      below += run;
      begin = end;
    }
  }

  [[nodiscard]] index_t mask_stride() const { return size() * padded_cols_; }

  double reduce(index_t i, index_t mask, index_t shared, int /*thread*/) override {
    std::int16_t* const ranks = mask_ranks_.data() + mask * mask_stride() + i * padded_cols_;
    const std::uint64_t* const others = masks().bits(mask);
    // A value that falls out moves the ranks of those on either side of it.
    const std::int16_t* const own = ranks_.data() + i * padded_cols_;
    const std::int16_t* const present = present_.data() + i * padded_cols_;
    const index_t fallen = cols() - missing_of(i) - shared;
    if (fallen <= most_pairwise_missing) {
      std::copy_n(own, padded_cols_, ranks);
      for (index_t k = 0; k < cols(); ++k) {
        if (is_there(others, k) || present[k] == 0) continue;
        const std::int16_t bar = own[k];
        for (index_t l = 0; l < padded_cols_; ++l) {
          ranks[l] =
              static_cast<std::int16_t>(ranks[l] + (own[l] < bar ? 1 : 0) - (own[l] > bar ? 1 : 0));
        }
      }
    } else {
      std::fill_n(ranks, padded_cols_, std::int16_t{0});
      rank_shared(i, others, shared, ranks);
    }
    std::int64_t square = 0;
    for (index_t k = 0; k < cols(); ++k) {
      if (!is_there(others, k) || present[k] == 0) ranks[k] = 0;
      square += std::int64_t{ranks[k]} * ranks[k];
    }
    std::fill(ranks + cols(), ranks + padded_cols_, std::int16_t{0});
    return static_cast<double>(square);
  }

  void visit_by_masks(const pair_tile& tile, mask_row* rows, double*, double*,
                      mask_visitor visit) const override {
    std::uint16_t order[pair_policy::block_cols];
    std::iota(order, order + tile.cols(), std::uint16_t{0});
    std::sort(order, order + tile.cols(), [&](index_t a, index_t b) {
      const index_t of_a = masks().of(tile.col_begin + a);
      const index_t of_b = masks().of(tile.col_begin + b);
      return of_a < of_b || (of_a == of_b && a < b);
    });
    usable_pair_kernels().mask_ranks({.ranks = mask_ranks_.data(),
                                      .pitch = padded_cols_,
                                      .mask_stride = mask_stride(),
                                      .mask_of = masks().by_row(),
                                      .rows = rows,
                                      .row_count = tile.rows(),
                                      .first_col = tile.col_begin,
                                      .col_count = tile.cols(),
                                      .col_order = order,
                                      .visit = visit});
  }

  // A row is constant on what it shares.
  [[nodiscard]] double decide_anew(index_t, index_t, index_t) const override {
    return detail::no_statistic;
  }

  index_t padded_cols_;
  aligned_buffer<std::uint32_t> order_;       // [rows, cols]
  std::vector<std::uint32_t> present_count_;  // [rows]
  // Of rows that pairwise_rank_sums takes; else empty.
  aligned_buffer<std::int16_t> ranks_;       // [rows, padded_cols_]
  aligned_buffer<std::int16_t> present_;     // [rows, padded_cols_]
  aligned_buffer<std::uint16_t> missing_;    // [rows, cols]
  aligned_buffer<std::int16_t> mask_ranks_;  // as mask_rank_block has them, or empty
};

}  // namespace

std::unique_ptr<pair_rows> make_pairwise_rank_rows(const double* values, index_t rows, index_t cols,
                                                   const row_options& options) {
  return std::make_unique<pairwise_rank_rows>(values, rows, cols, options);
}

}  // namespace gpu::cpu
