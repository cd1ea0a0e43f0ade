#include "cpu/pairs/wide/wide_rank_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "cpu/pairs/wide/wide_products.hpp"
#include "cpu/pairs/wide/wide_search.hpp"
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

// Ranks with what the forms below need of them.
template <class Integer>
class wide_ranks {
 public:
  explicit wide_ranks(ordinary_ranks<Integer> ranks) : ranks_(std::move(ranks)) {
    for (const std::int64_t sum : ranks_.square_sums) {
      squares_.push_back(static_cast<double>(sum));
      lengths_.push_back(std::sqrt(static_cast<double>(sum)));
    }
  }

  [[nodiscard]] index_t size() const { return ranks_.size(); }
  [[nodiscard]] index_t cols() const { return ranks_.stride; }
  [[nodiscard]] const Integer* values() const { return ranks_.values.data(); }
  [[nodiscard]] const Integer* row(index_t i) const { return ranks_.row(i); }
  [[nodiscard]] const double* lengths() const { return lengths_.data(); }
  /// Sums of squares, as doubles: rounded as rho_of rounds them.
  [[nodiscard]] const double* squares() const { return squares_.data(); }

  [[nodiscard]] double rho(const pair_kernels& kernels, index_t row, index_t col) const {
    const auto square = [&](index_t i) { return ranks_.square_sums[static_cast<std::size_t>(i)]; };
    std::int64_t dot = 0;
    if constexpr (sizeof(Integer) == 2) {
      dot = kernels.long_int16_dot(this->row(row), this->row(col), cols());
    } else {
      dot = kernels.long_int32_dot(this->row(row), this->row(col), cols());
    }
    return detail::rho_of(dot, square(row), square(col));
  }

 private:
  ordinary_ranks<Integer> ranks_;
  std::vector<double> squares_;
  std::vector<double> lengths_;
};

[[nodiscard]] row_screen screen_of(const pair_kernels& kernels, const wide_ranks<std::int16_t>& of,
                                   int threads) {
  return {kernels, of.values(), of.size(), of.cols(), of.cols(), of.lengths(), threads};
}

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

template <class Integer>
class wide_rank_search;

// Immutable rows of ranks.
template <class Integer>
class wide_rank_rows final
    : public searched_rows<wide_rank_rows<Integer>, wide_rank_search<Integer>> {
 public:
  wide_rank_rows(ordinary_ranks<Integer> ranks, const row_layout& layout)
      : wide_rank_rows::searched_rows({.kernels = usable_pair_kernels(),
                                       .how = packing::int16,
                                       .layout = layout,
                                       .cols = ranks.stride}),
        ranks_(std::move(ranks)) {}

  [[nodiscard]] const wide_ranks<Integer>& ranks() const { return ranks_; }

 private:
  wide_ranks<Integer> ranks_;
};

// Rounded products leave the pairs that may pass. Statistics of all pairs are exact sums of blocks
// of 16-bit products, or sums of products of doubles, which are exact up to 2^53.
template <class Integer>
class wide_rank_search final : public wide_search {
 public:
  wide_rank_search(const wide_rank_rows<Integer>& rows, const pair_task& task, int threads,
                   wide_rank_search* earlier)
      : wide_search(rows.form(), task, threads, earlier), ranks_(rows.ranks()) {
    if (earlier != nullptr) blocks_ = std::move(earlier->blocks_);
    const auto largest = static_cast<double>(cols() - 1);
    const double fitting = two_to_53 / (largest * largest);
    exact_cols_ = fitting >= static_cast<double>(cols())
                      ? cols()
                      : static_cast<index_t>(fitting) / piece * piece;
  }

  void statistics(const pair_tile& tile, pair_scratch& scratch, double* out) const override {
    if (!blocks_.is_empty()) {
      blocks_.sums(tile, out);
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
    if (blocks_.is_empty()) return statistics(tile, scratch, out);
    blocks_.upper_sums(tile, out);
    make_statistics(tile, out);
  }

  // Blocks give all statistics in the time of a search.
  [[nodiscard]] bool finds_above() const override {
    return !takes_blocks() && wide_search::finds_above();
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
      kernels().rho_of_doubles(row, ranks_.squares()[tile.row_begin + i],
                               ranks_.squares() + tile.col_begin, tile.cols(), row);
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
                                   count, tile.rows(), k == from, memory.partial);
      }
      kernels().combine_partial_sums(memory.partial, tile.rows(), tile.cols(), memory.sums,
                                     tile.cols());
      for (std::size_t p = 0; p < pairs; ++p) {
        memory.dots[p] += static_cast<std::int64_t>(memory.sums[p]);
      }
    }
    for (std::size_t p = 0; p < pairs; ++p) memory.sums[p] = static_cast<double>(memory.dots[p]);
    for (index_t i = 0; i < tile.rows(); ++i) {
      kernels().rho_of_doubles(memory.sums + i * tile.cols(), ranks_.squares()[tile.row_begin + i],
                               ranks_.squares() + tile.col_begin, tile.cols(),
                               out + i * pair_policy::block_cols);
    }
  }

  using wide_search::exact;
  [[nodiscard]] double exact(index_t row, index_t col) const override {
    return ranks_.rho(kernels(), row, col);
  }
  // One form at a time.
  void pack_sums() override {
    if (!takes_blocks() || searches()) {
      blocks_ = {};
      return wide_search::pack_sums();
    }
    wide_search::drop_sums();
    if (!blocks_.is_empty()) return;
    if constexpr (sizeof(Integer) == 2) {
      blocks_ =
          wide_products::of_ranks(kernels(), ranks_.values(), ranks_.size(), cols(), threads());
    }
  }
  void drop_sums() override {
    blocks_ = {};
    wide_search::drop_sums();
  }
  [[nodiscard]] wide_products make_products() const override {
    return wide_products::rounded(kernels(), ranks_.values(), ranks_.size(), cols(), cols(),
                                  ranks_.lengths(), threads());
  }
  [[nodiscard]] row_screen make_screen() const override {
    if constexpr (sizeof(Integer) == 2) return screen_of(kernels(), ranks_, threads());
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

  const wide_ranks<Integer>& ranks_;
  wide_products blocks_;        // exact, where all statistics are asked for
  index_t exact_cols_ = piece;  // whose sums are below 2^53
};

}  // namespace

std::size_t wide_rank_scratch_bytes(index_t cols) {
  if (cols <= most_grouped_cols) return 0;
  return strip_memory::doubles * sizeof(double);
}

template <class Integer>
std::unique_ptr<pair_rows> make_wide_rank_rows(ordinary_ranks<Integer> ranks,
                                               const row_layout& layout) {
  return std::make_unique<wide_rank_rows<Integer>>(std::move(ranks), layout);
}

template std::unique_ptr<pair_rows> make_wide_rank_rows(ordinary_ranks<std::int16_t>,
                                                        const row_layout&);
template std::unique_ptr<pair_rows> make_wide_rank_rows(ordinary_ranks<std::int32_t>,
                                                        const row_layout&);

}  // namespace gpu::cpu
