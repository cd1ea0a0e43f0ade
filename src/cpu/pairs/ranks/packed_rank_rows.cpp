#include "cpu/pairs/ranks/rank_rows.hpp"

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

// By sums of products of ranks, which fit 32 bits.
template <class Integer>
class packed_rank_search final : public packed_search {
 public:
  using values = searched_ranks<Integer, std::int32_t>;

  packed_rank_search(const packed_form& form, const values& ranks, const pair_task& task,
                     int threads, packed_rank_search* earlier)
      : packed_search(form, task, threads, earlier), ranks_(ranks) {
    if (earlier != nullptr) classes_ = std::move(earlier->classes_);
  }

  [[nodiscard]] std::span<const node_id> count_order() const override { return classes_.order(); }

  void matches(const pair_tile& tile, pair_scratch& scratch, hit_buffer& out) const override {
    const bool selects = cut() && !keeps_none() && way() == cpu_pair_way::every;
    selects ? select(tile, scratch, out) : packed_search::matches(tile, scratch, out);
  }

  std::uint64_t count(const pair_tile& tile, pair_scratch& scratch, std::uint32_t* row_degree,
                      std::uint32_t* col_degree, const pair_bins& bins) const override {
    if (!counts_classes_) {
      return packed_search::count(tile, scratch, row_degree, col_degree, bins);
    }
    const double least = cut()->least;
    return classes_.count(tile, least, cut()->side, form().scales.band_of(least), row_degree,
                          col_degree, bins);
  }

  void statistics(const pair_tile& tile, pair_scratch& scratch, double* out) const override {
    const std::int32_t* const sums =
        this->sums().sums(this->sums().tile_of(tile, scratch), scratch);
    for (index_t i = 0; i < tile.rows(); ++i) {
      const index_t at = i * pair_policy::block_cols;
      kernels().rho(sums + at, static_cast<double>(ranks_.square_sum(tile.row_begin + i)),
                    squares(tile.col_begin), tile.cols(), out + at);
    }
  }

 private:
  void make_ready() override {
    counts_classes_ = task().wanted == pair_task::output::counts && may_count_classes();
    choose();
    counts_classes_ &= way() == cpu_pair_way::every && cut() && cut()->least <= 1;
    if (!counts_classes_) {
      classes_ = {};
      pack_for_way();
    } else if constexpr (sizeof(Integer) == 1) {
      drop_packed();
      if (classes_.is_empty()) {
        classes_ = {kernels(), ranks_.values.data(), cols(), ranks_.square_sums, layout(),
                    threads()};
      }
    }
  }

  [[nodiscard]] double exact(index_t row, index_t col, std::int32_t raw) const override {
    return detail::rho_of(raw, ranks_.square_sum(row), ranks_.square_sum(col));
  }

  [[nodiscard]] double exact(index_t row, index_t col) const override {
    const auto dot = [&](auto by) { return by(ranks_.row(row), ranks_.row(col), cols()); };
    std::int64_t sum = 0;
    if constexpr (sizeof(Integer) == 1) {
      sum = dot(kernels().int8_dot);
    } else {
      sum = dot(kernels().int16_dot);
    }
    return detail::rho_of(sum, ranks_.square_sum(row), ranks_.square_sum(col));
  }

  [[nodiscard]] bool takes_filter() const override { return true; }
  [[nodiscard]] std::unique_ptr<pair_filter> make_filter() const override {
    auto out = std::make_unique<packed_sums>(kernels(), *form().how, size(), cols(), form().scales);
    detail::parallel_for_each(size(), packed_rows_per_task, threads(),
                              [&](index_t i, int) { out->store_row(i, ranks_.row(i)); });
    return out;
  }
  [[nodiscard]] const packed_sums& sums() const {
    return static_cast<const packed_sums&>(*filter());
  }
  [[nodiscard]] const std::int32_t* squares(index_t first) const {
    return ranks_.squares.data() + first;
  }

  [[nodiscard]] cpu_pair_costs costs() const override {
    const auto columns = static_cast<double>(cols());
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

  // The kept pairs of blocks, if most blocks have some.
  void select(const pair_tile& tile, pair_scratch& scratch, hit_buffer& out) const {
    for_each_block(tile, [&](const pair_tile& block) {
      const kernel_tile prepared = this->sums().cut_tile(block, *cut(), scratch);
      const std::int32_t* const sums = this->sums().sums(prepared, scratch);
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
                                  .square_row = static_cast<double>(ranks_.square_sum(row)),
                                  .square_cols = squares(block.col_begin + first),
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
           classed_rows::pays(cols(), ranks_.square_sums);
  }

  [[nodiscard]] row_screen make_screen() const override {
    return {kernels(), ranks_.values.data(),  size(),   cols(),
            cols(),    ranks_.lengths.data(), threads()};
  }

  const values& ranks_;
  bool counts_classes_ = false;
  classed_rows classes_;  // made for that
};

}  // namespace

template <class Integer>
std::unique_ptr<pair_rows> make_packed_rank_rows(ordinary_ranks<Integer> ranks,
                                                 const row_layout& layout) {
  using search = packed_rank_search<Integer>;
  typename search::values values(std::move(ranks));
  packed_form form{.kernels = usable_pair_kernels(),
                   .layout = layout,
                   .cols = values.stride,
                   .how = sizeof(Integer) == 1 ? packing::int8 : packing::int16,
                   .scales = {{values.lengths.begin(), values.lengths.end()}, cut_band, true}};
  return std::make_unique<searched_rows<search>>(std::move(form), std::move(values));
}

template std::unique_ptr<pair_rows> make_packed_rank_rows(ordinary_ranks<std::int8_t>,
                                                          const row_layout&);
template std::unique_ptr<pair_rows> make_packed_rank_rows(ordinary_ranks<std::int16_t>,
                                                          const row_layout&);

}  // namespace gpu::cpu
