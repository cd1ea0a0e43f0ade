// Spearman's rows on the CPU: centred doubled ranks, exact integer dot products. Kendall's are made
// from the same ranks.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "cpu/pairs/choice/row_form.hpp"
#include "cpu/pairs/ranks/rank_rows.hpp"
#include "cpu/pairs/ranks/tested_rank_rows.hpp"
#include "cpu/pairs/rows/decided_rows.hpp"
#include "cpu/pairs/rows/kept_rows.hpp"
#include "cpu/pairs/rows/ordinary_ranks.hpp"
#include "cpu/pairs/rows/pair_rows.hpp"
#include "cpu/pairs/rows/present_rows.hpp"
#include "cpu/pairs/rows/window_source.hpp"
#include "cpu/pairs/signs/kendall_rows.hpp"
#include "cpu/rank/centred_ranks.hpp"
#include "pairs/checks.hpp"
#include "pairs/folding/equal_rows.hpp"
#include "plan/forced/forced_ways.hpp"
#include "stats/rank_squares.hpp"
#include "stats/significance/least_rank_p.hpp"
#include "stats/statistic.hpp"

namespace gpu::cpu {
namespace {

constexpr index_t serial_elements = 1 << 17;  // ranked in less time than threads take to wake

cpu_row_form rank_form(index_t cols) {
  return detail::ways_in_force().cpu.form.value_or(
      choose_cpu_rank_form(cols, usable_pair_kernels().int8.search != nullptr));
}

// In 64 bits.
template <class Integer>
struct naive_rho {
  double operator()(const ordinary_ranks<Integer>& ranks, index_t i, index_t j) const {
    const Integer* const x = ranks.row(i);
    const Integer* const y = ranks.row(j);
    std::int64_t dot = 0;
    for (index_t k = 0; k < ranks.stride; ++k) dot += std::int64_t{x[k]} * y[k];
    return detail::rho_of(dot, ranks.square_sum(i), ranks.square_sum(j));
  }
};

// How rows of ranks of one type are packed: in the form that their length asks for, or as they are
// for the naive variant. See window_source.hpp.
template <class Integer>
struct ranked_form {
  using rows = ordinary_ranks<Integer>;
  bool is_naive;
  bool takes_signs;
  bool has_two_tests;  // whether p depends on ties
  cpu_row_form form;
  int threads;

  // Rows that are kept are copied.
  void prepare(const input_rows& input, index_range range, index_t to, rows& ranks) const {
    const int team = range.size() * input.cols() < serial_elements ? 1 : threads;
    input.for_each_view(range, team, [&]<class T>(const matrix_view<const T>& view, index_t first) {
      const index_t place = to + first - range.begin;
      if constexpr (std::is_same_v<T, Integer>) {
        if (const kept_rows* const kept = input.kept_of(first)) {
          std::copy_n(kept->square_sums.begin() + input.row_of_table(first), view.rows(),
                      ranks.square_sums.begin() + place);
          return copy_rows(view, ranks.row(place), team);
        }
      }
      centred_ranks(view, matrix_view<Integer>(ranks.row(place), view.rows(), ranks.stride),
                    ranks.square_sums.data() + place, team);
    });
  }

  [[nodiscard]] std::unique_ptr<pair_rows> pack(rows ranks, const row_layout& layout) const {
    if (!has_two_tests) return make(std::move(ranks), layout);
    std::vector<std::uint8_t> classes = classes_of(ranks);
    return std::make_unique<tested_rank_rows>(make(std::move(ranks), layout), std::move(classes));
  }

 private:
  // Ties alone make the sum of squares smaller, by twice the tie sum.
  static std::vector<std::uint8_t> classes_of(const rows& ranks) {
    const std::int64_t untied = stats::untied_rank_squares(ranks.stride);
    const stats::tie_classes classes(ranks.stride);
    std::vector<std::uint8_t> out(ranks.square_sums.size());
    std::transform(ranks.square_sums.begin(), ranks.square_sums.end(), out.begin(),
                   [&](std::int64_t sum) {
                     return static_cast<std::uint8_t>(classes.of((untied - sum) / 2));
                   });
    return out;
  }

  std::unique_ptr<pair_rows> make(rows ranks, const row_layout& layout) const {
    if (takes_signs) return make_kendall_rows(std::move(ranks), is_naive, threads);
    if (is_naive) return make_plain_rows(std::move(ranks), naive_rho<Integer>{});
    if constexpr (sizeof(Integer) <= 2) {
      if (form <= cpu_row_form::short_sums) {
        return make_packed_rank_rows(std::move(ranks), layout);
      }
    }
    if constexpr (sizeof(Integer) >= 2) return make_wide_rank_rows(std::move(ranks), layout);
    return nullptr;  // bytes have a form of their own
  }
};

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
  if (sections.is_across) fill_gap(options.group, ranks, numbers);
  move_rows(of_first, patterns->size());
  ranks.resize(static_cast<index_t>(numbers.size()));
  const auto gap_begin = found.original.begin() + first;
  found.original.erase(gap_begin, gap_begin + gap);
  found.patterns = detail::renumber_rows(std::move(*patterns), found.original, input_rows);
  found.original = std::move(numbers);
}

// Appends the hashes of the ranks of those rows of `range` that are present.
template <class Integer>
void append_hashes(const ranked_form<Integer>& form, const input_rows& input, index_range range,
                   const present_rows& present, const row_options& options,
                   std::vector<std::uint64_t>& hashes) {
  const index_t most = options.piece_rows;
  ordinary_ranks<Integer> ranks(most, input.cols());
  const std::size_t row_bytes = static_cast<std::size_t>(ranks.stride) * sizeof(Integer);
  for (index_t begin = range.begin; begin < range.end; begin += most) {
    const index_t count = std::min(most, range.end - begin);
    form.prepare(input, {begin, begin + count}, 0, ranks);
    const detail::byte_rows rows{reinterpret_cast<const std::byte*>(ranks.values.data()), row_bytes,
                                 count};
    const std::vector<std::uint64_t> all =
        detail::hash_rows(rows, detail::thread_count(options.threads));
    for (index_t i = 0; i < count; ++i) {
      if (present.contains(begin + i)) hashes.push_back(all[static_cast<std::size_t>(i)]);
    }
  }
}

// Whether two rows without NaN have the same ranks; `order` is memory.
template <class T>
bool same_ranks(const T* a, const T* b, index_t cols, std::vector<index_t>& order) {
  if (std::equal(a, a + cols, b)) return true;
  order.resize(static_cast<std::size_t>(cols));
  std::iota(order.begin(), order.end(), index_t{0});
  std::sort(order.begin(), order.end(), [a](index_t i, index_t k) { return a[i] < a[k]; });
  for (std::size_t k = 1; k < order.size(); ++k) {
    const bool rises = a[order[k - 1]] < a[order[k]];
    const T low = b[order[k - 1]];
    const T high = b[order[k]];
    if (rises ? !(low < high) : low != high) return false;
  }
  return true;
}

// The patterns of the rows that are packed, where they pay.
std::optional<detail::row_patterns> group_patterns(const input_rows& input,
                                                   const present_rows& present,
                                                   std::vector<std::uint64_t> hashes,
                                                   const detail::fold_sections& sections,
                                                   int threads) {
  constexpr int passes = 8;
  std::vector<std::vector<index_t>> orders(static_cast<std::size_t>(threads));
  const auto equal = [&](node_id a, node_id b, int thread) {
    return input.with_rows(present.row_of(a), present.row_of(b),
                           [&](const auto& view, index_t i, index_t k) {
                             return same_ranks(view.row(i), view.row(k), view.cols(),
                                               orders[static_cast<std::size_t>(thread)]);
                           });
  };
  std::optional<detail::row_patterns> found =
      detail::find_patterns(std::move(hashes), equal, sections, passes, threads);
  if (!found || present.size() == input.rows()) return found;
  std::vector<node_id> original;
  for (index_t row = 0; row < input.rows(); ++row) {
    if (present.contains(row)) original.push_back(static_cast<node_id>(row));
  }
  return detail::renumber_rows(std::move(*found), original, input.rows());
}

// The rows in windows: ranked from the input whenever they are needed, so that no ranks are held.
// Rows are ranked here only to look for patterns. Where folding pays, the source has the first row
// of each. Whether the values of a row differ takes far less time to find.
template <class Integer>
std::unique_ptr<row_source> make_source(const ranked_form<Integer>& form, const input_rows& input,
                                        const row_options& options, row_preparation& found) {
  std::vector<std::uint64_t> hashes;
  if (options.looks_for_patterns) {
    hashes.reserve(static_cast<std::size_t>(options.selection.rows()));
  }
  row_inspector inspector(found);
  present_rows present = find_present(
      options.selection, input.rows(), found,
      [&](index_range range, const auto& take) {
        inspector.look_at(input, range, options.what, options.threads, take);
      },
      [&](index_range section, const present_rows& so_far) {
        if (options.looks_for_patterns)
          append_hashes(form, input, section, so_far, options, hashes);
      });
  if (options.looks_for_patterns) {
    found.patterns =
        group_patterns(input, present, std::move(hashes), options.sections(found.section_rows),
                       detail::thread_count(options.threads));
  }
  if (found.patterns) {
    present = present_rows(input.rows());
    for (index_t p = 0; p < found.patterns->size(); ++p) {
      present.add(found.patterns->members_of(static_cast<node_id>(p)).front());
    }
    present.number();
    found.section_rows.clear();
    for (const index_range& section : options.selection.sections) {
      found.section_rows.push_back(present.count_before(section.end) -
                                   present.count_before(section.begin));
    }
  }
  return std::make_unique<window_source<ranked_form<Integer>>>(form, input, std::move(present),
                                                               options, found.patterns.has_value());
}

// Rows of ranks of type Integer; those of small windows in the form that needs no groups.
template <class Integer>
void make_rows(const input_rows& input, const row_options& options, row_preparation& found) {
  const ranked_form<Integer> form{
      .is_naive = options.variant == pair_variant::naive,
      .takes_signs = options.what.form == detail::row_form::signs,
      .has_two_tests = options.what.info.test == significance::permutations,
      .form =
          options.group == pair_policy::window_step ? rank_form(input.cols()) : cpu_row_form::wide,
      .threads = options.threads};
  if (options.in_windows) {
    found.source = make_source(form, input, options, found);
    return;
  }
  auto ranks = prepare_all(form, input, options, found);
  if (options.looks_for_patterns) fold_rows(ranks, input.rows(), options, found);
  found.rows = form.pack(std::move(ranks), layout_of(options.selection, found.section_rows));
}

// body(Integer{}): the type of the ranks of so many columns. The naive variant needs no bytes.
template <class Body>
void with_rank_type(index_t cols, pair_variant variant, const Body& body) {
  if (cols > most_int16_cols) return body(std::int32_t{});
  if (variant != pair_variant::naive && rank_form(cols) == cpu_row_form::bytes) {
    return body(std::int8_t{});
  }
  return body(std::int16_t{});
}

}  // namespace

row_preparation prepare_rank_rows(const detail::pair_tables& tables, const row_options& options) {
  const input_rows input(tables);
  row_preparation found;
  found.nan_rows = validate::find_nan_rows(tables, options.threads);
  if (options.refuses_nan) validate::refuse_nan(tables, found.nan_rows, {});
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
