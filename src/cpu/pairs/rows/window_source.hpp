#pragma once
// How rows come to their places: all at once, or window by window from the caller's input.
//
// A Form says how. It has
//   rows                             what is prepared: rows(places, cols), copy_row(from, to),
//                                    resize(places), and has_statistic(place) for prepare_all()
//   prepare(input, range, to, rows)  prepares rows of the input to the places from `to` on
//   pack(rows, layout)               makes pair_rows of them

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "cpu/pairs/rows/input_rows.hpp"
#include "cpu/pairs/rows/pair_rows.hpp"
#include "cpu/pairs/rows/present_rows.hpp"
#include "cpu/pairs/rows/row_source.hpp"

namespace gpu::cpu {

/// Appends to `rows` those of `range`, `at_once` at a time, that admits(row, place) once they are
/// prepared, and their numbers to `original`.
template <class Form, class Admits>
void append_rows(const Form& form, const input_rows& input, index_range range, index_t at_once,
                 typename Form::rows& rows, std::vector<node_id>& original, const Admits& admits) {
  for (index_t begin = range.begin; begin < range.end; begin += at_once) {
    const index_range some{begin, std::min(range.end, begin + at_once)};
    const auto start = static_cast<index_t>(original.size());
    form.prepare(input, some, start, rows);
    index_t to = start;
    for (index_t i = 0; i < some.size(); ++i) {
      if (!admits(some.begin + i, start + i)) continue;
      if (to != start + i) rows.copy_row(start + i, to);
      original.push_back(static_cast<node_id>(some.begin + i));
      ++to;
    }
  }
}

/// Fills the places up to the second range with the last row of the first.
template <class Rows>
void fill_gap(index_t group, Rows& rows, std::vector<node_id>& original) {
  const auto first = static_cast<index_t>(original.size());
  const index_t end = row_layout::second_begin(first, group);
  for (index_t place = first; first > 0 && place < end; ++place) {
    rows.copy_row(first - 1, place);
    original.push_back(original.back());
  }
}

/// Prepares all selected rows that have a statistic, and looks at the others.
template <class Form>
typename Form::rows prepare_all(const Form& form, const input_rows& input,
                                const row_options& options, row_preparation& found) {
  const row_selection& selection = options.selection;
  typename Form::rows out(selection.places(), input.cols());
  found.original.reserve(static_cast<std::size_t>(selection.places()));
  row_inspector inspector(found);
  const auto take = [&](index_range section) {
    const std::size_t before = found.original.size();
    append_rows(form, input, section, section.size(), out, found.original,
                [&](index_t row, index_t place) {
                  return inspector.admits(row, out.has_statistic(place));
                });
    const bool is_first = found.section_rows.empty();
    found.section_rows.push_back(static_cast<index_t>(found.original.size() - before));
    if (selection.is_across && is_first) fill_gap(options.group, out, found.original);
  };
  for_each_section(selection, input.rows(), take, [&](index_range others) {
    inspector.look_at(input, others, options.what, options.threads, [](index_t) {});
  });
  out.resize(static_cast<index_t>(found.original.size()));
  return out;
}

/// Looks at all rows; the selected ones that look_at(range, take) takes are packed in windows.
/// finish(section, present) follows each section.
template <class LookAt, class Finish>
present_rows find_present(const row_selection& selection, index_t rows, row_preparation& found,
                          const LookAt& look_at, const Finish& finish) {
  present_rows out(rows);
  const auto take = [&](index_range section) {
    index_t taken = 0;
    look_at(section, [&](index_t row) {
      out.add(row);
      ++taken;
    });
    found.section_rows.push_back(taken);
    finish(section, out);
  };
  for_each_section(selection, rows, take,
                   [&](index_range others) { look_at(others, [](index_t) {}); });
  out.number();
  return out;
}

/// Prepares rows whenever they are asked for.
template <class Form>
class window_source final : public row_source {
 public:
  /// `present` are the rows themselves, or with `numbers_patterns` the first of each pattern.
  window_source(Form form, const input_rows& input, present_rows present,
                const row_options& options, bool numbers_patterns)
      : form_(std::move(form)),
        input_(input),
        present_(std::move(present)),
        numbers_patterns_(numbers_patterns),
        group_(options.group),
        piece_rows_(options.piece_rows) {}

  [[nodiscard]] index_t size() const override { return present_.size(); }

  [[nodiscard]] std::unique_ptr<pair_rows> pack(row_range first, row_range second, row_range asked,
                                                std::vector<node_id>& original) const override {
    const row_layout layout{
        .first = first.size(), .second = second.size(), .asked = asked, .group = group_};
    typename Form::rows rows(layout.places() + piece_rows_, input_.cols());
    original.clear();
    original.reserve(static_cast<std::size_t>(layout.places()));
    append(first, rows, original);
    if (!second.is_empty()) {
      fill_gap(group_, rows, original);
      append(second, rows, original);
    }
    rows.resize(layout.places());
    return form_.pack(std::move(rows), layout);
  }

 private:
  void append(row_range range, typename Form::rows& rows, std::vector<node_id>& original) const {
    if (range.is_empty()) return;
    const auto start = static_cast<std::ptrdiff_t>(original.size());
    append_rows(form_, input_, {present_.row_of(range.begin), present_.row_of(range.end - 1) + 1},
                piece_rows_, rows, original,
                [&](index_t row, index_t) { return present_.contains(row); });
    if (numbers_patterns_) {
      std::iota(original.begin() + start, original.end(), static_cast<node_id>(range.begin));
    }
  }

  Form form_;
  input_rows input_;
  present_rows present_;
  bool numbers_patterns_;
  index_t group_;
  index_t piece_rows_;
};

/// Looks at all rows of an input; the source of those that have a statistic.
template <class Form>
std::unique_ptr<row_source> find_source(const Form& form, const input_rows& input,
                                        const row_options& options, row_preparation& found) {
  row_inspector inspector(found);
  const auto look_at = [&](index_range range, const auto& take) {
    inspector.look_at(input, range, options.what, options.threads, take);
  };
  return std::make_unique<window_source<Form>>(
      form, input, find_present(options.selection, input.rows(), found, look_at, [](auto&&...) {}),
      options, false);
}

}  // namespace gpu::cpu
