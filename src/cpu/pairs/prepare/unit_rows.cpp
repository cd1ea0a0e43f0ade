// Unit rows on the CPU: rows are centred and scaled once, or whenever a window is packed.
#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "base/parallel.hpp"
#include "cpu/pairs/rows/kept_rows.hpp"
#include "cpu/pairs/rows/pair_rows.hpp"
#include "cpu/pairs/rows/unit_row.hpp"
#include "cpu/pairs/rows/window_source.hpp"
#include "cpu/pairs/unit/transformed_row.hpp"
#include "cpu/pairs/unit/unit_pairs.hpp"
#include "pairs/checks.hpp"
#include "stats/unit_rows.hpp"

namespace gpu::cpu {
namespace {

// Few of long rows, so that every thread has some.
index_t rows_per_task(index_t cols) {
  constexpr index_t elements = index_t{1} << 16;
  return std::clamp<index_t>(elements / std::max<index_t>(cols, 1), 1, 256);
}

// Transforms and scales the rows of `range` to `out`, and says of what kind they are.
void make_unit_piece(const input_rows& input, index_range range, const detail::measure_traits& what,
                     double* out, detail::row_kind* kinds, int threads) {
  const pair_kernels& kernels = usable_pair_kernels();
  const index_t stride = unit_row_stride(input.cols());
  input.for_each_view(
      range, threads, [&]<class T>(const matrix_view<const T>& view, index_t first) {
        const index_t before = first - range.begin;
        if constexpr (std::is_same_v<T, double>) {
          if (const kept_rows* const kept = input.kept_of(first)) {
            std::copy_n(kept->kinds.begin() + input.row_of_table(first), view.rows(),
                        kinds + before);
            return copy_rows(view, out + before * stride, threads);
          }
        }
        const auto make = [&](index_range some, int) {
          row_transformer transform(what.transform, view.cols());
          for (index_t i = some.begin; i < some.end; ++i) {
            double* row = out + (before + i) * stride;
            if (what.transform == detail::row_transform::none) {
              kinds[before + i] =
                  make_unit_row(kernels, what.centre, view.row(i), row, view.cols());
              continue;
            }
            std::copy_n(view.row(i), view.cols(), row);
            transform(row, view.cols());
            kinds[before + i] = make_unit_row(kernels, what.centre, row, row, view.cols());
          }
        };
        detail::parallel_for_ranges(view.rows(), rows_per_task(view.cols()),
                                    detail::thread_count(threads), make);
      });
}

// How unit rows are packed, see window_source.hpp.
struct unit_form {
  using rows = unit_rows;
  row_options options;
  index_t cols;

  void prepare(const input_rows& input, index_range range, index_t to, rows& out) const {
    make_unit_piece(input, range, options.what, out.row(to), out.kinds.data() + to,
                    options.threads);
  }
  [[nodiscard]] std::unique_ptr<pair_rows> pack(rows values, const row_layout& layout) const {
    return pair_unit_rows(std::move(values), layout, cols, options);
  }
};

}  // namespace

row_preparation prepare_unit_rows(const detail::pair_tables& tables, const row_options& options) {
  const input_rows input(tables);
  row_preparation found;
  found.nan_rows = validate::find_nan_rows(tables, options.threads);
  if (options.refuses_nan) validate::refuse_nan(tables, found.nan_rows, {});
  const unit_form form{options, input.cols()};
  if (!options.in_windows) {
    unit_rows rows = prepare_all(form, input, options, found);
    found.rows = form.pack(std::move(rows), layout_of(options.selection, found.section_rows));
    return found;
  }
  // A finite row has a statistic if its values differ, or, without centring, if one is not 0:
  // rounding in make_unit_row never makes it zeros.
  found.source = find_source(form, input, options, found);
  return found;
}

void keep_unit_rows(const input_rows& input, const detail::measure_traits& what, int threads,
                    kept_rows& out) {
  const index_t stride = unit_row_stride(input.cols());
  out.values =
      aligned_buffer<std::byte>(static_cast<std::size_t>(input.rows() * stride) * sizeof(double));
  out.kinds.resize(static_cast<std::size_t>(input.rows()));
  auto* const rows = reinterpret_cast<double*>(out.values.data());
  make_unit_piece(input, {0, input.rows()}, what, rows, out.kinds.data(), threads);
  // Rows without a statistic show none either: they are zeros.
  for (index_t i = 0; i < input.rows(); ++i) {
    if (out.kinds[static_cast<std::size_t>(i)] == detail::row_kind::ordinary) continue;
    std::fill_n(rows + i * stride, stride, 0.0);
  }
  out.view = matrix_view<const double>(rows, input.rows(), input.cols(), stride);
}

}  // namespace gpu::cpu
