// Kendall's tau-b of rows with missing values. The sign of two columns is 0 if a row lacks one,
// as for two equal values, so S of what a pair shares is the sum of products of all signs;
// the ties of both rows are counted anew in the columns that they share.
#include <algorithm>
#include <memory>
#include <utility>

#include "base/parallel.hpp"
#include "cpu/pairs/pairwise/pairwise_rows.hpp"
#include "cpu/pairs/signs/kendall_rows.hpp"
#include "cpu/pairs/signs/sign_matrix.hpp"
#include "cpu/pairs/signs/sorted_rows.hpp"
#include "pairs/pair_ties.hpp"
#include "stats/shared_columns.hpp"
#include "stats/statistic.hpp"

namespace gpu::cpu {
namespace {

constexpr index_t pair_stride = pair_policy::block_cols;
constexpr index_t sign_rows_per_task = 16;

// The values of a row, numbered from 0 on without gaps; 0 where one is missing.
struct numbered_row {
  std::vector<std::uint32_t> order;    // of the columns that are there
  std::vector<std::uint32_t> numbers;  // [cols]
  std::vector<std::uint32_t> missing;  // [cols], or empty where none is

  void read(const double* values, index_t cols) {
    detail::order_columns(values, cols, order);
    numbers.assign(static_cast<std::size_t>(cols), 0);
    missing.clear();
    std::uint32_t number = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
      if (k > 0 && values[order[k]] != values[order[k - 1]]) ++number;
      numbers[order[k]] = number;
    }
    if (order.size() == numbers.size()) return;
    missing.assign(static_cast<std::size_t>(cols), 1);
    for (const std::uint32_t k : order) missing[k] = 0;
  }
};

class pairwise_sign_rows : public pairwise_rows {
 protected:
  pairwise_sign_rows(index_t rows, index_t cols, index_t least_shared)
      : pairwise_rows(rows, cols, least_shared), ties_(static_cast<std::size_t>(rows)) {}

  // Calls store(i, numbered_row, scratch) for every row, by several threads.
  template <class Scratch, class Store>
  void read_rows(const double* values, int threads, const Store& store) {
    detail::parallel_for_ranges(
        size(), sign_rows_per_task, detail::thread_count(threads), [&](index_range some, int) {
          numbered_row row;
          Scratch scratch;
          for (index_t i = some.begin; i < some.end; ++i) {
            const double* const own = values + i * cols();
            row.read(own, cols());
            set_bits(i, own);
            ties_[static_cast<std::size_t>(i)] = detail::shared_row_ties(own, row.order);
            store(i, row, scratch);
          }
        });
  }

  struct pair_ties {
    row_ties x;
    row_ties y;
  };
  [[nodiscard]] pair_ties ties_of(index_t i, index_t j) const {
    return {ties_[static_cast<std::size_t>(i)].within(bits(j)),
            ties_[static_cast<std::size_t>(j)].within(bits(i))};
  }

  // What stands for a pair of so many shared columns.
  [[nodiscard]] double taken(const pair_task& task, index_t shared, const pair_ties& ties,
                             std::int64_t s) const {
    const std::int64_t pairs = shared * (shared - 1) / 2;
    const std::int64_t of_x = pairs - ties.x.pairs;
    const std::int64_t of_y = pairs - ties.y.pairs;
    const detail::shared_kendall_cut* const tests = task.tied_tests.shared;
    if (shared < least_shared() || of_x == 0 || of_y == 0) {
      return tests != nullptr ? detail::no_p : detail::no_statistic;
    }
    if (tests != nullptr) return tests->of(shared).p_within(s, ties.x, ties.y);
    const double tau = detail::rho_of(s, of_x, of_y);
    if (task.tied == nullptr) return tau;
    const bool is_kept =
        task.tied->keep.keeps(tau) && task.tied->shared->of(shared).keeps(s, ties.x, ties.y);
    return is_kept ? tau : detail::no_statistic;
  }

 private:
  std::vector<detail::shared_row_ties> ties_;
};

class pairwise_packed_signs final : public pairwise_sign_rows {
 public:
  pairwise_packed_signs(const double* values, index_t rows, index_t cols,
                        const row_options& options)
      : pairwise_sign_rows(rows, cols, options.what.least_shared), signs_(rows, cols) {
    using store_scratch = sign_matrix::store_scratch;
    read_rows<store_scratch>(values, options.threads,
                             [&](index_t i, const numbered_row& row, store_scratch& scratch) {
                               signs_.store(i, row.numbers, scratch, row.missing);
                             });
    signs_.finish();
  }

  [[nodiscard]] std::size_t kernel_bytes() const override {
    return pairwise_rows::kernel_bytes() + sign_scratch_bytes(cols());
  }

 private:
  void decide(const pair_task& task, const pair_tile& tile, const double* counts, std::byte* memory,
              double* out) const override {
    const std::int32_t* const sums = signs_.sums(tile, memory);
    for (index_t r = 0; r < tile.rows(); ++r) {
      for (index_t c = 0; c < tile.cols(); ++c) {
        const index_t at = r * pair_stride + c;
        out[at] = taken(task, static_cast<index_t>(counts[at]),
                        ties_of(tile.row_begin + r, tile.col_begin + c), sums[at]);
      }
    }
  }

  sign_matrix signs_;
};

// Rows too long for signs, and the naive variant.
class pairwise_sorted_rows final : public pairwise_sign_rows {
 public:
  pairwise_sorted_rows(const double* values, index_t rows, index_t cols, const row_options& options)
      : pairwise_sign_rows(rows, cols, options.what.least_shared),
        orders_(static_cast<std::size_t>(rows)),
        numbers_(static_cast<std::size_t>(rows * cols)) {
    struct no_scratch {};
    read_rows<no_scratch>(
        values, options.threads, [&](index_t i, const numbered_row& row, no_scratch) {
          std::copy(row.numbers.begin(), row.numbers.end(), numbers_.data() + i * cols);
          orders_[static_cast<std::size_t>(i)] = row.order;
        });
  }

  [[nodiscard]] std::size_t kernel_bytes() const override {
    return pairwise_rows::kernel_bytes() +
           3 * static_cast<std::size_t>(cols()) * sizeof(std::uint32_t);
  }

 private:
  void decide(const pair_task& task, const pair_tile& tile, const double* /*counts*/,
              std::byte* memory, double* out) const override {
    for (index_t i = tile.row_begin; i < tile.row_end; ++i) {
      for (index_t j = tile.col_begin; j < tile.col_end; ++j) {
        out[(i - tile.row_begin) * pair_stride + j - tile.col_begin] =
            decided(task, i, j, reinterpret_cast<std::uint32_t*>(memory));
      }
    }
  }

  [[nodiscard]] double decided(const pair_task& task, index_t i, index_t j,
                               std::uint32_t* memory) const {
    const std::uint32_t* const of_x = numbers_.data() + i * cols();
    const std::uint32_t* const of_y = numbers_.data() + j * cols();
    std::uint32_t* const x = memory;
    std::uint32_t* const y = memory + cols();
    index_t shared = 0;
    for (const std::uint32_t k : orders_[static_cast<std::size_t>(i)]) {
      if (!is_present(j, k)) continue;
      x[shared] = of_x[k];
      y[shared++] = of_y[k];
    }
    const pair_ties ties = ties_of(i, j);
    std::int64_t tied_in_both = 0;
    for (index_t begin = 0, end = 0; ties.x.pairs > 0 && begin < shared; begin = end) {
      while (end < shared && x[end] == x[begin]) ++end;
      if (end - begin > 1) tied_in_both += sort_group(y + begin, end - begin);
    }
    const std::int64_t falling = falling_pairs(y, shared, memory + 2 * cols());
    const std::int64_t s =
        shared * (shared - 1) / 2 - ties.x.pairs - ties.y.pairs + tied_in_both - 2 * falling;
    return taken(task, shared, ties, s);
  }

  std::vector<std::vector<std::uint32_t>> orders_;  // columns that are there, by value
  aligned_buffer<std::uint32_t> numbers_;           // [rows, cols]
};

}  // namespace

std::size_t pairwise_sign_bytes(index_t cols) {
  constexpr std::size_t group_bytes = 16;  // of shared_row_ties, at most one for each column
  constexpr std::size_t beside = 64;
  return (takes_signs(cols) ? sign_row_bytes(cols) : sorted_row_bytes(cols)) + beside +
         static_cast<std::size_t>(cols) * group_bytes;
}

std::size_t pairwise_sign_scratch_bytes(index_t cols) {
  return takes_signs(cols) ? sign_scratch_bytes(cols)
                           : 3 * static_cast<std::size_t>(cols) * sizeof(std::uint32_t);
}

std::size_t pairwise_sign_packing_bytes(index_t cols) {
  const std::size_t of_row = 3 * static_cast<std::size_t>(cols) * sizeof(std::uint32_t);
  return of_row + (takes_signs(cols) ? sign_packing_bytes(cols) : 0);
}

std::unique_ptr<pair_rows> make_pairwise_sign_rows(const double* values, index_t rows, index_t cols,
                                                   const row_options& options) {
  if (options.variant == pair_variant::naive || !takes_signs(cols)) {
    return std::make_unique<pairwise_sorted_rows>(values, rows, cols, options);
  }
  return std::make_unique<pairwise_packed_signs>(values, rows, cols, options);
}

}  // namespace gpu::cpu
