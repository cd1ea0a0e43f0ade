#include "cpu/pairs/wide/wide_rank_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "cpu/pairs/wide/wide_products.hpp"
#include "cpu/pairs/wide/wide_search.hpp"
#include "stats/statistic.hpp"
#include "stats/unit_rows.hpp"

namespace gpu::cpu {
namespace {

constexpr double two_to_53 = 9007199254740992.0;

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

// Immutable rows of a form, and the search of that form.
template <class Integer, class Search>
class wide_rank_rows final : public packed_rows<wide_rank_rows<Integer, Search>, Search> {
 public:
  wide_rank_rows(ordinary_ranks<Integer> ranks, const row_layout& layout)
      : wide_rank_rows::packed_rows({.kernels = usable_pair_kernels(),
                                     .how = packing::int16,
                                     .layout = layout,
                                     .cols = ranks.stride}),
        ranks_(std::move(ranks)) {}

  [[nodiscard]] const wide_ranks<Integer>& ranks() const { return ranks_; }

 private:
  wide_ranks<Integer> ranks_;
};

[[nodiscard]] row_screen screen_of(const pair_kernels& kernels, const wide_ranks<std::int16_t>& of,
                                   int threads) {
  return {kernels, of.values(), of.size(), of.cols(), of.cols(), of.lengths(), threads};
}

// Nanoseconds of an exact sum of one pair by itself.
[[nodiscard]] double own_sum_cost(index_t cols) {
  return 20 + static_cast<double>(cols) * 0.1;
}

// Sums of 16-bit products are exact, and so are all statistics of a block.
class product_rank_search final : public packed_search {
 public:
  using rows_type = wide_rank_rows<std::int16_t, product_rank_search>;

  product_rank_search(const rows_type& rows, const pair_task& task, int threads)
      : packed_search(rows.form(), task, threads), ranks_(rows.ranks()) {}

  [[nodiscard]] bool finds_above() const override { return false; }

  void statistics(const pair_tile& tile, pair_scratch&, double* out) const override {
    products_.sums(tile, out);
    for (index_t i = 0; i < tile.rows(); ++i) {
      double* const row = out + i * pair_policy::block_cols;
      kernels().rho_of_doubles(row, ranks_.squares()[tile.row_begin + i],
                               ranks_.squares() + tile.col_begin, tile.cols(), row);
    }
  }

 private:
  void take_over(pair_search& earlier) override {
    packed_search::take_over(earlier);
    products_ = std::move(dynamic_cast<product_rank_search&>(earlier).products_);
  }
  [[nodiscard]] std::size_t kernel_bytes() const override {
    return row_screen::scratch_bytes(kernels(), cols());
  }
  [[nodiscard]] double exact(index_t row, index_t col, std::int32_t) const override {
    return exact(row, col);
  }
  [[nodiscard]] double exact(index_t row, index_t col) const override {
    return ranks_.rho(kernels(), row, col);
  }
  void pack_sums() override {
    if (!products_.is_empty()) return;
    products_ = wide_products::of_ranks(kernels(), ranks_.values(), ranks_.size(), ranks_.cols(),
                                        threads());
  }
  void drop_sums() override { products_ = {}; }
  std::uint64_t count_sums(const pair_tile& tile, pair_scratch& scratch, std::uint32_t* row_degree,
                           std::uint32_t* col_degree) const override {
    return pair_search::count(tile, scratch, row_degree, col_degree, {});
  }
  [[nodiscard]] row_screen make_screen() const override {
    return screen_of(kernels(), ranks_, threads());
  }
  [[nodiscard]] cpu_pair_costs costs() const override {
    const auto columns = static_cast<double>(cols());
    const cpu_costs& cost = kernels().costs;
    return {.screen = columns * cost.screen + cost.look,
            .search = std::numeric_limits<double>::infinity(),
            .every = columns * cost.int16 * 1.2 + 4,
            .candidate = cost.candidate + own_sum_cost(cols())};
  }

  const wide_ranks<std::int16_t>& ranks_;
  wide_products products_;
};

// Columns that rounded_rank_search makes doubles at a time, and pairs of a row that they serve.
constexpr index_t piece = pair_policy::unit_piece;
constexpr index_t strip = pair_policy::unit_strip;

// What a thread takes to multiply them.
struct strip_memory {
  double* rows;
  double* columns;
  double* sums;
  std::int64_t* dots;
  double* partial;
  double* split;

  static constexpr index_t pairs = pair_policy::block_rows * strip;
  static constexpr index_t beside = (pair_policy::block_rows + strip) * piece + 2 * pairs;

  static std::size_t doubles(const pair_kernels& kernels) {
    return static_cast<std::size_t>(beside) + strip_scratch(kernels, piece);
  }
  strip_memory(const pair_kernels& kernels, pair_scratch& scratch)
      : rows(scratch.strips_of(doubles(kernels))),
        columns(rows + pair_policy::block_rows * piece),
        sums(columns + strip * piece),
        dots(reinterpret_cast<std::int64_t*>(sums + pairs)),
        partial(rows + beside),
        split(partial + pairs * detail::partial_sums) {}
};

// Rounded products leave the pairs that may pass; statistics are sums of products of doubles, which
// are exact up to 2^53.
template <class Integer>
class rounded_rank_search final : public wide_search {
 public:
  using rows_type = wide_rank_rows<Integer, rounded_rank_search>;

  rounded_rank_search(const rows_type& rows, const pair_task& task, int threads)
      : wide_search(rows.form(), task, threads), ranks_(rows.ranks()) {
    const auto largest = static_cast<double>(cols() - 1);
    const double fitting = two_to_53 / (largest * largest);
    exact_cols_ = fitting >= static_cast<double>(cols())
                      ? cols()
                      : static_cast<index_t>(fitting) / piece * piece;
  }

  void statistics(const pair_tile& tile, pair_scratch& scratch, double* out) const override {
    const strip_memory memory(kernels(), scratch);
    for (index_t j = tile.col_begin; j < tile.col_end; j += strip) {
      pair_tile part = tile;
      part.col_begin = j;
      part.col_end = std::min(j + strip, tile.col_end);
      statistics_of_strip(part, memory, out + (j - tile.col_begin));
    }
  }

 private:
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
                                   count, tile.rows(), k == from, memory.partial, memory.split);
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
    const cpu_costs& cost = kernels().costs;
    return {.screen = columns * cost.screen + cost.look,
            .search = columns * cost.int16 * 1.1 + 1,
            .every = columns * cost.float64 + 4,
            .candidate = cost.candidate + own_sum_cost(cols()),
            .decide = own_sum_cost(cols()),
            .search_block = 0};
  }

  const wide_ranks<Integer>& ranks_;
  index_t exact_cols_ = piece;  // whose sums are below 2^53
};

}  // namespace

std::size_t rounded_rank_scratch_bytes() {
  return strip_memory::doubles(usable_pair_kernels()) * sizeof(double);
}

std::unique_ptr<pair_rows> make_product_rank_rows(ordinary_ranks<std::int16_t> ranks,
                                                  const row_layout& layout) {
  return std::make_unique<product_rank_search::rows_type>(std::move(ranks), layout);
}

template <class Integer>
std::unique_ptr<pair_rows> make_rounded_rank_rows(ordinary_ranks<Integer> ranks,
                                                  const row_layout& layout) {
  return std::make_unique<typename rounded_rank_search<Integer>::rows_type>(std::move(ranks),
                                                                            layout);
}

template std::unique_ptr<pair_rows> make_rounded_rank_rows(ordinary_ranks<std::int16_t>,
                                                           const row_layout&);
template std::unique_ptr<pair_rows> make_rounded_rank_rows(ordinary_ranks<std::int32_t>,
                                                           const row_layout&);

}  // namespace gpu::cpu
