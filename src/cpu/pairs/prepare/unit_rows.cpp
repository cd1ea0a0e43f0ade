// Unit rows on the CPU: rows are centred and scaled once, or whenever a window is packed.
#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "base/parallel.hpp"
#include "cpu/pairs/rows/kept_rows.hpp"
#include "cpu/pairs/rows/pair_rows.hpp"
#include "cpu/pairs/rows/present_rows.hpp"
#include "cpu/pairs/rows/ranked_source.hpp"
#include "cpu/pairs/rows/unit_row.hpp"
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
        const index_t at_once = rows_per_task(view.cols());
        const index_t tasks = (view.rows() + at_once - 1) / at_once;
        detail::parallel_for(tasks, detail::thread_count(threads), [&](index_t task, int) {
          const index_t end = std::min(view.rows(), (task + 1) * at_once);
          row_transformer transform(what.transform, view.cols());
          for (index_t i = task * at_once; i < end; ++i) {
            double* row = out + (before + i) * stride;
            if (what.transform == detail::row_transform::none) {
              kinds[before + i] =
                  make_unit_row(kernels, what.centre, view.row(i), row, view.cols());
              continue;
            }
            std::fill(std::copy_n(view.row(i), view.cols(), row), row + stride, 0.0);
            transform(row, view.cols());
            kinds[before + i] = make_unit_row(kernels, what.centre, row, view.cols());
          }
        });
      });
}

// Fills the places between two ranges that meet each other alone.
void fill_gap(unit_rows& rows, index_t group, std::vector<node_id>& original) {
  const index_t first = rows.size;
  for (; first > 0 && rows.size < row_layout::second_begin(first, group); ++rows.size) {
    std::copy_n(rows.row(first - 1), rows.stride, rows.row(rows.size));
    original.push_back(original.back());
  }
}

unit_rows make_ordinary_unit_rows(const input_rows& input, const row_options& options,
                                  row_preparation& found) {
  const row_selection& selection = options.selection;
  const index_t room = selection.places();
  unit_rows out;
  out.stride = unit_row_stride(input.cols());
  out.values = aligned_buffer<double>(static_cast<std::size_t>(room * out.stride));
  row_inspector inspector(found);
  const auto take = [&](index_range section) {
    std::vector<detail::row_kind> kinds(static_cast<std::size_t>(section.size()));
    const index_t begin = out.size;
    make_unit_piece(input, section, options.what, out.row(begin), kinds.data(), options.threads);
    for (index_t i = 0; i < section.size(); ++i) {
      const detail::row_kind kind = kinds[static_cast<std::size_t>(i)];
      if (!inspector.admits(section.begin + i, kind == detail::row_kind::ordinary)) continue;
      if (out.size != begin + i) std::copy_n(out.row(begin + i), out.stride, out.row(out.size));
      found.original.push_back(static_cast<node_id>(section.begin + i));
      ++out.size;
    }
    const bool is_first = found.section_rows.empty();
    found.section_rows.push_back(out.size - begin);
    if (selection.is_across && is_first) fill_gap(out, options.group, found.original);
  };
  for_each_section(selection, input.rows(), take, [&](index_range others) {
    inspector.look_at(input, others, options.what, options.threads, [](index_t) {});
  });
  return out;
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
    const row_layout layout{
        .first = first.size(), .second = second.size(), .asked = asked, .group = options_.group};
    const index_t room = layout.places() + options_.piece_rows;
    unit_rows rows;
    rows.stride = unit_row_stride(input_.cols());
    rows.values = aligned_buffer<double>(static_cast<std::size_t>(room * rows.stride));
    original.clear();
    original.reserve(static_cast<std::size_t>(layout.places()));
    append(first, rows, original);
    if (!second.is_empty()) {
      fill_gap(rows, options_.group, original);
      append(second, rows, original);
    }
    return pair_unit_rows(std::move(rows), layout, input_.cols(), options_);
  }

 private:
  void append(row_range range, unit_rows& rows, std::vector<node_id>& original) const {
    const index_t most = options_.piece_rows;
    std::vector<detail::row_kind> kinds(static_cast<std::size_t>(most));
    append_rows(
        present_, range, most, original,
        [&](index_t begin, index_t count, index_t to) {
          make_unit_piece(input_, {begin, begin + count}, options_.what, rows.row(to), kinds.data(),
                          options_.threads);
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
  found.rows = pair_unit_rows(std::move(rows), layout_of(options.selection, found.section_rows),
                              input.cols(), options);
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
