// Spearman's rows on the CPU: centred doubled ranks, exact integer dot products. Kendall's are made
// from the same ranks.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>

#include "base/parallel.hpp"
#include "cpu/pairs/choice/row_form.hpp"
#include "cpu/pairs/ranks/packed_rank_rows.hpp"
#include "cpu/pairs/ranks/plain_rank_rows.hpp"
#include "cpu/pairs/ranks/tested_rank_rows.hpp"
#include "cpu/pairs/rows/pair_rows.hpp"
#include "cpu/pairs/rows/ranked_source.hpp"
#include "cpu/pairs/signs/kendall_rows.hpp"
#include "cpu/pairs/wide/wide_rank_rows.hpp"
#include "pairs/checks.hpp"
#include "pairs/folding/equal_rows.hpp"
#include "plan/forced/forced_ways.hpp"
#include "stats/rank_squares.hpp"
#include "stats/significance/least_rank_p.hpp"

namespace gpu::cpu {
namespace {

constexpr index_t serial_elements = 1 << 17;  // ranked in less time than threads take to wake

cpu_rank_form rank_form(index_t cols) {
  return detail::ways_in_force().cpu.rank_form.value_or(
      choose_cpu_rank_form(cols, usable_pair_kernels().int8.search != nullptr));
}

// Ranks the rows of `section` to the places from `to` on, those that vary; returns their number.
template <class Integer>
index_t rank_section(const input_rows& input, index_range section, index_t to, int threads,
                     row_inspector& inspector, ordinary_ranks<Integer>& ranks,
                     std::vector<node_id>& original) {
  const bool is_small = section.size() * input.cols() < serial_elements;
  rank_rows_to(input, section, to, ranks, is_small ? 1 : threads);
  index_t place = to;
  for (index_t i = 0; i < section.size(); ++i) {
    const bool varies = ranks.square_sums[static_cast<std::size_t>(to + i)] != 0;
    if (!inspector.admits(section.begin + i, varies)) continue;
    if (place != to + i) ranks.copy_row(to + i, place);
    original.push_back(static_cast<node_id>(section.begin + i));
    ++place;
  }
  return place - to;
}

// Fills the places between two sections that meet each other alone.
template <class Integer>
void fill_gap(index_t rows, index_t group, ordinary_ranks<Integer>& ranks,
              std::vector<node_id>& original) {
  const index_t end = row_layout::second_begin(rows, group);
  for (index_t place = rows; rows > 0 && place < end; ++place) {
    ranks.copy_row(rows - 1, place);
    original.push_back(original.back());
  }
}

template <class Integer>
ordinary_ranks<Integer> rank_ordinary_rows(const input_rows& input, const row_options& options,
                                           row_preparation& found) {
  const row_selection& selection = options.selection;
  const auto room = static_cast<std::size_t>(selection.places());
  ordinary_ranks<Integer> out;
  out.stride = input.cols();
  out.values = aligned_buffer<Integer>(room * static_cast<std::size_t>(out.stride));
  out.square_sums.resize(room);
  row_inspector inspector(found);
  index_t place = 0;
  for_each_section(
      selection, input.rows(),
      [&](index_range section) {
        const index_t rows =
            rank_section(input, section, place, options.threads, inspector, out, found.original);
        const bool is_first = found.section_rows.empty();
        found.section_rows.push_back(rows);
        if (selection.is_across && is_first) fill_gap(rows, options.group, out, found.original);
        place = static_cast<index_t>(found.original.size());
      },
      [&](index_range others) {
        inspector.look_at(input, others, options.what, options.threads, [](index_t) {});
      });
  out.square_sums.resize(static_cast<std::size_t>(place));
  return out;
}

// Leaves one row of each pattern, where that pays.
template <class Integer>
void fold_rows(ordinary_ranks<Integer>& ranks, index_t input_rows, const row_options& options,
               row_preparation& found) {
  const detail::fold_sections sections = options.sections(found.section_rows);
  const index_t first = sections.rows.front();
  const index_t gap =
      sections.is_across ? row_layout::second_begin(first, options.group) - first : 0;
  const detail::byte_rows rows{
      .data = reinterpret_cast<const std::byte*>(ranks.values.data()),
      .row_bytes = static_cast<std::size_t>(ranks.stride) * sizeof(Integer),
      .count = static_cast<index_t>(found.original.size()) - gap,
      .gap_begin = first,
      .gap_rows = gap};
  std::optional<detail::row_patterns> patterns =
      detail::find_patterns(rows, sections, options.threads);
  if (!patterns) return;
  found.section_rows = sections.count(*patterns);
  std::vector<node_id> numbers;
  const auto move_rows = [&](index_t begin, index_t end) {
    for (index_t p = begin; p < end; ++p) {
      const auto place = static_cast<index_t>(numbers.size());
      // Never before the place that it comes to.
      const index_t from = rows.place(patterns->members_of(static_cast<node_id>(p)).front());
      if (from != place) ranks.copy_row(from, place);
      numbers.push_back(static_cast<node_id>(p));
    }
  };
  const index_t of_first = found.section_rows.front();
  move_rows(0, of_first);
  if (sections.is_across) fill_gap(of_first, options.group, ranks, numbers);
  move_rows(of_first, patterns->size());
  ranks.square_sums.resize(numbers.size());
  const auto gap_begin = found.original.begin() + first;
  found.original.erase(gap_begin, gap_begin + gap);
  found.patterns = detail::renumber_rows(std::move(*patterns), found.original, input_rows);
  found.original = std::move(numbers);
}

// The rows of ranks of one type: in the form that their length asks for, or as they are for the
// naive variant.
template <class Integer>
struct row_maker {
  bool is_naive;
  bool takes_signs;
  bool has_two_tests;  // whether p depends on ties
  cpu_rank_form form;
  int threads;

  std::unique_ptr<pair_rows> operator()(ordinary_ranks<Integer> ranks,
                                        const row_layout& layout) const {
    if (!has_two_tests) return make(std::move(ranks), layout);
    std::vector<std::uint8_t> classes = classes_of(ranks);
    return std::make_unique<tested_rank_rows>(make(std::move(ranks), layout), std::move(classes));
  }

  // Ties alone make the sum of squares smaller, by twice the tie sum.
  static std::vector<std::uint8_t> classes_of(const ordinary_ranks<Integer>& ranks) {
    const std::int64_t untied = stats::untied_rank_squares(ranks.stride);
    const stats::tie_classes classes(ranks.stride);
    std::vector<std::uint8_t> out(ranks.square_sums.size());
    std::transform(ranks.square_sums.begin(), ranks.square_sums.end(), out.begin(),
                   [&](std::int64_t sum) {
                     return static_cast<std::uint8_t>(classes.of((untied - sum) / 2));
                   });
    return out;
  }

  std::unique_ptr<pair_rows> make(ordinary_ranks<Integer> ranks, const row_layout& layout) const {
    if (takes_signs) return make_kendall_rows(std::move(ranks), is_naive, threads);
    if (is_naive) return std::make_unique<plain_rank_rows<Integer>>(std::move(ranks));
    if constexpr (sizeof(Integer) <= 2) {
      if (form <= cpu_rank_form::short_sums) {
        return make_packed_rank_rows(std::move(ranks), layout);
      }
    }
    if constexpr (sizeof(Integer) >= 2) return make_wide_rank_rows(std::move(ranks), layout);
    return nullptr;  // bytes have a form of their own
  }
};

// Rows of ranks of type Integer; those of small windows in the form that needs no groups.
template <class Integer>
void make_rows(const input_rows& input, const row_options& options, row_preparation& found) {
  const row_maker<Integer> maker{
      .is_naive = options.variant == pair_variant::naive,
      .takes_signs = options.what.form == detail::row_form::signs,
      .has_two_tests = options.what.info.test == significance::permutations,
      .form =
          options.group == pair_policy::window_step ? rank_form(input.cols()) : cpu_rank_form::wide,
      .threads = options.threads};
  if (options.in_windows) {
    found.source = make_ranked_source<Integer>(input, options, maker, found);
    return;
  }
  auto ranks = rank_ordinary_rows<Integer>(input, options, found);
  if (options.looks_for_patterns) fold_rows(ranks, input.rows(), options, found);
  found.rows = maker(std::move(ranks), layout_of(options.selection, found.section_rows));
}

// body(Integer{}): the type of the ranks of so many columns. The naive variant needs no bytes.
template <class Body>
void with_rank_type(index_t cols, pair_variant variant, const Body& body) {
  if (cols > most_int16_cols) return body(std::int32_t{});
  if (variant != pair_variant::naive && rank_form(cols) == cpu_rank_form::bytes) {
    return body(std::int8_t{});
  }
  return body(std::int16_t{});
}

}  // namespace

row_preparation prepare_rank_rows(const detail::pair_tables& tables, const row_options& options) {
  const input_rows input(tables);
  row_preparation found;
  found.nan_rows = validate::find_nan_rows(tables, options.threads);
  validate::refuse_nans(tables, found.nan_rows, options.nans);
  with_rank_type(input.cols(), options.variant,
                 [&]<class Integer>(Integer) { make_rows<Integer>(input, options, found); });
  return found;
}

void keep_rank_rows(const input_rows& input, pair_variant variant, int threads, kept_rows& out) {
  with_rank_type(input.cols(), variant, [&]<class Integer>(Integer) {
    const auto elements = static_cast<std::size_t>(input.rows() * input.cols());
    out.values = aligned_buffer<std::byte>(elements * sizeof(Integer));
    out.square_sums.resize(static_cast<std::size_t>(input.rows()));
    const matrix_view<Integer> ranks(reinterpret_cast<Integer*>(out.values.data()), input.rows(),
                                     input.cols());
    input.for_each_view({0, input.rows()}, threads, [&](const auto& view, index_t first) {
      centred_ranks(view, matrix_view<Integer>(ranks.row(first), view.rows(), view.cols()),
                    out.square_sums.data() + first, threads);
    });
    out.view = matrix_view<const Integer>(ranks);
  });
}

}  // namespace gpu::cpu
