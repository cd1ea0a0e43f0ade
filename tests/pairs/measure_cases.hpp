#pragma once
// Measures that the library does not have, described here: nothing but a descriptor tells the rest
// of the library what each is. Every sink of each is held to an oracle, on one backend and variant.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <gpu/discovery.hpp>
#include <gpu/error.hpp>
#include <gpu/pair_sinks.hpp>

#include "api/all_pairs_run.hpp"
#include "pairs/measures/measures.hpp"
#include "support/area_cases.hpp"
#include "support/pair_cases.hpp"

namespace gpu_test {

/// Ranks without a test and without folding, from two columns on.
inline const gpu::detail::measure_traits plain_ranks{
    .info = {.what = gpu::measure{1000},
             .name = "toy",
             .title = "Toy",
             .description = "Order of values",
             .symbol = "t",
             .test = gpu::significance::none,
             .interval = gpu::interval_method::none,
             .scale = gpu::value_scale::ordinal,
             .equals = gpu::equal_rows::apart,
             .least_cols = 2,
             .most_cols = 3000},
    .form = gpu::detail::row_form::ranks,
    .centre = gpu::detail::row_centre::mean};

/// The same, whose equal rows fold.
inline const gpu::detail::measure_traits folded_ranks = [] {
  gpu::detail::measure_traits out = plain_ranks;
  out.info.what = gpu::measure{1001};
  out.info.equals = gpu::equal_rows::folded;
  return out;
}();

/// Unit rows that keep their mean, as those of cosine, with the test that cosine lacks.
inline const gpu::detail::measure_traits tested_units{
    .info = {.what = gpu::measure{1002},
             .name = "unit toy",
             .title = "Unit toy",
             .description = "Directions",
             .symbol = "u",
             .test = gpu::significance::student_t,
             .interval = gpu::interval_method::fisher,
             .scale = gpu::value_scale::numeric,
             .equals = gpu::equal_rows::apart,
             .least_cols = 3,
             .most_cols = 3000},
    .form = gpu::detail::row_form::unit_values,
    .centre = gpu::detail::row_centre::none};

/// A call of a descriptor that no measure has.
inline gpu::detail::pair_request request_of(const gpu::detail::measure_traits& what,
                                            const gpu::detail::pair_tables& tables,
                                            const gpu::pair_options& options) {
  return {.what = what,
          .tables = tables,
          .part = options.part,
          .refuses_nan = options.nans == gpu::nan_policy::reject,
          .folding = options.fold,
          .variant = options.variant,
          .exec = options.exec};
}

/// A descriptor as a measure of the cases of all pairs.
template <const gpu::detail::measure_traits& what>
struct described_measure {
  template <class Data, class Sink>
  static auto run(const Data& data, const gpu::pair_options& options, const Sink& sink) {
    return gpu::detail::run_all_pairs(
        request_of(what, {.x = gpu::detail::read_elements(data)}, options), sink);
  }
  template <class X, class Y, class Sink>
  static auto against(const X& x, const Y& y, const gpu::pair_options& options, const Sink& sink) {
    const gpu::detail::pair_tables tables{.x = gpu::detail::read_elements(x),
                                          .y = gpu::detail::read_elements(y)};
    return gpu::detail::run_all_pairs(request_of(what, tables, options), sink);
  }
};

struct rank_toy : described_measure<plain_ranks> {
  template <class T>
  static statistic_table oracle(gpu::matrix_view<const T> data) {
    return reference_spearman(data);
  }
  static bool same(double got, double wanted) { return got == wanted; }
};

struct unit_toy : described_measure<tested_units> {
  static constexpr bool ties_are_exact = false;
  template <class T>
  static statistic_table oracle(gpu::matrix_view<const T> data) {
    return reference_cosine(data);
  }
  static bool same(double got, double wanted) { return std::abs(got - wanted) <= 4e-15; }
  static bool same_dense(double got, double wanted) { return std::abs(got - wanted) <= 2e-6; }
};

using folded_toy = described_measure<folded_ranks>;

inline std::vector<reference_pair> at_least(const std::vector<reference_pair>& pairs,
                                            double magnitude) {
  std::vector<reference_pair> out;
  std::copy_if(pairs.begin(), pairs.end(), std::back_inserter(out),
               [&](const reference_pair& pair) { return std::abs(pair.statistic) >= magnitude; });
  return out;
}

/// Of a measure without a test, p is NaN.
inline void check_untested_edges(std::span<const gpu::edge> got,
                                 const std::vector<reference_pair>& wanted) {
  REQUIRE(got.size() == wanted.size());
  std::size_t wrong = 0;
  for (std::size_t e = 0; e < wanted.size(); ++e) {
    wrong += got[e].row != wanted[e].row || got[e].col != wanted[e].col ||
             got[e].statistic != wanted[e].statistic || !std::isnan(got[e].p);
  }
  CHECK(wrong == 0);
}

inline void check_dense_of_ranks(const gpu::matrix<double>& got, const statistic_table& wanted,
                                 bool has_diagonal) {
  gpu::index_t wrong = 0;
  for (gpu::index_t i = 0; i < got.rows(); ++i) {
    for (gpu::index_t j = 0; j < got.cols(); ++j) {
      const double want = wanted[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
      const double expected = has_diagonal && i == j && want == want ? 1.0 : want;
      wrong += !same_or_nan(got(i, j), expected);
    }
  }
  CHECK(wrong == 0);
}

inline void check_partners_of_ranks(const gpu::neighbor_table& got, const statistic_table& block,
                                    gpu::index_t k) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const auto row = static_cast<gpu::index_t>(i);
    const auto wanted = reference_best(block[i], k, gpu::neighbor_order::by_absolute_value);
    wrong += got.count[i] != wanted.size();
    for (std::size_t e = 0; e < wanted.size(); ++e) {
      const auto at = static_cast<gpu::index_t>(e);
      wrong += got.index(row, at) != wanted[e].col || got.statistic(row, at) != wanted[e].statistic;
    }
  }
  CHECK(wrong == 0);
}

/// The edges of a stream, in the order in which they come.
template <class Run>
std::vector<gpu::edge> streamed(const Run& run, const gpu::pair_filter& keep) {
  std::vector<gpu::edge> out;
  run(gpu::stream_sink{.keep = keep, .consume = [&](std::span<const gpu::edge> some) {
                         out.insert(out.end(), some.begin(), some.end());
                       }});
  return out;
}

/// What run(sink) gives of ranks without a test is what the oracle has of the pairs.
template <class Run>
void check_rank_sinks(const Run& run, const statistic_table& of,
                      const std::vector<reference_pair>& pairs, bool is_one) {
  const gpu::pair_filter keep{.min_abs = 0.5};
  check_dense_of_ranks(run(gpu::dense_sink{}), of, is_one);
  const auto strong = at_least(pairs, keep.min_abs);
  const auto edges = run(gpu::edge_sink{.keep = keep});
  check_untested_edges(edges.edges, strong);
  CHECK(edges.summary.patterns == 0);
  check_untested_edges(streamed(run, keep), strong);
  const auto counts = run(gpu::count_sink{.keep = keep});
  CHECK(counts.kept == strong.size());
  CHECK(counts.tested == pairs.size());
}

/// Ranks without a test: of one table, of x against y, in parts.
inline void rank_sinks_equal_the_oracle(const pair_target& target) {
  GPU_TEST_INFO(target);
  for (const gpu::index_t cols : {2, 3, 17, 130, 300}) {
    INFO(cols << " columns");
    const auto x = tied_matrix<std::int32_t>(40, cols, 3);
    const auto y = tied_matrix<float>(57, cols, 4);
    const auto table = rank_toy::oracle(const_view(x));
    const auto block = reference_block(rank_toy::oracle(const_view(reference_stack(x, y))), 40);
    const auto one = [&](const auto& sink) { return rank_toy::run(x, target.options(), sink); };
    const auto two = [&](const auto& sink) {
      return rank_toy::against(x, y, target.options(), sink);
    };
    check_rank_sinks(one, table, reference_pairs(table), true);
    check_rank_sinks(two, block, reference_rectangle_pairs(block), false);
    check_partners_of_ranks(two(gpu::top_k_sink{.k = 3}), block, 3);
    for (const gpu::index_t of : {2, 7}) {
      check_row_parts(
          [&](const auto& options, const auto& sink) { return rank_toy::run(x, options, sink); },
          target.options(), of);
    }
  }
}

/// Edges of folded rows are those of single rows.
inline void folded_rows_have_the_edges(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto data = tied_matrix<std::int32_t>(300, 4, 5);
  const gpu::pair_filter keep{.min_abs = 0.7};
  const auto wanted = at_least(reference_pairs(reference_spearman(const_view(data))), keep.min_abs);
  const auto edges = folded_toy::run(data, target.options(), gpu::edge_sink{.keep = keep});
  check_untested_edges(edges.edges, wanted);
  gpu::pair_options by_patterns = target.options();
  by_patterns.fold = gpu::row_folding::always;
  const auto spread = folded_toy::run(data, by_patterns, gpu::edge_sink{.keep = keep});
  check_untested_edges(spread.edges, wanted);
  CHECK(spread.summary.patterns > 0);
  CHECK(spread.summary.patterns < 300);
}

/// The discoveries that its passes find are those of the textbook.
inline void discoveries_of_units_equal_the_textbook(const pair_target& target) {
  GPU_TEST_INFO(target);
  auto data = random_matrix<double>(90, 12, 6);
  for (gpu::index_t i = 3; i < 90; i += 3) {
    for (gpu::index_t k = 0; k < 12; ++k) data(i, k) = data(0, k) + 0.5 * data(i, k);
  }
  std::vector<double> p;
  for (const reference_pair& pair : reference_pairs(unit_toy::oracle(const_view(data)))) {
    p.push_back(reference_p(pair.statistic, 12, gpu::tail::two_sided));
  }
  const gpu::pair_filter keep{.max_p = 0.2, .adjust = gpu::adjustment::benjamini_hochberg};
  const double largest = reference_benjamini_hochberg(p, keep.max_p);
  const auto rejected = std::count_if(p.begin(), p.end(), [&](double v) { return v <= largest; });
  REQUIRE(rejected > 0);
  REQUIRE(static_cast<std::size_t>(rejected) < p.size());
  std::optional<gpu::discovery_search> search;
  int passes = 0;
  while (!search || !search->is_decided()) {
    REQUIRE(++passes < 10);
    search = gpu::next_search(
        unit_toy::run(data, target.options(), gpu::discovery_sink{.keep = keep, .search = search}));
  }
  CHECK(search->least == static_cast<std::uint64_t>(rejected));
  const auto edges = unit_toy::run(data, target.options(), gpu::edge_sink{.keep = keep});
  CHECK(static_cast<std::ptrdiff_t>(edges.edges.size()) == rejected);
}

/// Unit rows with a test: every sink, x against y, parts, by the cases of the library's measures.
inline void run_unit_cases(const pair_target& target) {
  SECTION("dense") {
    GPU_TEST_INFO(target);
    for (const auto& [rows, cols] : std::vector<std::pair<gpu::index_t, gpu::index_t>>{
             {2, 3}, {17, 30}, {65, 65}, {42, 129}, {9, 257}, {20, 2500}}) {
      check_dense<unit_toy>(const_view(tied_matrix<std::int32_t>(rows, cols, 7)), target);
      check_dense<unit_toy>(const_view(random_matrix<float>(rows, cols, 8)), target);
    }
  }
  SECTION("edges") {
    edges_equal_filtered_oracle<unit_toy>(target);
  }
  SECTION("best partners") {
    top_k_equals_sorted_oracle<unit_toy>(target);
  }
  SECTION("discoveries") {
    discoveries_of_units_equal_the_textbook(target);
  }
  SECTION("parts") {
    GPU_TEST_INFO(target);
    const auto x = area_rows<float>(70, 30, 62);
    const auto y = area_rows<std::uint8_t>(90, 30, 63);
    for (const gpu::index_t of : {3, 7}) {
      const auto table = [&](const gpu::pair_options& part, const auto& sink) {
        return unit_toy::run(x, part, sink);
      };
      const auto rectangle = [&](const gpu::pair_options& part, const auto& sink) {
        return unit_toy::against(x, y, part, sink);
      };
      check_parts(table, target.options(), of);
      check_parts(rectangle, target.options(), of);
      check_row_parts(table, target.options(), of);
      check_row_parts(rectangle, target.options(), of);
    }
  }
}

/// What a descriptor lacks is refused before any work.
inline void what_is_not_described_is_refused(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto data = tied_matrix<std::int32_t>(10, 9, 3);
  const auto refused = [&](const auto& sink) {
    CHECK_THROWS_AS(rank_toy::run(data, target.options(), sink), gpu::unsupported);
  };
  refused(gpu::edge_sink{.keep = {.max_p = 0.01}});
  refused(gpu::count_sink{.keep = {.adjust = gpu::adjustment::bonferroni}});
  refused(
      gpu::discovery_sink{.keep = {.max_p = 0.1, .adjust = gpu::adjustment::benjamini_hochberg}});
  const gpu::matrix_view<const std::int32_t> short_rows(data.data(), 10, 1, 9);
  CHECK_THROWS_AS(rank_toy::run(short_rows, target.options(), gpu::dense_sink{}),
                  gpu::invalid_argument);
  const gpu::matrix<std::int8_t> long_rows(2, 3001);
  CHECK_THROWS_AS(unit_toy::run(long_rows, target.options(), gpu::dense_sink{}),
                  gpu::invalid_argument);
}

}  // namespace gpu_test
