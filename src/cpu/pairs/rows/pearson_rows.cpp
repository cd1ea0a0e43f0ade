// Pearson's rows on the CPU: centred and scaled doubles, dot products in the fixed order of
// stats/pearson_order.hpp. A float32 copy filters: it settles all pairs but those near the cut.
#include <algorithm>
#include <cstdint>
#include <variant>

#include "base/parallel.hpp"
#include "cpu/pairs/rows/packed_rows.hpp"
#include "cpu/pairs/rows/pair_rows.hpp"
#include "cpu/pairs/rows/present_rows.hpp"
#include "cpu/pairs/rows/unit_row.hpp"
#include "pairs/checks.hpp"
#include "stats/pearson_order.hpp"

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

// Scales rows [begin, begin + count) of `data` to `out`, and says of what kind they are.
template <class T>
void make_unit_piece(const matrix_view<const T>& data, index_t begin, index_t count, double* out,
                     detail::row_kind* kinds, int threads) {
  const pair_kernels& kernels = usable_pair_kernels();
  const index_t stride = stride_of(data.cols());
  const index_t tasks = (count + rows_per_task - 1) / rows_per_task;
  parallel_for(tasks, thread_count(threads), [&](index_t task, int) {
    const index_t end = std::min(count, (task + 1) * rows_per_task);
    for (index_t i = task * rows_per_task; i < end; ++i) {
      double* row = out + i * stride;
      std::fill(std::copy_n(data.row(begin + i), data.cols(), row), row + stride, 0.0);
      kinds[i] = make_unit_row(kernels, row, data.cols(), stride);
    }
  });
}

template <class T>
unit_rows make_ordinary_unit_rows(const matrix_view<const T>& data, int threads,
                                  row_preparation& found) {
  unit_rows out;
  out.stride = stride_of(data.cols());
  out.values = aligned_buffer<double>(static_cast<std::size_t>(data.rows() * out.stride));
  std::vector<detail::row_kind> kinds(static_cast<std::size_t>(data.rows()));
  make_unit_piece(data, 0, data.rows(), out.values.data(), kinds.data(), threads);
  row_inspector inspector(found);
  for (index_t i = 0; i < data.rows(); ++i) {
    const detail::row_kind kind = kinds[static_cast<std::size_t>(i)];
    if (!inspector.admits(i, kind == detail::row_kind::ordinary)) continue;
    if (out.size != i) std::copy_n(out.row(i), out.stride, out.row(out.size));
    found.original.push_back(static_cast<node_id>(i));
    ++out.size;
  }
  return out;
}

// One pair at a time: the naive variant.
class plain_pearson_rows final : public pair_rows {
 public:
  explicit plain_pearson_rows(unit_rows rows) : rows_(std::move(rows)) {}

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

class packed_pearson_rows final : public packed_rows {
 public:
  packed_pearson_rows(const pair_kernels& kernels, unit_rows rows, index_t cols, int threads)
      : packed_rows(kernels, packing::float32, rows.size, cols),
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

  void statistics(const pair_tile& tile, pair_scratch&, double* out) const override {
    kernels().ordered_dots(rows_.row(tile.row_begin), tile.rows(), rows_.row(tile.col_begin),
                           tile.cols(), rows_.stride, out, pair_policy::block_cols);
    for (index_t i = 0; i < tile.rows(); ++i) {
      double* row = out + i * pair_policy::block_cols;
      std::transform(row, row + tile.cols(), row, detail::clip_correlation);
    }
  }

 private:
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
    return {.screen = columns * speed.screen,
            .search = sums,
            .every = counts && task.bins == 0 ? 1.4 * sums : statistic + (counts ? 4 : 1),
            .decide = 15 + columns * 0.5};
  }

  [[nodiscard]] row_screen make_screen() const override {
    return {kernels(), rows_.values.data(), size(), cols_, rows_.stride, nullptr, threads_};
  }

  unit_rows rows_;
  index_t cols_;
  int threads_;
};

std::unique_ptr<pair_rows> make_rows(unit_rows rows, index_t cols, pair_variant variant,
                                     int threads) {
  if (variant == pair_variant::naive) return std::make_unique<plain_pearson_rows>(std::move(rows));
  return std::make_unique<packed_pearson_rows>(usable_pair_kernels(), std::move(rows), cols,
                                               threads);
}

// Scales rows whenever they are asked for.
template <class T>
class unit_row_source final : public row_source {
 public:
  unit_row_source(const matrix_view<const T>& data, pair_variant variant, int threads,
                  row_preparation& found)
      : data_(data), variant_(variant), threads_(threads), present_(data.rows()) {
    const index_t most = rows_per_piece(data.cols());
    aligned_buffer<double> rows(static_cast<std::size_t>(most * stride_of(data.cols())));
    std::vector<detail::row_kind> kinds(static_cast<std::size_t>(most));
    row_inspector inspector(found);
    for (index_t begin = 0; begin < data.rows(); begin += most) {
      const index_t piece = std::min(most, data.rows() - begin);
      make_unit_piece(data, begin, piece, rows.data(), kinds.data(), threads);
      for (index_t i = 0; i < piece; ++i) {
        const detail::row_kind kind = kinds[static_cast<std::size_t>(i)];
        if (inspector.admits(begin + i, kind == detail::row_kind::ordinary)) {
          present_.add(begin + i);
        }
      }
    }
    present_.number();
  }

  [[nodiscard]] index_t size() const override { return present_.size(); }

  [[nodiscard]] std::unique_ptr<pair_rows> pack(row_range first, row_range second,
                                                std::vector<node_id>& original) const override {
    const index_t count = first.size() + second.size();
    const index_t most = rows_per_piece(data_.cols());
    unit_rows rows;
    rows.stride = stride_of(data_.cols());
    rows.size = count;
    rows.values = aligned_buffer<double>(static_cast<std::size_t>((count + most) * rows.stride));
    original.clear();
    original.reserve(static_cast<std::size_t>(count));
    append(first, rows, original);
    append(second, rows, original);
    return make_rows(std::move(rows), data_.cols(), variant_, threads_);
  }

 private:
  void append(row_range range, unit_rows& rows, std::vector<node_id>& original) const {
    const index_t most = rows_per_piece(data_.cols());
    std::vector<detail::row_kind> kinds(static_cast<std::size_t>(most));
    append_rows(
        present_, range, most, original,
        [&](index_t begin, index_t count, index_t to) {
          make_unit_piece(data_, begin, count, rows.row(to), kinds.data(), threads_);
        },
        [&](index_t from, index_t to) { std::copy_n(rows.row(from), rows.stride, rows.row(to)); });
  }

  matrix_view<const T> data_;
  pair_variant variant_;
  int threads_;
  present_rows present_;
};

}  // namespace

row_preparation prepare_pearson_rows(const detail::any_matrix_view& data,
                                     const row_options& options) {
  row_preparation found;
  const int threads = options.threads;
  found.nan_rows = validate::find_nan_rows({data}, threads);
  validate::refuse_nans({data}, found.nan_rows, options.nans);
  std::visit(
      [&]<class T>(const matrix_view<const T>& view) {
        if (options.in_windows) {
          found.source =
              std::make_unique<unit_row_source<T>>(view, options.variant, threads, found);
          return;
        }
        unit_rows rows = make_ordinary_unit_rows(view, threads, found);
        found.rows = make_rows(std::move(rows), view.cols(), options.variant, threads);
      },
      data);
  return found;
}

}  // namespace gpu::cpu
