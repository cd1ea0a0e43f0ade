#include "cpu/pairs/ranks/rank_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "cpu/pairs/search/packed_search.hpp"
#include "cpu/pairs/search/wide_products.hpp"
#include "stats/statistic.hpp"
#include "stats/unit_rows.hpp"

namespace gpu::cpu {
namespace {

constexpr double two_to_53 = 9007199254740992.0;

// Where every step is moved to doubles by itself, products of doubles take less time than blocks.
constexpr index_t least_block_steps = 2;

// Packing fewer rows for blocks takes longer than to decide their pairs one by one.
constexpr index_t least_block_rows = 8;

// Rows that no limit on memory puts into small windows (limited_row_bytes): always in whole groups.
constexpr index_t most_grouped_cols = 8192;

// Nanoseconds of an exact sum of one pair by itself.
[[nodiscard]] double own_sum_cost(const detail::cpu_costs& cost, index_t cols) {
  return cost.own_rank_pair + static_cast<double>(cols) * cost.own_rank_column;
}

// Columns that are made doubles at a time, and pairs of a row that they serve.
constexpr index_t piece = pair_policy::unit_piece;
constexpr index_t strip = pair_policy::unit_strip;

// What a thread takes to multiply them.
struct strip_memory {
  double* rows;
  double* columns;
  double* sums;
  std::int64_t* dots;
  double* partial;

  static constexpr index_t pairs = pair_policy::block_rows * strip;
  static constexpr index_t beside = (pair_policy::block_rows + strip) * piece + 2 * pairs;

  static constexpr auto doubles = static_cast<std::size_t>(beside + strip_sums);
  explicit strip_memory(pair_scratch& scratch)
      : rows(scratch.strips_of(doubles)),
        columns(rows + pair_policy::block_rows * piece),
        sums(columns + strip * piece),
        dots(reinterpret_cast<std::int64_t*>(sums + pairs)),
        partial(rows + beside) {}
};

// Rounded products leave the pairs that may pass. Statistics of all pairs are exact sums of blocks
// of 16-bit products, or sums of products of doubles, which are exact up to 2^53.
template <class Integer>
class wide_rank_search final : public packed_search {
 public:
  using values = searched_ranks<Integer, double>;

  wide_rank_search(const packed_form& form, const values& ranks, const pair_task& task, int threads,
                   wide_rank_search* earlier)
      : packed_search(form, task, threads, earlier), ranks_(ranks) {
    if (earlier != nullptr) blocks_ = std::move(earlier->blocks_);
    const auto largest = static_cast<double>(cols() - 1);
    const double fitting = two_to_53 / (largest * largest);
    exact_cols_ = fitting >= static_cast<double>(cols())
                      ? cols()
                      : static_cast<index_t>(fitting) / piece * piece;
  }

  void statistics(const pair_tile& tile, pair_scratch& scratch, double* out) const override {
    if (blocks_) {
      blocks_->sums(tile, out);
      return make_statistics(tile, out);
    }
    if (decides_each()) return decide_each(tile, out);
    const strip_memory memory(scratch);
    for (index_t j = tile.col_begin; j < tile.col_end; j += strip) {
      pair_tile part = tile;
      part.col_begin = j;
      part.col_end = std::min(j + strip, tile.col_end);
      statistics_of_strip(part, memory, out + (j - tile.col_begin));
    }
  }

  void upper_statistics(const pair_tile& tile, pair_scratch& scratch, double* out) const override {
    if (!blocks_) return statistics(tile, scratch, out);
    blocks_->upper_sums(tile, out);
    make_statistics(tile, out);
  }

  // Blocks give all statistics in the time of a search.
  [[nodiscard]] bool finds_above() const override {
    return !takes_blocks() && packed_search::finds_above();
  }

 private:
  [[nodiscard]] bool takes_blocks() const {
    return std::is_same_v<Integer, std::int16_t> && size() >= least_block_rows &&
           wide_products::steps_of_ranks(cols()) >= least_block_steps &&
           layout().has_kernel_groups();
  }

  // Sums of integers take less time than fused sums of doubles without vectors of these, or of few.
  [[nodiscard]] bool decides_each() const {
    return kernels().costs.own_rank_column < kernels().costs.float64 || size() < least_block_rows;
  }

  // Statistics from the sums of a block, in their place.
  void make_statistics(const pair_tile& tile, double* sums) const {
    for (index_t i = 0; i < tile.rows(); ++i) {
      double* const row = sums + i * pair_policy::block_cols;
      kernels().rho_of_doubles(row, ranks_.squares.data()[tile.row_begin + i],
                               ranks_.squares.data() + tile.col_begin, tile.cols(), row);
    }
  }

  void decide_each(const pair_tile& tile, double* out) const {
    for (index_t i = tile.row_begin; i < tile.row_end; ++i) {
      double* const row = out + (i - tile.row_begin) * pair_policy::block_cols;
      for (index_t j = tile.col_begin; j < tile.col_end; ++j) row[j - tile.col_begin] = exact(i, j);
    }
  }

  // Columns [begin, end) of rows [first, last), zeros up to whole partial sums; their number.
  index_t make_doubles(index_t first, index_t last, index_t begin, index_t end, double* out) const {
    const index_t padded = round_up(end - begin, index_t{detail::partial_sums});
    for (index_t i = first; i < last; ++i) {
      double* const to = out + (i - first) * piece;
      std::copy(ranks_.row(i) + begin, ranks_.row(i) + end, to);
      std::fill(to + (end - begin), to + padded, 0.0);
    }
    return padded;
  }

  void statistics_of_strip(const pair_tile& tile, const strip_memory& memory, double* out) const {
    const auto pairs = static_cast<std::size_t>(tile.rows() * tile.cols());
    std::fill_n(memory.dots, pairs, 0);
    for (index_t from = 0; from < cols(); from += exact_cols_) {
      const index_t to = std::min(from + exact_cols_, cols());
      for (index_t k = from; k < to; k += piece) {
        const index_t end = std::min(k + piece, to);
        (void)make_doubles(tile.row_begin, tile.row_end, k, end, memory.rows);
        const index_t count = make_doubles(tile.col_begin, tile.col_end, k, end, memory.columns);
        kernels().add_partial_sums(memory.rows, tile.rows(), memory.columns, tile.cols(), piece,
                                   count, tile.rows(), k == from, memory.partial, nullptr);
      }
      kernels().combine_partial_sums(memory.partial, tile.rows(), tile.cols(), memory.sums,
                                     tile.cols());
      for (std::size_t p = 0; p < pairs; ++p) {
        memory.dots[p] += static_cast<std::int64_t>(memory.sums[p]);
      }
    }
    for (std::size_t p = 0; p < pairs; ++p) memory.sums[p] = static_cast<double>(memory.dots[p]);
    for (index_t i = 0; i < tile.rows(); ++i) {
      kernels().rho_of_doubles(
          memory.sums + i * tile.cols(), ranks_.squares.data()[tile.row_begin + i],
          ranks_.squares.data() + tile.col_begin, tile.cols(), out + i * pair_policy::block_cols);
    }
  }

  [[nodiscard]] double exact(index_t row, index_t col) const override {
    std::int64_t dot = 0;
    if constexpr (sizeof(Integer) == 2) {
      dot = kernels().int16_dot(ranks_.row(row), ranks_.row(col), cols());
    } else {
      dot = kernels().int32_dot(ranks_.row(row), ranks_.row(col), cols());
    }
    return detail::rho_of(dot, ranks_.square_sum(row), ranks_.square_sum(col));
  }
  // One form at a time.
  void pack_for_way() override {
    const bool has_blocks = takes_blocks() && !takes_filter() && way() != cpu_pair_way::screen;
    if (!has_blocks) blocks_ = nullptr;
    packed_search::pack_for_way();
    if constexpr (sizeof(Integer) == 2) {
      if (has_blocks && !blocks_ && !keeps_none()) {
        blocks_ = wide_products::of_ranks(kernels(), ranks_.values.data(), ranks_.size(), cols(),
                                          threads());
      }
    }
  }
  [[nodiscard]] std::unique_ptr<pair_filter> make_filter() const override {
    return wide_products::rounded(kernels(), ranks_.values.data(), ranks_.size(), cols(), cols(),
                                  ranks_.lengths.data(), threads());
  }
  [[nodiscard]] row_screen make_screen() const override {
    if constexpr (sizeof(Integer) == 2) {
      return {kernels(), ranks_.values.data(),  ranks_.size(), cols(),
              cols(),    ranks_.lengths.data(), threads()};
    }
    return {};  // longer rows are not screened
  }
  [[nodiscard]] cpu_pair_costs costs() const override {
    const auto columns = static_cast<double>(cols());
    const detail::cpu_costs& cost = kernels().costs;
    const auto steps = static_cast<double>(wide_products::steps_of_ranks(cols()));
    const double of_block = cost.int16 * (cost.block_int16 + cost.block_move / steps);
    const double own_sum = own_sum_cost(cost, cols());
    return {.screen = columns * cost.screen + cost.look,
            .search = columns * cost.int16 * cost.block_int16 + cost.block_filter,
            .every = columns * (takes_blocks() ? of_block : cost.float64) + cost.rho,
            .candidate = cost.candidate + own_sum,
            .decide = own_sum,
            .search_block = 0};
  }

  const values& ranks_;
  std::unique_ptr<wide_products> blocks_;  // exact, where all statistics are asked for
  index_t exact_cols_ = piece;             // whose sums are below 2^53
};

}  // namespace

std::size_t wide_rank_scratch_bytes(index_t cols) {
  if (cols <= most_grouped_cols) return 0;
  return strip_memory::doubles * sizeof(double);
}

template <class Integer>
std::unique_ptr<pair_rows> make_wide_rank_rows(ordinary_ranks<Integer> ranks,
                                               const row_layout& layout) {
  using search = wide_rank_search<Integer>;
  packed_form form{.kernels = usable_pair_kernels(), .layout = layout, .cols = ranks.stride};
  return std::make_unique<searched_rows<search>>(std::move(form),
                                                 typename search::values(std::move(ranks)));
}

template std::unique_ptr<pair_rows> make_wide_rank_rows(ordinary_ranks<std::int16_t>,
                                                        const row_layout&);
template std::unique_ptr<pair_rows> make_wide_rank_rows(ordinary_ranks<std::int32_t>,
                                                        const row_layout&);

}  // namespace gpu::cpu
