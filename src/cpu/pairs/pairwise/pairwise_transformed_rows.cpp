// Measures that transform rows, of rows with missing values: both rows of a pair are transformed in
// the columns that they share, one behind the other without gaps, as complete rows are. So the
// statistic has the bits of a call over these columns alone.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "cpu/pairs/pairwise/pairwise_rows.hpp"
#include "cpu/pairs/rows/unit_row.hpp"
#include "cpu/pairs/unit/transformed_row.hpp"
#include "stats/shared_columns.hpp"
#include "stats/unit_rows.hpp"

namespace gpu::cpu {
namespace {

class pairwise_transformed_rows final : public counted_pairwise_rows {
 public:
  pairwise_transformed_rows(double_rows values, index_t rows, index_t cols,
                            const row_options& options)
      : counted_pairwise_rows(rows, cols, options.min_observations),
        transform_(options.what.transform),
        centre_(options.what.centre),
        stride_(unit_row_stride(cols)),
        values_(std::move(values)),
        whole_(static_cast<std::size_t>(rows * stride_)),
        present_(static_cast<std::size_t>(rows)) {
    const int threads = detail::thread_count(options.threads);
    transformers_.assign(static_cast<std::size_t>(threads), row_transformer(transform_, cols));
    detail::parallel_for(rows, threads, [&](index_t i, int thread) {
      set_bits(i, row(i));
      const index_t there = std::count_if(row(i), row(i) + cols, [](double x) { return x == x; });
      const bool has = make_row(i, bits(i), there, of_thread(thread), whole_.data() + i * stride_);
      present_[static_cast<std::size_t>(i)] = has ? there : none;
    });
    if (take_masks(mask_transformed_bytes(cols), options.mask_bytes)) {
      of_masks_ =
          aligned_buffer<double>(static_cast<std::size_t>(rows * masks().count() * stride_));
      reduce_to_masks(threads);
    }
    transformers_ = {};
  }

  [[nodiscard]] std::size_t kernel_bytes() const override {
    return pairwise_rows::kernel_bytes() + transformed_scratch_bytes(cols());
  }

 private:
  static constexpr index_t none = -1;

  [[nodiscard]] const double* row(index_t i) const { return values_.data() + i * cols(); }
  [[nodiscard]] row_transformer& of_thread(int thread) {
    return transformers_[static_cast<std::size_t>(thread)];
  }
  [[nodiscard]] index_t place_of(index_t mask, index_t i) const {
    return (mask * size() + i) * stride_;
  }

  // The unit row of row i in the `shared` columns that it has and `others` have; false where it has
  // no statistic there.
  bool make_row(index_t i, const std::uint64_t* others, index_t shared, row_transformer& transform,
                double* out) const {
    if (shared < min_observations()) return false;
    const double* const from = row(i);
    const std::uint64_t* const own = bits(i);
    double* to = out;
    for (index_t first = 0; first < cols(); first += 64) {
      for (std::uint64_t left = own[first / 64] & others[first / 64]; left != 0; left &= left - 1) {
        *to++ = from[first + std::countr_zero(left)];
      }
    }
    std::fill(to, out + unit_row_stride(shared), 0.0);
    transform(out, shared);
    return make_unit_row(usable_pair_kernels(), centre_, out, shared) == detail::row_kind::ordinary;
  }

  // Row i in the columns that it shares with `others`: its own row where these are all that it has.
  // Null where it has no statistic there.
  const double* shared_row(index_t i, const std::uint64_t* others, index_t shared,
                           row_transformer& transform, double* memory) const {
    if (present_[static_cast<std::size_t>(i)] == shared) return whole_.data() + i * stride_;
    return make_row(i, others, shared, transform, memory) ? memory : nullptr;
  }

  [[nodiscard]] static double dot(const double* x, const double* y, index_t count) {
    double out = 0;
    usable_pair_kernels().ordered_dots(x, 1, y, 1, unit_row_stride(count), &out, 1, nullptr);
    return out;
  }

  void compute(const pair_tile& tile, const double* counts, std::byte* memory,
               double* out) const override {
    constexpr index_t row_step = pair_policy::block_cols;
    auto* const own = reinterpret_cast<double*>(memory);
    row_transformer transform(transform_, cols());
    for (index_t i = tile.row_begin; i < tile.row_end; ++i) {
      for (index_t j = tile.col_begin; j < tile.col_end; ++j) {
        const index_t at = (i - tile.row_begin) * row_step + j - tile.col_begin;
        const auto shared = static_cast<index_t>(counts[at]);
        out[at] = detail::no_statistic;
        if (shared < min_observations()) continue;
        const double* const x = shared_row(i, bits(j), shared, transform, own);
        if (x == nullptr) continue;
        const double* const y = shared_row(j, bits(i), shared, transform, own + stride_);
        if (y != nullptr) out[at] = detail::clip_correlation(dot(x, y, shared));
      }
    }
  }

  // Unit rows have a sum of squares of 1, whose root divides a product without a rounding.
  double reduce(index_t i, index_t mask, index_t shared, int thread) override {
    return make_row(i, masks().bits(mask), shared, of_thread(thread),
                    of_masks_.data() + place_of(mask, i))
               ? 1
               : 0;
  }

  void visit_by_masks(const pair_tile& tile, mask_row* rows, double* /*memory*/, double* /*out*/,
                      mask_visitor visit) const override {
    for (index_t r = 0; r < tile.rows(); ++r) {
      const mask_row& own = rows[r];
      const index_t mask = masks().of(own.place);
      for (index_t c = 0; c < tile.cols(); ++c) {
        const index_t j = tile.col_begin + c;
        const index_t other = masks().of(j);
        own.out[c] = detail::no_statistic;
        const index_t shared = masks().shared(mask, other);
        if (shared < min_observations()) {
          visit(r, c, 0);
          continue;
        }
        const double xy = dot(of_masks_.data() + place_of(other, own.place),
                              of_masks_.data() + place_of(mask, j), shared);
        if (may_pass(own, other, own.col_roots[j], xy)) visit(r, c, xy);
      }
    }
  }

  // A row whose square is 0 has no statistic there.
  [[nodiscard]] double decide_anew(index_t, index_t, index_t) const override {
    return detail::no_statistic;
  }

  detail::row_transform transform_;
  detail::row_centre centre_;
  index_t stride_;
  double_rows values_;               // [rows, cols], NaN where missing
  aligned_buffer<double> whole_;     // [rows, stride]: the unit row of all that a row has
  std::vector<index_t> present_;     // how many values that is; none where it has no statistic
  aligned_buffer<double> of_masks_;  // [masks, rows, stride]
  std::vector<row_transformer> transformers_;  // of the threads, while the rows are made
};

}  // namespace

std::unique_ptr<pair_rows> make_pairwise_transformed_rows(double_rows values, index_t rows,
                                                          index_t cols,
                                                          const row_options& options) {
  return std::make_unique<pairwise_transformed_rows>(std::move(values), rows, cols, options);
}

}  // namespace gpu::cpu
