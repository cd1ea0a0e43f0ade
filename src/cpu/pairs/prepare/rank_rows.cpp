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
#include "cpu/pairs/rows/section_patterns.hpp"
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

// The patterns of each section, whose rows are at places `begin` and behind; none where folding
// does not pay.
template <class Integer>
std::vector<detail::row_patterns> find_section_patterns(const ordinary_ranks<Integer>& ranks,
                                                const std::vector<index_t>& begin,
                                                const row_options& options,
                                                const std::vector<index_t>& section_rows) {
  const auto row_bytes = static_cast<std::size_t>(ranks.stride) * sizeof(Integer);
  std::vector<detail::byte_rows> places;
  std::vector<section_sample> samples;
  for (std::size_t s = 0; s < begin.size(); ++s) {
    places.push_back(
        {reinterpret_cast<const std::byte*>(ranks.row(begin[s])), row_bytes, section_rows[s]});
    samples.push_back({section_rows[s], detail::hash_rows(places[s], options.threads)});
  }
  if (!promises_patterns(options.selection, samples, options.most_pattern_share)) return {};
  std::vector<detail::row_patterns> found;
  std::vector<double> rows;
  std::vector<double> patterns;
  for (std::size_t s = 0; s < begin.size(); ++s) {
    const detail::byte_rows& own = places[s];
    const auto equal = [&](node_id a, node_id b, int) {
      return std::memcmp(own.row(a), own.row(b), row_bytes) == 0;
    };
    found.push_back(
        detail::group_equal_rows(equal, std::move(samples[s].hashes), 1, options.threads));
    rows.push_back(static_cast<double>(own.count));
    patterns.push_back(static_cast<double>(found.back().size()));
  }
  if (!folding_pays(options.selection, rows, patterns, options.most_pattern_share)) return {};
  return found;
}

// Leaves one row of each pattern, where that pays.
template <class Integer>
void fold_rows(ordinary_ranks<Integer>& ranks, index_t input_rows, const row_options& options,
               row_preparation& found) {
  std::vector<index_t> begin;
  index_t next = 0;
  for (const index_t rows : found.section_rows) {
    begin.push_back(next);
    next += rows;
    if (options.selection.is_across) next = row_layout::second_begin(next, options.group);
  }
  std::vector<detail::row_patterns> patterns =
      find_section_patterns(ranks, begin, options, found.section_rows);
  if (patterns.empty()) return;
  std::vector<std::span<const node_id>> original;
  std::vector<node_id> numbers;
  index_t place = 0;
  for (std::size_t s = 0; s < patterns.size(); ++s) {
    original.push_back(std::span<const node_id>(found.original)
                           .subspan(static_cast<std::size_t>(begin[s]),
                                    static_cast<std::size_t>(found.section_rows[s])));
    const auto first = static_cast<node_id>(numbers.empty() ? 0 : numbers.back() + 1);
    for (index_t p = 0; p < patterns[s].size(); ++p) {
      // Never before the place that it comes to.
      const index_t from = begin[s] + patterns[s].members_of(static_cast<node_id>(p)).front();
      if (from != place) ranks.copy_row(from, place);
      numbers.push_back(first + static_cast<node_id>(p));
      ++place;
    }
    found.section_rows[s] = patterns[s].size();
    if (options.selection.is_across && s == 0) fill_gap(place, options.group, ranks, numbers);
    place = static_cast<index_t>(numbers.size());
  }
  ranks.square_sums.resize(numbers.size());
  found.patterns = join_patterns(std::move(patterns), original, input_rows);
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
