#include "cpu/pairs/pairwise/pairwise_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "base/parallel.hpp"
#include "cpu/pairs/rows/window_source.hpp"
#include "cpu/pairs/unit/transformed_row.hpp"
#include "stats/shared_columns.hpp"
#include "stats/statistic.hpp"

namespace gpu::cpu {
namespace {

constexpr index_t block_pairs = pair_policy::block_rows * pair_policy::block_cols;
constexpr index_t rows_per_task = 64;

// A sum of squares and its root; and what rounds the ranks of a mask up.
constexpr std::size_t mask_square_bytes = 2 * sizeof(double);
constexpr std::size_t mask_padding = 64;
// What a bound on a statistic is less than by more than all roundings of its comparison with a sum
// of products: some of 2^-53.
constexpr double rounds_down = 1 - 1e-14;
static_assert(3 * pair_policy::block_rows * most_row_masks <= block_pairs,
              "the masks of a tile are stored in the place of its counts");

// Copies the rows of `range` as doubles.
void read_rows(const input_rows& input, index_range range, double* out, int threads) {
  input.for_each_view(range, threads, [&](const auto& view, index_t first) {
    double* const to = out + (first - range.begin) * view.cols();
    detail::parallel_for_each(
        view.rows(), rows_per_task, detail::thread_count(threads),
        [&](index_t i, int) { std::copy_n(view.row(i), view.cols(), to + i * view.cols()); });
  });
}

std::unique_ptr<pair_rows> make_rows(double_rows values, index_t rows, index_t cols,
                                     const row_options& options) {
  switch (options.what.form) {
    case detail::row_form::ranks:
      return make_pairwise_rank_rows(values.data(), rows, cols, options);
    case detail::row_form::signs:
      return make_pairwise_sign_rows(values.data(), rows, cols, options);
    case detail::row_form::unit_values:
    case detail::row_form::bits:
      break;
  }
  switch (options.what.transform) {
    case detail::row_transform::none:
      break;
    case detail::row_transform::biweight:
      return make_pairwise_biweight_rows(std::move(values), rows, cols, options);
  }
  return make_pairwise_value_rows(std::move(values), rows, cols, options);
}

// Values as they are read, where they stand.
struct read_values {
  index_t cols;
  index_t size = 0;
  double_rows values;

  read_values(index_t places, index_t columns)
      : cols(columns), values(static_cast<std::size_t>(places * columns)) {}
  void resize(index_t places) { size = places; }
  [[nodiscard]] double* row(index_t i) { return values.data() + i * cols; }
  void copy_row(index_t from, index_t to) { std::copy_n(row(from), cols, row(to)); }
};

// How rows with missing values are packed, see window_source.hpp.
struct pairwise_form {
  using rows = read_values;
  row_options options;

  void prepare(const input_rows& input, index_range range, index_t to, rows& out) const {
    read_rows(input, range, out.row(to), options.threads);
  }
  [[nodiscard]] std::unique_ptr<pair_rows> pack(rows read, const row_layout&) const {
    return make_rows(std::move(read.values), read.size, read.cols, options);
  }
};

}  // namespace

pairwise_rows::pairwise_rows(index_t rows, index_t cols, index_t least_shared)
    : rows_(rows),
      cols_(cols),
      words_((cols + 63) / 64),
      least_shared_(least_shared),
      bits_(static_cast<std::size_t>(rows * words_)) {}

std::size_t pairwise_rows::kernel_bytes() const {
  return static_cast<std::size_t>(block_pairs) * sizeof(double);
}

void pairwise_rows::set_bits(index_t row, const double* values) {
  std::uint64_t* const to = bits_.data() + static_cast<std::size_t>(row * words_);
  for (index_t k = 0; k < cols_; ++k) {
    to[k / 64] |= std::uint64_t{values[k] == values[k]} << (k % 64);
  }
}

double counted_pairwise_rows::taken(const pair_task& task, double statistic, index_t shared) const {
  const bool has = shared >= least_shared() && statistic == statistic;
  if (task.tests != nullptr) return has ? task.tests->p(statistic, shared) : detail::no_p;
  if (!has) return detail::no_statistic;
  if (task.cuts == nullptr) return statistic;
  return task.cuts->of(shared).keeps(statistic) ? statistic : detail::no_statistic;
}

void pairwise_rows::statistics(const pair_task& task, const pair_tile& tile, pair_scratch& scratch,
                               double* out) const {
  constexpr index_t stride = pair_policy::block_cols;
  auto* const counts = reinterpret_cast<double*>(scratch.kernel.data());
  usable_pair_kernels().pairwise_counts({.bits = bits_.data(),
                                         .words = words_,
                                         .first_row = tile.row_begin,
                                         .row_count = tile.rows(),
                                         .first_col = tile.col_begin,
                                         .col_count = tile.cols(),
                                         .out = counts,
                                         .stride = stride});
  decide(task, tile, counts, scratch.kernel.data() + pairwise_rows::kernel_bytes(), out);
}

void counted_pairwise_rows::decide(const pair_task& task, const pair_tile& tile,
                                   const double* counts, std::byte* memory, double* out) const {
  constexpr index_t stride = pair_policy::block_cols;
  compute(tile, counts, memory, out);
  for (index_t i = 0; i < tile.rows(); ++i) {
    for (index_t j = 0; j < tile.cols(); ++j) {
      out[i * stride + j] =
          taken(task, out[i * stride + j], static_cast<index_t>(counts[i * stride + j]));
    }
  }
}

bool counted_pairwise_rows::take_masks(std::size_t bytes, std::size_t most_bytes) {
  const std::size_t of_mask =
      static_cast<std::size_t>(size()) * (bytes + mask_square_bytes) + mask_padding;
  const auto that_fit = static_cast<index_t>(most_bytes / of_mask);
  const index_t most = std::min({that_fit, most_row_masks, size() / least_rows_per_mask});
  if (most > 0) masks_ = find_masks(most);
  if (masks_.is_empty()) return false;
  const auto count = static_cast<std::size_t>(size() * masks_.count());
  squares_ = aligned_buffer<double>(count);
  roots_ = aligned_buffer<double>(count);
  return true;
}

void counted_pairwise_rows::reduce_to_masks(int threads) {
  detail::parallel_for(size(), detail::thread_count(threads), [&](index_t i, int thread) {
    for (index_t mask = 0; mask < masks_.count(); ++mask) {
      const double square = reduce(i, mask, masks_.shared(masks_.of(i), mask), thread);
      const auto at = static_cast<std::size_t>(mask * size() + i);
      squares_[at] = square;
      roots_[at] = std::sqrt(square);
    }
  });
}

std::string counted_pairwise_rows::explain() const {
  if (!has_masks()) return pairwise_rows::explain();
  return fmt::format("every pair is decided over the columns that its rows share, by {} masks",
                     masks_.count());
}

double counted_pairwise_rows::least_taken(const pair_task& task, index_t shared) const {
  if (task.tests != nullptr) return 0;  // of a pair without a statistic too
  if (shared < least_shared()) return std::numeric_limits<double>::infinity();
  if (task.cuts == nullptr) return 0;
  const detail::keep_range& keep = task.cuts->of(shared);
  return std::max(0.0, std::min(keep.at_least, -keep.at_most) * rounds_down);
}

void counted_pairwise_rows::statistics(const pair_task& task, const pair_tile& tile,
                                       pair_scratch& scratch, double* out) const {
  if (!has_masks()) return pairwise_rows::statistics(task, tile, scratch, out);
  decide_by_masks(task, tile, nullptr, scratch, out);
}

void counted_pairwise_rows::above(const pair_task& task, const pair_tile& tile, const double* bars,
                                  pair_scratch& scratch, pair_visitor visit) const {
  constexpr index_t stride = pair_policy::block_cols;
  double* const found = scratch.statistics.data();
  for_each_block(tile, [&](const pair_tile& block) {
    const index_t first = block.row_begin - tile.row_begin;
    decide_by_masks(task, block, bars + first, scratch, found);
    for (index_t i = 0; i < block.rows(); ++i) {
      for (index_t j = 0; j < block.cols(); ++j) {
        const double statistic = found[i * stride + j];
        if (statistic == statistic) {
          visit(first + i, block.col_begin - tile.col_begin + j, statistic);
        }
      }
    }
  });
}

void counted_pairwise_rows::decide_by_masks(const pair_task& task, const pair_tile& tile,
                                            const double* bars, pair_scratch& scratch,
                                            double* out) const {
  constexpr index_t stride = pair_policy::block_cols;
  // Rows of one mask follow each other.
  index_t order[pair_policy::block_rows];
  std::iota(order, order + tile.rows(), tile.row_begin);
  std::sort(order, order + tile.rows(), [&](index_t a, index_t b) {
    return masks_.of(a) < masks_.of(b) || (masks_.of(a) == masks_.of(b) && a < b);
  });
  double least[most_row_masks];
  mask_row rows[pair_policy::block_rows];
  const index_t count = masks_.count();
  auto* const memory = reinterpret_cast<double*>(scratch.kernel.data());
  double* const all_bounds = memory;
  double* const all_squares = all_bounds + tile.rows() * count;
  for (index_t r = 0; r < tile.rows(); ++r) {
    const index_t i = order[r];
    const index_t own = masks_.of(i);
    if (r == 0 || masks_.of(order[r - 1]) != own) {
      for (index_t m = 0; m < count; ++m) least[m] = least_taken(task, masks_.shared(own, m));
    }
    const double bar = bars == nullptr ? 0 : bars[i - tile.row_begin] * rounds_down;
    double* const bounds = all_bounds + r * count;
    double* const squares = all_squares + r * count;
    for (index_t m = 0; m < count; ++m) {
      squares[m] = square_of(i, m);
      bounds[m] = std::max(least[m], bar) * std::sqrt(squares[m]);
    }
    rows[r] = {.place = i,
               .bounds = bounds,
               .col_roots = roots_.data() + own * size(),
               .out = out + (i - tile.row_begin) * stride};
  }
  const auto decide_pair = [&](index_t row, index_t col, double xy) {
    const index_t i = rows[row].place;
    const index_t j = tile.col_begin + col;
    const index_t a = masks_.of(i);
    const index_t b = masks_.of(j);
    const index_t shared = masks_.shared(a, b);
    double statistic = detail::no_statistic;
    if (shared >= least_shared()) {
      const double xx = all_squares[row * count + b];
      const double yy = square_of(j, a);
      statistic = xx > 0 && yy > 0 ? detail::rho_at_scale(xy, detail::rho_scale(xx, yy))
                                   : decide_anew(i, j, shared);
    }
    rows[row].out[col] = taken(task, statistic, shared);
  };
  visit_by_masks(tile, rows, all_squares + tile.rows() * count, out, decide_pair);
}

pairwise_bytes pairwise_bytes_of(const detail::measure_traits& what, index_t cols) {
  const auto elements = static_cast<std::size_t>(cols);
  // The values as they are read, a bit for each, and what is packed of them.
  const std::size_t read = elements * sizeof(double) + elements / 8 + 8 + 64;
  const std::size_t counts = static_cast<std::size_t>(block_pairs) * sizeof(double);
  const auto with_masks = [](std::size_t bytes) {
    return static_cast<std::size_t>(most_row_masks) * (mask_square_bytes + bytes) + 1;
  };
  switch (what.form) {
    case detail::row_form::ranks:
      return {.row = read + elements * (sizeof(std::int32_t) + 3 * sizeof(std::int16_t)) + 128,
              .masks = cols > most_mask_rank_cols ? 0 : with_masks(mask_rank_bytes(cols)),
              .scratch = counts + elements * 2 * sizeof(std::int32_t),
              .packing = 0};
    case detail::row_form::signs:
      return {.row = read + pairwise_sign_bytes(cols),
              .masks = 0,
              .scratch = counts + pairwise_sign_scratch_bytes(cols),
              .packing = pairwise_sign_packing_bytes(cols)};
    case detail::row_form::unit_values:
    case detail::row_form::bits:
      break;
  }
  if (what.transform == detail::row_transform::none) {
    return {.row = read + elements * 2 * sizeof(double),
            .masks = with_masks(mask_value_bytes),
            .scratch = counts,
            .packing = 0};
  }
  // A transformed row comes in whole steps; sorted values, and their places.
  constexpr std::size_t padding = detail::partial_sums * sizeof(double);
  return {.row = read + elements * (2 * sizeof(double) + sizeof(std::uint32_t)) + padding,
          .masks = with_masks(mask_transformed_bytes(cols)),
          .scratch = counts + biweight_scratch_bytes(cols),
          .packing = what.is_pairwise ? biweight_order_bytes(cols)
                                      : row_transformer_bytes(what.transform, cols)};
}

row_preparation prepare_pairwise_rows(const detail::pair_tables& tables,
                                      const row_options& options) {
  row_preparation found;
  const input_rows input(tables);
  std::unique_ptr<row_source> source = find_source(pairwise_form{options}, input, options, found);
  if (options.in_windows) {
    found.source = std::move(source);
    return found;
  }
  const row_layout layout = layout_of(options.selection, found.section_rows);
  found.rows = source->pack({0, layout.first}, {layout.first, layout.first + layout.second},
                            layout.asked, found.original);
  return found;
}

}  // namespace gpu::cpu
