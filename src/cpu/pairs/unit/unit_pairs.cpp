// Pairs of unit rows. A rounded copy filters: it settles all pairs but those near the cut.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "base/round_up.hpp"
#include "cpu/pairs/choice/row_form.hpp"
#include "cpu/pairs/rows/decided_rows.hpp"
#include "cpu/pairs/rows/unit_row.hpp"
#include "cpu/pairs/search/packed_search.hpp"
#include "cpu/pairs/search/wide_products.hpp"
#include "cpu/pairs/unit/unit_pairs.hpp"
#include "plan/forced/forced_ways.hpp"
#include "stats/unit_rows.hpp"

namespace gpu::cpu {
namespace {

constexpr index_t rows_per_task = 256;

// Elements of a slice of a row that strips multiply at a time.
index_t strip_piece(index_t stride) {
  const index_t slice = detail::slice_of_row(stride);
  const index_t pieces =
      std::max<index_t>(1, (slice + pair_policy::unit_piece - 1) / pair_policy::unit_piece);
  return pieces == 1 ? slice : round_up((slice + pieces - 1) / pieces, detail::partial_sums);
}

// Sums of the pieces, and of rows of several slices those of a slice.
std::size_t strip_scratch_of(index_t stride) {
  if (strip_piece(stride) == stride) return 0;
  return static_cast<std::size_t>(strip_sums) * (detail::slice_of_row(stride) < stride ? 2 : 1);
}

// What a thread takes for blocks of rows.
std::size_t block_scratch_of(const block_kernel& blocks, index_t stride) {
  if (blocks.scratch == nullptr || stride < blocks.least_length) return 0;
  return static_cast<std::size_t>(
      blocks.scratch(pair_policy::block_rows, pair_policy::block_cols, stride));
}

double naive_dot(const unit_rows& rows, index_t i, index_t j) {
  return detail::clip_correlation(detail::ordered_dot(
      rows.stride, [x = rows.row(i)](index_t k) { return x[k]; },
      [y = rows.row(j)](index_t k) { return y[k]; }));
}

// Statistics of unit rows, and decisions about pairs that a filter leaves: rows in single
// precision, or rounded to 16 bits.
class unit_row_search final : public packed_search {
 public:
  using values = unit_rows;

  unit_row_search(const packed_form& form, const unit_rows& rows, const pair_task& task,
                  int threads, unit_row_search* earlier)
      : packed_search(form, task, threads, earlier), rows_(rows) {}

  void statistics(const pair_tile& tile, pair_scratch& scratch, double* out) const override {
    fill(tile, tile.rows(), scratch, out);
  }
  void upper_statistics(const pair_tile& tile, pair_scratch& scratch, double* out) const override {
    fill(tile, tile.col_begin - tile.row_begin, scratch, out);
  }

 private:
  // Statistics need the doubles alone.
  void make_ready() override {
    if (task().wanted != pair_task::output::statistics) packed_search::make_ready();
  }

  [[nodiscard]] double exact(index_t row, index_t col) const override {
    double dot = 0;
    kernels().ordered_dots(rows_.row(row), 1, rows_.row(col), 1, rows_.stride, &dot, 1);
    return detail::clip_correlation(dot);
  }

  [[nodiscard]] row_screen make_screen() const override {
    return {kernels(), rows_.values.data(), rows_.size(), cols(), rows_.stride, nullptr, threads()};
  }

  // Statistics are made of the rows as they stand.
  [[nodiscard]] bool pays_to_pack() const override {
    const detail::cpu_costs& cost = kernels().costs;
    const auto columns = static_cast<double>(cols());
    const double saved = columns * cost.float64 + cost.clip - costs().search;
    return pairs() * saved > static_cast<double>(size()) * columns * cost.packing;
  }

  [[nodiscard]] std::unique_ptr<pair_filter> make_filter() const override {
    if (!form().how) {
      return wide_products::rounded(kernels(), rows_.values.data(), rows_.size(), cols(),
                                    rows_.stride, nullptr, threads());
    }
    auto out = std::make_unique<packed_sums>(kernels(), *form().how, size(), cols(), form().scales);
    detail::parallel_for_ranges(size(), rows_per_task, threads(), [&](index_range some, int) {
      std::vector<float> rounded(static_cast<std::size_t>(cols()));
      for (index_t i = some.begin; i < some.end; ++i) {
        std::transform(rows_.row(i), rows_.row(i) + cols(), rounded.begin(),
                       [](double value) { return static_cast<float>(value); });
        out->store_row(i, rounded.data());
      }
    });
    return out;
  }

  [[nodiscard]] cpu_pair_costs costs() const override {
    const auto columns = static_cast<double>(cols());
    const detail::cpu_costs& cost = kernels().costs;
    cpu_pair_costs out{.screen = columns * cost.screen + cost.look,
                       .search = columns * cost.float32 + cost.filter,
                       .candidate = cost.own_unit_pair + cost.candidate * cost.unit_candidate +
                                    columns * cost.own_unit_column,
                       .decide = cost.own_unit_pair + columns * cost.own_unit_column};
    double count = out.search + cost.count;
    if (!form().how) {
      out.search = columns * cost.int16 * cost.block_int16 + cost.block_filter;
      out.search_block = 0;
      count = columns * cost.float64 + cost.clip_and_count;
    }
    const bool counts = task().wanted == pair_task::output::counts;
    out.every = counts && task().bins == 0
                    ? count
                    : columns * cost.float64 + cost.clip + (counts ? cost.bin : cost.keep);
    return out;
  }

  // Pairs with row >= col + diagonal, counted from the first ones of the tile, need not be written.
  void fill(const pair_tile& tile, index_t diagonal, pair_scratch& scratch, double* out) const {
    const block_kernel& blocks = kernels().blocks;
    if (blocks.dots != nullptr && rows_.stride >= blocks.least_length &&
        tile.rows() >= blocks.least_rows) {
      fill_block(blocks, tile, diagonal, scratch.blocks, out);
    } else {
      fill_strips(tile, diagonal, scratch, out);
    }
    for (index_t i = 0; i < tile.rows(); ++i) {
      double* row = out + i * pair_policy::block_cols;
      std::transform(row, row + tile.cols(), row, detail::clip_correlation);
    }
  }

  void fill_block(const block_kernel& blocks, const pair_tile& tile, index_t diagonal,
                  block_scratch& scratch, double* out) const {
    const auto needed = static_cast<std::size_t>(
        blocks.scratch(pair_policy::block_rows, pair_policy::block_cols, rows_.stride));
    const bool are_copied = scratch.begin == tile.row_begin && scratch.end == tile.row_end;
    if (scratch.memory.size() < needed) scratch.memory = aligned_buffer<double>(needed);
    blocks.dots(rows_.row(tile.row_begin), tile.rows(), are_copied, rows_.row(tile.col_begin),
                tile.cols(), rows_.stride, diagonal, out, pair_policy::block_cols,
                scratch.memory.data());
    scratch.begin = tile.row_begin;
    scratch.end = tile.row_end;
  }

  // Strips of columns, and of long rows pieces of them, so that what meets stays in the second
  // level of the caches. A piece goes on with the partial sums of the one before: the order of
  // every sum is that of whole rows.
  void fill_strips(const pair_tile& tile, index_t diagonal, pair_scratch& scratch,
                   double* out) const {
    const index_t piece = strip_piece(rows_.stride);
    double* const memory = scratch.strips_of(strip_scratch_of(rows_.stride));
    for (index_t j = tile.col_begin; j < tile.col_end; j += pair_policy::unit_strip) {
      const index_t cols = std::min(pair_policy::unit_strip, tile.col_end - j);
      double* const to = out + (j - tile.col_begin);
      if (piece == rows_.stride) {
        kernels().ordered_dots(rows_.row(tile.row_begin), tile.rows(), rows_.row(j), cols,
                               rows_.stride, to, pair_policy::block_cols);
      } else {
        sum_pieces(tile.row_begin, tile.rows(), j, cols, piece, diagonal + (j - tile.col_begin),
                   memory, to);
      }
    }
  }

  void sum_pieces(index_t row, index_t rows, index_t col, index_t cols, index_t piece,
                  index_t diagonal, double* sums, double* out) const {
    const index_t slice = detail::slice_of_row(rows_.stride);
    for (index_t begin = 0; begin < rows_.stride; begin += slice) {
      const index_t end = std::min(begin + slice, rows_.stride);
      for (index_t k = begin; k < end; k += piece) {
        const index_t count = std::min(piece, end - k);
        double* const before = begin > 0 && k + count == end ? sums : nullptr;
        kernels().add_partial_sums(rows_.row(row) + k, rows, rows_.row(col) + k, cols, rows_.stride,
                                   count, diagonal, k == begin,
                                   begin == 0 ? sums : sums + strip_sums, before);
      }
    }
    kernels().combine_partial_sums(sums, rows, cols, out, pair_policy::block_cols);
  }

  const unit_rows& rows_;
};

}  // namespace

std::size_t unit_scratch_bytes(index_t cols) {
  const pair_kernels& kernels = usable_pair_kernels();
  const index_t stride = unit_row_stride(cols);
  return (block_scratch_of(kernels.blocks, stride) + strip_scratch_of(stride)) * sizeof(double);
}

std::unique_ptr<pair_rows> pair_unit_rows(unit_rows rows, const row_layout& layout, index_t cols,
                                          const row_options& options) {
  if (options.variant == pair_variant::naive) {
    return make_plain_rows(std::move(rows), [](auto&&... pair) { return naive_dot(pair...); });
  }
  packed_form form{.kernels = usable_pair_kernels(), .layout = layout, .cols = cols};
  if (detail::ways_in_force().cpu.form.value_or(choose_cpu_unit_form(cols)) ==
      cpu_row_form::floats) {
    // Each of `cols` additions, both factors, the cut and the margin round once, by at most 2^-24
    // of what Cauchy and Schwarz bound by 1.
    const double band = (static_cast<double>(cols) + 8) * 1.01 * 0x1p-24;
    form.how = packing::float32;
    form.scales = {std::vector<float>(static_cast<std::size_t>(rows.size()), 1.0f), band, false};
  }
  return std::make_unique<searched_rows<unit_row_search>>(std::move(form), std::move(rows));
}

}  // namespace gpu::cpu
