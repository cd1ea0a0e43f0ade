// Spearman's rows on the CPU: centred doubled ranks, exact integer dot products.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <variant>

#include "base/parallel.hpp"
#include "cpu/pairs/rows/classed_rows.hpp"
#include "cpu/pairs/rows/packed_rows.hpp"
#include "cpu/pairs/rows/pair_rows.hpp"
#include "cpu/pairs/rows/ranked_source.hpp"
#include "cpu/rank/centred_ranks.hpp"
#include "pairs/checks.hpp"
#include "pairs/equal_rows.hpp"
#include "stats/statistic.hpp"

namespace gpu::cpu {
namespace {

constexpr index_t rows_per_task = 4096;
constexpr index_t serial_elements = 1 << 17;  // ranked in less time than threads take to wake

// Rounding of the float filter: the sum, both scales and the margin, 2^-24 each, doubled.
constexpr double filter_band = 8 * 0x1p-24;

template <class Integer, class T>
ordinary_ranks<Integer> rank_ordinary_rows(const matrix_view<const T>& data, int threads,
                                           row_preparation& found) {
  ordinary_ranks<Integer> out;
  out.stride = data.cols();
  out.values = aligned_buffer<Integer>(static_cast<std::size_t>(data.rows() * out.stride));
  out.square_sums.resize(static_cast<std::size_t>(data.rows()));
  if (data.rows() > 0) {
    const matrix_view<Integer> ranks{out.values.data(), data.rows(), out.stride};
    const bool is_small = data.rows() * data.cols() < serial_elements;
    centred_ranks(data, ranks, out.square_sums.data(), is_small ? 1 : threads);
  }
  row_inspector inspector(found);
  index_t packed = 0;
  for (index_t i = 0; i < data.rows(); ++i) {
    const std::int64_t square_sum = out.square_sums[static_cast<std::size_t>(i)];
    if (!inspector.admits(i, square_sum != 0)) continue;
    if (packed != i) {
      std::copy_n(out.row(i), out.stride, out.values.data() + packed * out.stride);
      out.square_sums[static_cast<std::size_t>(packed)] = square_sum;
    }
    found.original.push_back(static_cast<node_id>(i));
    ++packed;
  }
  out.square_sums.resize(static_cast<std::size_t>(packed));
  return out;
}

// Leaves one row of each pattern, where that pays.
template <class Integer>
void fold_rows(ordinary_ranks<Integer>& ranks, index_t input_rows, const row_options& options,
               row_preparation& found) {
  const auto row_bytes = static_cast<std::size_t>(ranks.stride) * sizeof(Integer);
  const byte_rows rows{reinterpret_cast<const std::byte*>(ranks.values.data()), row_bytes,
                       ranks.size()};
  std::optional<row_patterns> patterns =
      find_patterns(rows, options.most_pattern_share, options.threads);
  if (!patterns) return;
  for (index_t p = 0; p < patterns->size(); ++p) {
    const node_id first = patterns->members_of(static_cast<node_id>(p)).front();  // not before p
    if (first == p) continue;
    std::copy_n(ranks.row(first), ranks.stride, ranks.values.data() + p * ranks.stride);
    ranks.square_sums[static_cast<std::size_t>(p)] = ranks.square_sums[first];
  }
  ranks.square_sums.resize(static_cast<std::size_t>(patterns->size()));
  found.patterns = renumber_rows(std::move(*patterns), found.original, input_rows);
  found.original.resize(ranks.square_sums.size());
  std::iota(found.original.begin(), found.original.end(), node_id{0});
}

// One pair at a time, in 64 bits: the naive variant, and columns too long for 32-bit sums.
template <class Integer>
class plain_spearman_rows final : public pair_rows {
 public:
  explicit plain_spearman_rows(ordinary_ranks<Integer> ranks) : ranks_(std::move(ranks)) {}

  [[nodiscard]] index_t size() const override { return ranks_.size(); }

  void statistics(const pair_tile& tile, pair_scratch&, double* out) const override {
    for (index_t i = tile.row_begin; i < tile.row_end; ++i) {
      double* row = out + (i - tile.row_begin) * pair_policy::block_cols;
      for (index_t j = tile.col_begin; j < tile.col_end; ++j) {
        row[j - tile.col_begin] = detail::rho_of(dot(i, j), square_sum(i), square_sum(j));
      }
    }
  }

 private:
  [[nodiscard]] std::int64_t square_sum(index_t i) const {
    return ranks_.square_sums[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] std::int64_t dot(index_t i, index_t j) const {
    const Integer* x = ranks_.row(i);
    const Integer* y = ranks_.row(j);
    std::int64_t sum = 0;
    for (index_t k = 0; k < ranks_.stride; ++k) sum += std::int64_t{x[k]} * y[k];
    return sum;
  }

  ordinary_ranks<Integer> ranks_;
};

// By kernels on packed ranks; sums fit 32 bits.
template <class Integer>
class packed_spearman_rows final : public packed_rows {
 public:
  // The first `split` rows and the others meet each other alone, unless they are all.
  packed_spearman_rows(const pair_kernels& kernels, ordinary_ranks<Integer> ranks, index_t split,
                       int threads)
      : packed_rows(kernels, how, ranks.size(), ranks.stride),
        ranks_(std::move(ranks)),
        lengths_(ranks_.square_sums.size()),
        split_(split),
        threads_(threads) {
    std::vector<float> scales(lengths_.size());
    for (std::size_t i = 0; i < lengths_.size(); ++i) {
      lengths_[i] = std::sqrt(static_cast<double>(ranks_.square_sums[i]));
      scales[i] = static_cast<float>(lengths_[i]);
    }
    set_scales(std::move(scales), filter_band, true);
  }

  void prepare(const pair_task& task) override {
    counts_classes_ = task.wanted == pair_task::output::counts && may_count_classes();
    choose(task);
    filter asked;
    counts_classes_ &=
        rung() == cpu_pair_rung::every && make_filter(task.keep, asked) && asked.cut <= 1;
    if (!counts_classes_) {
      classes_ = {};
      pack_for_rung();
    } else if constexpr (sizeof(Integer) == 1) {
      drop_packed();
      if (classes_.is_empty()) {
        classes_ = {kernels(), ranks_.values.data(),  ranks_.stride, ranks_.square_sums,
                    split_,    thread_count(threads_)};
      }
    }
    if (squares_.empty()) squares_.assign(ranks_.square_sums.begin(), ranks_.square_sums.end());
  }

  [[nodiscard]] std::span<const node_id> count_order() const override { return classes_.order(); }

  std::uint64_t count(const pair_tile& tile, const detail::keep_range& keep, pair_scratch& scratch,
                      std::uint32_t* row_degree, std::uint32_t* col_degree,
                      const pair_bins& bins) const override {
    filter asked;
    if (!counts_classes_ || !make_filter(keep, asked)) {
      return packed_rows::count(tile, keep, scratch, row_degree, col_degree, bins);
    }
    return classes_.count(tile, asked.cut, asked.side, asked.band, row_degree, col_degree, bins);
  }

  void statistics(const pair_tile& tile, pair_scratch& scratch, double* out) const override {
    std::int32_t* sums = sums_of(scratch);
    dots().sums(tile_of(tile, scratch), sums, pair_policy::block_cols);
    for (index_t i = 0; i < tile.rows(); ++i) {
      const index_t at = i * pair_policy::block_cols;
      kernels().rho(sums + at, static_cast<double>(square_sum(tile.row_begin + i)),
                    squares_.data() + tile.col_begin, tile.cols(), out + at);
    }
  }

 private:
  static constexpr packing how = sizeof(Integer) == 1 ? packing::int8 : packing::int16;

  [[nodiscard]] double exact(index_t row, index_t col, std::int32_t raw) const override {
    return detail::rho_of(raw, square_sum(row), square_sum(col));
  }

  [[nodiscard]] double exact(index_t row, index_t col) const override {
    const Integer* x = ranks_.row(row);
    const Integer* y = ranks_.row(col);
    if constexpr (sizeof(Integer) == 1) {
      return exact(row, col, kernels().int8_dot(x, y, ranks_.stride));
    } else {
      return exact(row, col, kernels().int16_dot(x, y, ranks_.stride));
    }
  }

  void pack(packed_columns& columns) const override {
    const index_t tasks = (size() + rows_per_task - 1) / rows_per_task;
    parallel_for(tasks, thread_count(threads_), [&](index_t task, int) {
      const index_t end = std::min(size(), (task + 1) * rows_per_task);
      for (index_t i = task * rows_per_task; i < end; ++i) columns.store_row(i, ranks_.row(i));
    });
  }

  [[nodiscard]] cpu_pair_costs costs(const pair_task& task) const override {
    const auto columns = static_cast<double>(ranks_.stride);
    const pair_speed& speed = kernels().speed;
    const double sums = columns * (how == packing::int8 ? speed.int8 : speed.int16) + speed.filter;
    cpu_pair_costs out{.screen = columns * speed.screen,
                       .search = sums,
                       .every = sums + speed.select,
                       .decide = 15 + columns * 0.1};
    if (task.wanted == pair_task::output::counts) {
      out.every = counts_classes_ ? columns * speed.int8 : 1.4 * sums;
      if (task.bins > 0) out.every += counts_classes_ ? 1 : 4;
    }
    return out;
  }

  void select(const pair_tile& tile, const detail::keep_range& keep, const filter& asked,
              pair_scratch& scratch, hit_buffer& out) const override {
    std::int32_t* sums = sums_of(scratch);
    for_each_block(tile, [&](const pair_tile& block) {
      const kernel_tile prepared = filter_tile(block, asked, scratch);
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
                                  .square_row = static_cast<double>(square_sum(row)),
                                  .square_cols = squares_.data() + block.col_begin + first,
                                  .at_least = keep.at_least,
                                  .at_most = keep.at_most},
                                 hits));
      }
    });
  }

  // Whether loose cuts are counted by classes.
  [[nodiscard]] bool may_count_classes() const {
    return sizeof(Integer) == 1 && kernels().count_classes != nullptr &&
           classed_rows::pays(ranks_.stride, ranks_.square_sums);
  }

  [[nodiscard]] row_screen make_screen() const override {
    return {kernels(),     ranks_.values.data(), size(),  ranks_.stride,
            ranks_.stride, lengths_.data(),      threads_};
  }

  [[nodiscard]] std::int64_t square_sum(index_t i) const {
    return ranks_.square_sums[static_cast<std::size_t>(i)];
  }

  ordinary_ranks<Integer> ranks_;
  std::vector<std::int32_t> squares_;  // the sums of squares, as the kernels take them
  std::vector<double> lengths_;        // their roots
  bool counts_classes_ = false;        // the counts that were prepared for
  classed_rows classes_;               // made for them
  index_t split_;
  int threads_;
};

// The rows of ranks of one type: packed, or as they are where sums do not fit 32 bits or the naive
// variant was asked for.
template <class Integer>
struct row_maker {
  bool packs;
  int threads;

  std::unique_ptr<pair_rows> operator()(ordinary_ranks<Integer> ranks, index_t split) const {
    if constexpr (sizeof(Integer) <= 2) {
      if (packs) {
        return std::make_unique<packed_spearman_rows<Integer>>(usable_pair_kernels(),
                                                               std::move(ranks), split, threads);
      }
    }
    return std::make_unique<plain_spearman_rows<Integer>>(std::move(ranks));
  }
};

template <class T>
void make_rows(const matrix_view<const T>& data, const row_options& options,
               row_preparation& found) {
  const auto make = [&]<class Integer>(Integer, bool packs) {
    const row_maker<Integer> maker{.packs = packs, .threads = options.threads};
    if (options.in_windows) {
      found.source = make_ranked_source<Integer>(data, options, maker, found);
      return;
    }
    auto ranks = rank_ordinary_rows<Integer>(data, options.threads, found);
    if (options.looks_for_patterns) fold_rows(ranks, data.rows(), options, found);
    const index_t all = ranks.size();
    found.rows = maker(std::move(ranks), all);
  };
  if (data.cols() > pair_policy::most_int16_cols) return make(std::int32_t{}, false);
  if (options.variant == pair_variant::naive || data.cols() > pair_policy::most_packed_cols) {
    return make(std::int16_t{}, false);
  }
  const bool takes_int8 =
      data.cols() <= pair_policy::most_int8_cols && usable_pair_kernels().int8.search;
  return takes_int8 ? make(std::int8_t{}, true) : make(std::int16_t{}, true);
}

}  // namespace

row_preparation prepare_spearman_rows(const detail::any_matrix_view& data,
                                      const row_options& options) {
  row_preparation found;
  found.nan_rows = validate::find_nan_rows({data}, options.threads);
  validate::refuse_nans({data}, found.nan_rows, options.nans);
  std::visit([&](const auto& view) { make_rows(view, options, found); }, data);
  return found;
}

}  // namespace gpu::cpu
