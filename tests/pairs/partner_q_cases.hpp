#pragma once
// q of partners against the textbook: the p of all pairs in long double, sorted and adjusted.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gpu/all_pairs.hpp>
#include <gpu/error.hpp>
#include <gpu/p_value.hpp>

#include "reference/area_reference.hpp"
#include "reference/correlation_reference.hpp"
#include "support/area_tables.hpp"
#include "support/pair_target.hpp"

namespace gpu_test {

/// q of every p, which are all tests of a family.
inline std::vector<double> reference_q(const std::vector<double>& p, gpu::adjustment how) {
  const auto tests = static_cast<long double>(p.size());
  std::vector<std::size_t> order(p.size());
  for (std::size_t i = 0; i < p.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> q(p.size());
  long double least = 1;
  for (std::size_t rank = p.size(); rank > 0; --rank) {
    const std::size_t own = order[rank - 1];
    const long double bonferroni = std::min(1.0L, static_cast<long double>(p[own]) * tests);
    least =
        std::min(least, static_cast<long double>(p[own]) * tests / static_cast<long double>(rank));
    q[own] = static_cast<double>(how == gpu::adjustment::bonferroni ? bonferroni : least);
  }
  return q;
}

/// q of every pair of a table of statistics, or of a rectangle of them; NaN where there is none.
inline statistic_table reference_q_table(const statistic_table& statistics, bool is_against,
                                         gpu::index_t observations, gpu::tail side,
                                         gpu::adjustment how) {
  std::vector<double> p;
  std::vector<std::pair<std::size_t, std::size_t>> places;
  for (std::size_t i = 0; i < statistics.size(); ++i) {
    for (std::size_t j = is_against ? 0 : i + 1; j < statistics[i].size(); ++j) {
      if (std::isnan(statistics[i][j])) continue;
      p.push_back(reference_p(statistics[i][j], observations, side));
      places.emplace_back(i, j);
    }
  }
  const std::vector<double> q = reference_q(p, how);
  statistic_table out(statistics.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i].assign(statistics[i].size(), std::nan(""));
  for (std::size_t e = 0; e < q.size(); ++e) {
    const auto [i, j] = places[e];
    out[i][j] = q[e];
    if (!is_against) out[j][i] = q[e];
  }
  return out;
}

/// Compares q of every entry; returns how many there are.
inline std::uint64_t check_q(const gpu::neighbor_table& got, const statistic_table& wanted,
                             double max_p) {
  REQUIRE(got.q.rows() == got.index.rows());
  REQUIRE(got.q.cols() == got.index.cols());
  std::uint64_t entries = 0;
  gpu::index_t wrong = 0;
  for (gpu::index_t i = 0; i < got.q.rows(); ++i) {
    const auto count = gpu::index_t{got.count[static_cast<std::size_t>(i)]};
    entries += static_cast<std::uint64_t>(count);
    for (gpu::index_t e = 0; e < got.q.cols(); ++e) {
      const double q = got.q(i, e);
      if (e >= count) {
        wrong += !std::isnan(q);
        continue;
      }
      const double expected = wanted[static_cast<std::size_t>(i)][got.index(i, e)];
      // p of two rows that are equal but for rounding is tiny, and which tiny number is chance.
      wrong += !(std::abs(q - expected) <= 1e-9 * expected + 1e-30);
      wrong += !(q <= max_p * (1 + 1e-12));
    }
  }
  CHECK(wrong == 0);
  return entries;
}

/// Partners with every adjustment, tail, order and a weak and a strict cut, of one table or, where
/// `rows_of_x` are set apart, of x against y.
template <class Measure, class T>
void q_equals_the_textbook(const pair_target& target, const gpu::matrix<T>& all,
                           gpu::index_t rows_of_x, const gpu::pair_options& options) {
  GPU_TEST_INFO(target);
  const bool is_against = rows_of_x > 0;
  const gpu::matrix_view<const T> table = all.view();
  const gpu::index_t height = is_against ? rows_of_x : all.rows();
  const gpu::matrix_view<const T> x(table.row(0), height, all.cols());
  statistic_table statistics = Measure::oracle(table);
  if (is_against) statistics = reference_block(statistics, height);
  std::uint64_t entries = 0;
  for (const auto how : {gpu::adjustment::bonferroni, gpu::adjustment::benjamini_hochberg}) {
    for (const gpu::tail side : {gpu::tail::two_sided, gpu::tail::greater, gpu::tail::less}) {
      const auto wanted = reference_q_table(statistics, is_against, all.cols(), side, how);
      for (const double max_p : {0.01, 0.2, 1.0}) {
        for (const double min_abs : {0.0, 0.7137}) {
          const gpu::index_t k = max_p == 0.2 ? 3 : all.rows();
          INFO("adjust " << static_cast<int>(how) << ", tail " << static_cast<int>(side)
                         << ", max_p " << max_p << ", min_abs " << min_abs);
          const gpu::top_k_sink sink{
              .k = k,
              .keep = {.max_p = max_p, .min_abs = min_abs, .side = side, .adjust = how},
              .order = min_abs > 0 ? gpu::neighbor_order::by_value
                                   : gpu::neighbor_order::by_absolute_value,
              .q = gpu::neighbor_q::exact};
          if (!is_against) {
            entries += check_q(Measure::run(x, options, sink), wanted, max_p);
            continue;
          }
          const gpu::matrix_view<const T> y(table.row(height), all.rows() - height, all.cols());
          entries += check_q(Measure::against(x, y, options, sink), wanted, max_p);
        }
      }
    }
  }
  CHECK(entries > 500);
}

template <class Measure>
void partners_have_the_q_of_the_textbook(const pair_target& target) {
  const auto tied = area_rows<std::int32_t>(75, 12, 5);
  q_equals_the_textbook<Measure>(target, tied, 0, target.options());
  q_equals_the_textbook<Measure>(target, tied, 31, target.options());
  const auto real = area_rows<double>(64, 25, 6);
  q_equals_the_textbook<Measure>(target, real, 0, target.options());
}

/// More pairs than one thread sorts, the same bytes with few and with many threads, and what
/// adjusted_p_values says of all edges.
template <class Measure>
void q_of_many_pairs_is_that_of_the_edges(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto data = area_rows<std::int32_t>(700, 12, 8);
  const gpu::pair_filter keep{.max_p = 1.0, .adjust = gpu::adjustment::benjamini_hochberg};
  const auto edges = Measure::run(const_view(data), target.options(), gpu::edge_sink{.keep = keep});
  const std::vector<double> q = gpu::adjusted_p_values(edges.edges, edges.summary.pairs_tested,
                                                       gpu::adjustment::benjamini_hochberg);
  gpu::matrix<double> of(700, 700);
  for (std::size_t e = 0; e < q.size(); ++e) {
    of(edges.edges[e].row, edges.edges[e].col) = q[e];
    of(edges.edges[e].col, edges.edges[e].row) = q[e];
  }
  REQUIRE(q.size() > 200'000);
  const gpu::top_k_sink sink{.k = 9, .keep = keep, .q = gpu::neighbor_q::exact};
  for (const int threads : {1, 3}) {
    gpu::pair_options options = target.options();
    options.exec.cpu_threads = threads;
    const auto got = Measure::run(const_view(data), options, sink);
    gpu::index_t wrong = 0;
    for (gpu::index_t i = 0; i < 700; ++i) {
      for (gpu::index_t e = 0; e < gpu::index_t{got.count[static_cast<std::size_t>(i)]}; ++e) {
        wrong += got.q(i, e) != of(i, got.index(i, e));
      }
    }
    CHECK(wrong == 0);
  }
}

/// Parts, limits and what is refused.
template <class Measure>
void q_is_refused_where_it_is_not_known(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto data = area_rows<std::int32_t>(700, 12, 8);
  const auto run = [&](const gpu::top_k_sink& sink, const gpu::pair_options& options) {
    return Measure::run(const_view(data), options, sink);
  };
  CHECK(run({.k = 2}, target.options()).q.rows() == 0);
  CHECK_THROWS_AS(run({.k = 2, .q = gpu::neighbor_q::exact}, target.options()),
                  gpu::invalid_argument);

  // Bonferroni's q needs no other pair, so that a part has it.
  gpu::top_k_sink sink{.k = 2,
                       .keep = {.max_p = 0.5, .adjust = gpu::adjustment::bonferroni},
                       .q = gpu::neighbor_q::exact};
  const auto whole = run(sink, target.options());
  gpu::pair_options part = target.options();
  part.part = {.index = 1, .of = 3};
  const auto some = run(sink, part);
  gpu::index_t wrong = 0;
  for (gpu::index_t i = 0; i < some.q.rows(); ++i) {
    for (gpu::index_t e = 0; e < 2; ++e) {
      wrong += !same_or_nan(some.q(i, e), whole.q(some.summary.part_begin + i, e));
    }
  }
  CHECK(wrong == 0);
  sink.keep.adjust = gpu::adjustment::benjamini_hochberg;
  CHECK_THROWS_AS(run(sink, part), gpu::unsupported);

  // The p of all 235,000 pairs, eight bytes each, are more than that. Fewer are not.
  gpu::pair_options little = target.options();
  little.exec.workspace_bytes = std::size_t{1} << 20;
  little.exec.cpu_threads = 2;  // each takes some of it
  CHECK(run(sink, little).q.rows() == 700);
  sink.keep.max_p = 1.0;
  try {
    (void)run(sink, little);
    FAIL("expected gpu::out_of_memory");
  } catch (const gpu::out_of_memory& error) {
    const std::string text = error.what();
    INFO(text);
    CHECK(text.find("top_k_sink.q") == 0);
    CHECK(text.find("options.exec.workspace_bytes is 1048576") != text.npos);
    CHECK(text.find("A smaller pair_filter.max_p") != text.npos);
    // 16 bytes for each of the entries, which are ranked.
    const std::uint64_t kept =
        Measure::run(const_view(data), target.options(), gpu::count_sink{.keep = sink.keep}).kept;
    CHECK(error.requested_bytes() == kept * 8 + 700 * 2 * 16);
  }
}

}  // namespace gpu_test
