// Unit rows on the CPU: doubles of unit length, dot products in the fixed order of
// stats/unit_rows.hpp. A float32 copy filters: it settles all pairs but those near the cut.
#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "base/parallel.hpp"
#include "cpu/pairs/rows/kept_rows.hpp"
#include "cpu/pairs/rows/packed_rows.hpp"
#include "cpu/pairs/rows/pair_rows.hpp"
#include "cpu/pairs/rows/present_rows.hpp"
#include "cpu/pairs/rows/ranked_source.hpp"
#include "cpu/pairs/rows/unit_row.hpp"
#include "pairs/checks.hpp"
#include "stats/unit_rows.hpp"

namespace gpu::cpu {
namespace {

constexpr index_t rows_per_task = 256;

// Centred and scaled rows of those that have a statistic, in order, zeros up to the stride.
struct unit_rows {
  index_t stride = 0;
  index_t size = 0;
  aligned_buffer<double> values;

  [[nodiscard]] double* row(index_t i) { return values.data() + i * stride; }
  [[nodiscard]] const double* row(index_t i) const { return values.data() + i * stride; }
};

index_t stride_of(index_t cols) {
  constexpr index_t padding = detail::partial_sums;
  return (cols + padding - 1) / padding * padding;
}

// Scales the rows of `range` to `out`, and says of what kind they are.
void make_unit_piece(const input_rows& input, index_range range, detail::row_centre centre,
                     double* out, detail::row_kind* kinds, int threads) {
  const pair_kernels& kernels = usable_pair_kernels();
  const index_t stride = stride_of(input.cols());
  input.for_each_view(range, [&]<class T>(const matrix_view<const T>& view, index_t first) {
    const index_t before = first - range.begin;
    if constexpr (std::is_same_v<T, double>) {
      if (const kept_rows* const kept = input.kept_of(first)) {
        std::copy_n(kept->kinds.begin() + input.row_of_table(first), view.rows(), kinds + before);
        return copy_rows(view, out + before * stride, threads);
      }
    }
    const index_t tasks = (view.rows() + rows_per_task - 1) / rows_per_task;
    parallel_for(tasks, thread_count(threads), [&](index_t task, int) {
      const index_t end = std::min(view.rows(), (task + 1) * rows_per_task);
      for (index_t i = task * rows_per_task; i < end; ++i) {
        double* row = out + (before + i) * stride;
        std::fill(std::copy_n(view.row(i), view.cols(), row), row + stride, 0.0);
        kinds[before + i] = make_unit_row(kernels, centre, row, view.cols(), stride);
      }
    });
  });
}

// Fills the places between two ranges that meet each other alone.
void fill_gap(unit_rows& rows, std::vector<node_id>& original) {
  const index_t first = rows.size;
  for (; first > 0 && rows.size < row_layout::second_begin(first); ++rows.size) {
    std::copy_n(rows.row(first - 1), rows.stride, rows.row(rows.size));
    original.push_back(original.back());
  }
}

unit_rows make_ordinary_unit_rows(const input_rows& input, const row_options& options,
                                  row_preparation& found) {
  const row_selection& selection = options.selection;
  const index_t room = selection.places();
  unit_rows out;
  out.stride = stride_of(input.cols());
  out.values = aligned_buffer<double>(static_cast<std::size_t>(room * out.stride));
  row_inspector inspector(found);
  const auto take = [&](index_range section) {
    std::vector<detail::row_kind> kinds(static_cast<std::size_t>(section.size()));
    const index_t begin = out.size;
    make_unit_piece(input, section, options.what.centre, out.row(begin), kinds.data(),
                    options.threads);
    for (index_t i = 0; i < section.size(); ++i) {
      const detail::row_kind kind = kinds[static_cast<std::size_t>(i)];
      if (!inspector.admits(section.begin + i, kind == detail::row_kind::ordinary)) continue;
      if (out.size != begin + i) std::copy_n(out.row(begin + i), out.stride, out.row(out.size));
      found.original.push_back(static_cast<node_id>(section.begin + i));
      ++out.size;
    }
    const bool is_first = found.section_rows.empty();
    found.section_rows.push_back(out.size - begin);
    if (selection.is_across && is_first) fill_gap(out, found.original);
  };
  for_each_section(selection, input.rows(), take, [&](index_range others) {
    inspector.look_at(input, others, options.what, options.threads, [](index_t) {});
  });
  return out;
}

// One pair at a time: the naive variant.
class plain_unit_rows final : public pair_rows {
 public:
  explicit plain_unit_rows(unit_rows rows) : rows_(std::move(rows)) {}

  [[nodiscard]] index_t size() const override { return rows_.size; }

  void statistics(const pair_tile& tile, pair_scratch&, double* out) const override {
    for (index_t i = tile.row_begin; i < tile.row_end; ++i) {
      double* row = out + (i - tile.row_begin) * pair_policy::block_cols;
      for (index_t j = tile.col_begin; j < tile.col_end; ++j) {
        row[j - tile.col_begin] = detail::clip_correlation(detail::ordered_dot(
            rows_.stride, [x = rows_.row(i)](index_t k) { return x[k]; },
            [y = rows_.row(j)](index_t k) { return y[k]; }));
      }
    }
  }

 private:
  unit_rows rows_;
};

class packed_unit_rows final : public packed_rows {
 public:
  packed_unit_rows(const pair_kernels& kernels, unit_rows rows, const row_layout& layout,
                   index_t cols, int threads)
      : packed_rows(kernels, packing::float32, layout, cols, threads),
        rows_(std::move(rows)),
        cols_(cols),
        threads_(threads) {
    // Of unit rows: each of `cols` additions, both factors, the cut and the margin round once, by
    // at most 2^-24 of what Cauchy and Schwarz bound by 1.
    const double band = (static_cast<double>(cols) + 8) * 1.01 * 0x1p-24;
    set_scales(std::vector<float>(static_cast<std::size_t>(rows_.size), 1.0f), band, false);
  }

  // Statistics need the doubles alone.
  void prepare(const pair_task& task) override {
    if (task.wanted != pair_task::output::statistics) packed_rows::prepare(task);
  }

  // Strips of columns, and of long rows pieces of them, so that what meets stays in the second
  // level of the caches. A piece goes on with the partial sums of the one before: the order of
  // every sum is that of whole rows.
  void statistics(const pair_tile& tile, pair_scratch&, double* out) const override {
    const index_t piece = std::min(rows_.stride, pair_policy::unit_piece);
    const index_t strip = pair_policy::unit_strip_values / piece;
    for (index_t j = tile.col_begin; j < tile.col_end; j += strip) {
      const index_t cols = std::min(strip, tile.col_end - j);
      double* const to = out + (j - tile.col_begin);
      if (piece == rows_.stride) {
        kernels().ordered_dots(rows_.row(tile.row_begin), tile.rows(), rows_.row(j), cols,
                               rows_.stride, to, pair_policy::block_cols);
      } else {
        sum_pieces(tile.row_begin, tile.rows(), j, cols, to);
      }
    }
    for (index_t i = 0; i < tile.rows(); ++i) {
      double* row = out + i * pair_policy::block_cols;
      std::transform(row, row + tile.cols(), row, detail::clip_correlation);
    }
  }

 private:
  void sum_pieces(index_t row, index_t rows, index_t col, index_t cols, double* out) const {
    thread_local aligned_buffer<double> sums;
    const auto needed = static_cast<std::size_t>(rows * cols * detail::partial_sums);
    if (sums.size() < needed) sums = aligned_buffer<double>(needed);
    for (index_t k = 0; k < rows_.stride; k += pair_policy::unit_piece) {
      const index_t count = std::min(pair_policy::unit_piece, rows_.stride - k);
      kernels().add_partial_sums(rows_.row(row) + k, rows, rows_.row(col) + k, cols, rows_.stride,
                                 count, k == 0, sums.data());
    }
    kernels().combine_partial_sums(sums.data(), rows, cols, out, pair_policy::block_cols);
  }

  [[nodiscard]] double exact(index_t row, index_t col, std::int32_t) const override {
    return exact(row, col);
  }

  [[nodiscard]] double exact(index_t row, index_t col) const override {
    double dot = 0;
    kernels().ordered_dots(rows_.row(row), 1, rows_.row(col), 1, rows_.stride, &dot, 1);
    return detail::clip_correlation(dot);
  }

  void pack(packed_columns& columns) const override {
    const index_t tasks = (size() + rows_per_task - 1) / rows_per_task;
    parallel_for(tasks, thread_count(threads_), [&](index_t task, int) {
      std::vector<float> rounded(static_cast<std::size_t>(cols_));
      const index_t end = std::min(size(), (task + 1) * rows_per_task);
      for (index_t i = task * rows_per_task; i < end; ++i) {
        std::transform(rows_.row(i), rows_.row(i) + cols_, rounded.begin(),
                       [](double value) { return static_cast<float>(value); });
        columns.store_row(i, rounded.data());
      }
    });
  }

  [[nodiscard]] cpu_pair_costs costs(const pair_task& task) const override {
    const auto columns = static_cast<double>(cols_);
    const pair_speed& speed = kernels().speed;
    const double sums = columns * speed.float32 + speed.filter;
    const double statistic = columns * speed.float64 + 3;
    const bool counts = task.wanted == pair_task::output::counts;
    return {.screen = columns * speed.screen + speed.look,
            .search = sums,
            .every = counts && task.bins == 0 ? sums + speed.count : statistic + (counts ? 4 : 1),
            .candidate = 15 + speed.candidate * 0.4 + columns * 0.5,
            .decide = 15 + columns * 0.5};
  }

  [[nodiscard]] row_screen make_screen() const override {
    return {kernels(), rows_.values.data(), size(), cols_, rows_.stride, nullptr, threads_};
  }

  unit_rows rows_;
  index_t cols_;
  int threads_;
};

std::unique_ptr<pair_rows> make_rows(unit_rows rows, const row_layout& layout, index_t cols,
                                     const row_options& options) {
  if (options.variant == pair_variant::naive) {
    return std::make_unique<plain_unit_rows>(std::move(rows));
  }
  return std::make_unique<packed_unit_rows>(usable_pair_kernels(), std::move(rows), layout, cols,
                                            options.threads);
}

// Scales rows whenever they are asked for. A finite row whose values differ, or of which one is not
// 0 where rows are not centred, has a statistic: rounding in make_unit_row never makes it zeros.
class unit_row_source final : public row_source {
 public:
  unit_row_source(const input_rows& input, const row_options& options, row_preparation& found)
      : input_(input), options_(options), present_(input.rows()) {
    row_inspector inspector(found);
    for_each_section(
        options.selection, input.rows(),
        [&](index_range section) {
          index_t rows = 0;
          inspector.look_at(input, section, options.what, options.threads, [&](index_t row) {
            present_.add(row);
            ++rows;
          });
          found.section_rows.push_back(rows);
        },
        [&](index_range others) {
          inspector.look_at(input, others, options.what, options.threads, [](index_t) {});
        });
    present_.number();
  }

  [[nodiscard]] index_t size() const override { return present_.size(); }

  [[nodiscard]] std::unique_ptr<pair_rows> pack(row_range first, row_range second, row_range asked,
                                                std::vector<node_id>& original) const override {
    const row_layout layout{.first = first.size(), .second = second.size(), .asked = asked};
    const index_t room = layout.places() + rows_per_piece(input_.cols());
    unit_rows rows;
    rows.stride = stride_of(input_.cols());
    rows.values = aligned_buffer<double>(static_cast<std::size_t>(room * rows.stride));
    original.clear();
    original.reserve(static_cast<std::size_t>(layout.places()));
    append(first, rows, original);
    if (!second.is_empty()) {
      fill_gap(rows, original);
      append(second, rows, original);
    }
    return make_rows(std::move(rows), layout, input_.cols(), options_);
  }

 private:
  void append(row_range range, unit_rows& rows, std::vector<node_id>& original) const {
    const index_t most = rows_per_piece(input_.cols());
    std::vector<detail::row_kind> kinds(static_cast<std::size_t>(most));
    append_rows(
        present_, range, most, original,
        [&](index_t begin, index_t count, index_t to) {
          make_unit_piece(input_, {begin, begin + count}, options_.what.centre, rows.row(to),
                          kinds.data(), options_.threads);
        },
        [&](index_t from, index_t to) { std::copy_n(rows.row(from), rows.stride, rows.row(to)); });
    rows.size = static_cast<index_t>(original.size());
  }

  input_rows input_;
  row_options options_;
  present_rows present_;
};

}  // namespace

row_preparation prepare_unit_rows(const detail::pair_tables& tables, const row_options& options) {
  const input_rows input(tables);
  row_preparation found;
  found.nan_rows = validate::find_nan_rows(tables, options.threads);
  validate::refuse_nans(tables, found.nan_rows, options.nans);
  if (options.in_windows) {
    found.source = std::make_unique<unit_row_source>(input, options, found);
    return found;
  }
  unit_rows rows = make_ordinary_unit_rows(input, options, found);
  found.rows = make_rows(std::move(rows), layout_of(options.selection, found.section_rows),
                         input.cols(), options);
  return found;
}

void keep_unit_rows(const input_rows& input, detail::row_centre centre, int threads,
                    kept_rows& out) {
  const index_t stride = stride_of(input.cols());
  out.values =
      aligned_buffer<std::byte>(static_cast<std::size_t>(input.rows() * stride) * sizeof(double));
  out.kinds.resize(static_cast<std::size_t>(input.rows()));
  auto* const rows = reinterpret_cast<double*>(out.values.data());
  make_unit_piece(input, {0, input.rows()}, centre, rows, out.kinds.data(), threads);
  // Rows without a statistic show none either: they are zeros.
  for (index_t i = 0; i < input.rows(); ++i) {
    if (out.kinds[static_cast<std::size_t>(i)] == detail::row_kind::ordinary) continue;
    std::fill_n(rows + i * stride, stride, 0.0);
  }
  out.view = matrix_view<const double>(rows, input.rows(), input.cols(), stride);
}

}  // namespace gpu::cpu
