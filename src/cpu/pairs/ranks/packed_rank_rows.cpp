#include "cpu/pairs/ranks/packed_rank_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "cpu/pairs/ranks/classed_rows.hpp"
#include "cpu/pairs/search/packed_search.hpp"
#include "stats/statistic.hpp"

namespace gpu::cpu {
namespace {

constexpr index_t packed_rows_per_task = 512;

// Rounding of the float comparison with a cut: the sum, both scales and the margin, 2^-24 each,
// doubled.
constexpr double cut_band = 8 * 0x1p-24;

template <class Integer>
class packed_rank_search;

// By kernels on packed ranks; sums fit 32 bits.
template <class Integer>
class packed_rank_rows final
    : public searched_rows<packed_rank_rows<Integer>, packed_rank_search<Integer>> {
 public:
  packed_rank_rows(const pair_kernels& kernels, ordinary_ranks<Integer> ranks,
                   const row_layout& layout)
      : packed_rank_rows::searched_rows(
            {.kernels = kernels,
             .how = sizeof(Integer) == 1 ? packing::int8 : packing::int16,
             .layout = layout,
             .cols = ranks.stride}),
        ranks_(std::move(ranks)),
        squares_(ranks_.square_sums.begin(), ranks_.square_sums.end()),
        lengths_(ranks_.square_sums.size()) {
    std::vector<float> scales(lengths_.size());
    for (std::size_t i = 0; i < lengths_.size(); ++i) {
      lengths_[i] = std::sqrt(static_cast<double>(ranks_.square_sums[i]));
      scales[i] = static_cast<float>(lengths_[i]);
    }
    this->set_scales({std::move(scales), cut_band, true});
  }

  [[nodiscard]] const ordinary_ranks<Integer>& ranks() const { return ranks_; }
  [[nodiscard]] std::int64_t square_sum(index_t i) const {
    return ranks_.square_sums[static_cast<std::size_t>(i)];
  }
  /// The sums of squares from row `first` on, as the kernels take them.
  [[nodiscard]] const std::int32_t* squares(index_t first) const { return squares_.data() + first; }
  /// Their roots.
  [[nodiscard]] const double* lengths() const { return lengths_.data(); }

 private:
  ordinary_ranks<Integer> ranks_;
  std::vector<std::int32_t> squares_;
  std::vector<double> lengths_;
};

template <class Integer>
class packed_rank_search final : public packed_search {
 public:
  packed_rank_search(const packed_rank_rows<Integer>& rows, const pair_task& task, int threads,
                     packed_rank_search* earlier)
      : packed_search(rows.form(), task, threads, earlier), rows_(rows) {
    if (earlier != nullptr) classes_ = std::move(earlier->classes_);
  }

  [[nodiscard]] std::span<const node_id> count_order() const override { return classes_.order(); }

  std::uint64_t count(const pair_tile& tile, pair_scratch& scratch, std::uint32_t* row_degree,
                      std::uint32_t* col_degree, const pair_bins& bins) const override {
    if (!counts_classes_) {
      return packed_search::count(tile, scratch, row_degree, col_degree, bins);
    }
    return classes_.count(tile, cut()->cut, cut()->side, cut()->band, row_degree, col_degree, bins);
  }

  void statistics(const pair_tile& tile, pair_scratch& scratch, double* out) const override {
    std::int32_t* sums = sums_of(scratch);
    dots().sums(tile_of(tile, scratch), sums, pair_policy::block_cols);
    for (index_t i = 0; i < tile.rows(); ++i) {
      const index_t at = i * pair_policy::block_cols;
      kernels().rho(sums + at, static_cast<double>(rows_.square_sum(tile.row_begin + i)),
                    rows_.squares(tile.col_begin), tile.cols(), out + at);
    }
  }

 private:
  void make_ready() override {
    counts_classes_ = task().wanted == pair_task::output::counts && may_count_classes();
    choose();
    counts_classes_ &= way() == cpu_pair_way::every && cut() && cut()->cut <= 1;
    if (!counts_classes_) {
      classes_ = {};
      pack_for_way();
    } else if constexpr (sizeof(Integer) == 1) {
      drop_packed();
      if (classes_.is_empty()) {
        classes_ = {kernels(), ranks().values.data(), ranks().stride, ranks().square_sums, layout(),
                    threads()};
      }
    }
  }

  [[nodiscard]] double exact(index_t row, index_t col, std::int32_t raw) const override {
    return detail::rho_of(raw, rows_.square_sum(row), rows_.square_sum(col));
  }

  [[nodiscard]] double exact(index_t row, index_t col) const override {
    const Integer* x = ranks().row(row);
    const Integer* y = ranks().row(col);
    if constexpr (sizeof(Integer) == 1) {
      return exact(row, col, kernels().int8_dot(x, y, ranks().stride));
    } else {
      return exact(row, col, kernels().int16_dot(x, y, ranks().stride));
    }
  }

  void pack(packed_columns& columns) const override {
    detail::parallel_for_ranges(size(), packed_rows_per_task, threads(),
                                [&](index_range some, int) {
                                  for (index_t i = some.begin; i < some.end; ++i)
                                    columns.store_row(i, ranks().row(i));
                                });
  }

  [[nodiscard]] cpu_pair_costs costs() const override {
    const auto columns = static_cast<double>(ranks().stride);
    const detail::cpu_costs& cost = kernels().costs;
    const double sums = columns * (sizeof(Integer) == 1 ? cost.int8 : cost.int16) + cost.filter;
    cpu_pair_costs out{.screen = columns * cost.screen + cost.look,
                       .search = sums,
                       .every = sums + cost.select,
                       .candidate = cost.candidate + columns * cost.own_rank_column,
                       .decide = cost.own_rank_pair + columns * cost.own_rank_column};
    if (task().wanted == pair_task::output::counts) {
      out.every = counts_classes_ ? sums : sums + cost.count;
      if (task().bins > 0) out.every += counts_classes_ ? cost.class_bin : cost.bin;
    }
    return out;
  }

  void select(const pair_tile& tile, const kernel_cut& asked, pair_scratch& scratch,
              hit_buffer& out) const override {
    std::int32_t* sums = sums_of(scratch);
    for_each_block(tile, [&](const pair_tile& block) {
      const kernel_tile prepared = cut_tile(block, asked, scratch);
      dots().sums(prepared, sums, pair_policy::block_cols);
      for (index_t i = 0; i < block.rows(); ++i) {
        const index_t row = block.row_begin + i;
        const index_t first = first_upper_column(block, row) - block.col_begin;
        if (first >= block.cols()) continue;
        pair_hit* const hits = out.room_for(block.cols() + hit_padding);
        out.add(kernels().select({.sums = sums + i * pair_policy::block_cols + first,
                                  .count = block.cols() - first,
                                  .row = static_cast<std::uint32_t>(row),
                                  .col = static_cast<std::uint32_t>(block.col_begin + first),
                                  .row_cut = prepared.row_cut[i],
                                  .col_scale = prepared.col_scale + first,
                                  .band = prepared.band,
                                  .sign_flip = prepared.sign_flip,
                                  .sign_keep = prepared.sign_keep,
                                  .square_row = static_cast<double>(rows_.square_sum(row)),
                                  .square_cols = rows_.squares(block.col_begin + first),
                                  .at_least = task().keep.at_least,
                                  .at_most = task().keep.at_most},
                                 hits));
      }
    });
  }

  // Whether loose cuts are counted by classes.
  [[nodiscard]] bool may_count_classes() const {
    // Sorting the columns pays where enough rows meet them.
    return !layout().is_thin() && sizeof(Integer) == 1 && kernels().count_classes != nullptr &&
           classed_rows::pays(ranks().stride, ranks().square_sums);
  }

  [[nodiscard]] row_screen make_screen() const override {
    return {kernels(),      ranks().values.data(), size(),   ranks().stride,
            ranks().stride, rows_.lengths(),       threads()};
  }

  [[nodiscard]] const ordinary_ranks<Integer>& ranks() const { return rows_.ranks(); }

  const packed_rank_rows<Integer>& rows_;
  bool counts_classes_ = false;
  classed_rows classes_;  // made for that
};

}  // namespace

template <class Integer>
std::unique_ptr<pair_rows> make_packed_rank_rows(ordinary_ranks<Integer> ranks,
                                                 const row_layout& layout) {
  return std::make_unique<packed_rank_rows<Integer>>(usable_pair_kernels(), std::move(ranks),
                                                     layout);
}

template std::unique_ptr<pair_rows> make_packed_rank_rows(ordinary_ranks<std::int8_t>,
                                                          const row_layout&);
template std::unique_ptr<pair_rows> make_packed_rank_rows(ordinary_ranks<std::int16_t>,
                                                          const row_layout&);

}  // namespace gpu::cpu
