#pragma once
// The cases that every measure, backend and variant of all pairs must pass. A test program calls
// them with a measure (tests/spearman/spearman_measure.hpp, tests/pearson/pearson_measure.hpp) and
// the targets it has: the CPU programs here, the CUDA programs with the same cases.
//
// A measure has: run(view, options, sink), plan(view, options, filter), oracle(view),
// same(got, wanted) for a statistic, same_dense(got, wanted).

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gpu/backend.hpp>
#include <gpu/error.hpp>
#include <gpu/matrix.hpp>
#include <gpu/p_value.hpp>
#include <gpu/pair_options.hpp>
#include <gpu/pair_sinks.hpp>
#include <gpu/plan.hpp>

#include "reference/correlation_reference.hpp"
#include "support/catch.hpp"
#include "support/generators.hpp"

namespace gpu_test {

/// What a case runs on.
struct pair_target {
  gpu::backend where = gpu::backend::cpu;
  gpu::pair_variant variant = gpu::pair_variant::automatic;
  [[nodiscard]] gpu::pair_options options() const {
    gpu::pair_options out;
    out.variant = variant;
    out.exec.target = where;
    return out;
  }
};

/// Names the target with every failure of the case.
#define GPU_TEST_INFO(target)                                       \
  INFO("backend " << gpu::to_string((target).where) << ", variant " \
                  << gpu::to_string((target).variant))

template <class T>
gpu::matrix_view<const T> const_view(const gpu::matrix<T>& m) {
  return m.view();
}

/// The pairs of `table` that pass `keep` without adjustment, by the definition of pair_filter.
inline std::vector<reference_pair> filtered(const statistic_table& table, gpu::index_t observations,
                                            const gpu::pair_filter& keep) {
  std::vector<reference_pair> out;
  for (const reference_pair& pair : reference_pairs(table)) {
    const double key = reference_key(pair.statistic, keep.side);
    const bool strong = keep.min_abs == 0 || key >= keep.min_abs;
    if (strong && reference_p(pair.statistic, observations, keep.side) <= keep.max_p) {
      out.push_back(pair);
    }
  }
  return out;
}

template <class Measure>
void check_edges(std::span<const gpu::edge> got, const std::vector<reference_pair>& wanted,
                 gpu::index_t observations, gpu::tail side) {
  REQUIRE(got.size() == wanted.size());
  bool same_pairs = true;
  bool same_statistics = true;
  bool same_p = true;
  for (std::size_t e = 0; e < got.size(); ++e) {
    same_pairs &= got[e].row == wanted[e].row && got[e].col == wanted[e].col;
    same_statistics &= Measure::same(got[e].statistic, wanted[e].statistic);
    same_p &= got[e].p == gpu::correlation_p_value(got[e].statistic, observations, side);
  }
  CHECK(same_pairs);
  CHECK(same_statistics);
  CHECK(same_p);
}

/// Filters that exercise every tail and both cuts.
inline std::vector<gpu::pair_filter> some_filters() {
  std::vector<gpu::pair_filter> out;
  for (const gpu::tail side : {gpu::tail::two_sided, gpu::tail::greater, gpu::tail::less}) {
    for (const double max_p : {1.0, 0.7, 0.05, 1e-4}) {
      for (const double min_abs : {0.0, 0.3137}) {
        out.push_back({.max_p = max_p, .min_abs = min_abs, .side = side});
      }
    }
  }
  return out;
}

// ---- dense ------------------------------------------------------------------------------------

template <class Measure, class T>
void check_dense(const gpu::matrix_view<const T>& data, const pair_target& target) {
  const auto wanted = Measure::oracle(data);
  const auto got = Measure::run(data, target.options(), gpu::dense_sink{});
  const auto got_f32 = Measure::run(data, target.options(), gpu::dense_sink_f32{});
  const gpu::index_t n = data.rows();
  REQUIRE(got.rows() == n);
  REQUIRE(got.cols() == n);
  REQUIRE(got_f32.rows() == n);
  gpu::index_t wrong = 0;
  gpu::index_t wrong_f32 = 0;
  for (gpu::index_t i = 0; i < n; ++i) {
    for (gpu::index_t j = 0; j < n; ++j) {
      const double want = wanted[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
      if (std::isnan(want)) {
        wrong += !std::isnan(got(i, j));
        wrong_f32 += !std::isnan(got_f32(i, j));
      } else {
        wrong += !Measure::same_dense(got(i, j), i == j ? 1.0 : want);
        wrong_f32 += std::abs(static_cast<double>(got_f32(i, j)) - (i == j ? 1.0 : want)) > 2e-6;
      }
    }
  }
  CHECK(wrong == 0);
  CHECK(wrong_f32 == 0);
  CHECK(got.summary.pairs_tested == reference_pairs(wanted).size());
  CHECK(got.summary.pairs_kept == got.summary.pairs_tested);
  CHECK(got.summary.used == target.where);
}

template <class Measure>
void dense_equals_oracle_in_every_shape(const pair_target& target) {
  GPU_TEST_INFO(target);
  // Around the edges of tiles, vectors and packed words in both directions.
  const std::vector<std::pair<gpu::index_t, gpu::index_t>> shapes{
      {2, 3},    {3, 4},    {7, 8},   {15, 9},  {16, 16}, {17, 30},  {31, 31},
      {32, 32},  {33, 33},  {63, 63}, {64, 64}, {65, 65}, {127, 30}, {128, 33},
      {129, 32}, {200, 30}, {20, 95}, {19, 96}, {18, 97}, {40, 127}, {41, 128},
      {42, 129}, {9, 255},  {9, 256}, {9, 257}, {5, 511}, {70, 513}, {257, 20}};
  for (const auto& [rows, cols] : shapes) {
    INFO("shape " << rows << " x " << cols);
    const auto seed = static_cast<std::uint64_t>(rows * 1000 + cols);
    check_dense<Measure>(const_view(tied_matrix<std::int32_t>(rows, cols, seed)), target);
    check_dense<Measure>(const_view(random_matrix<double>(rows, cols, seed + 1)), target);
  }
}

template <class Measure, class T>
void dense_takes_element_type(const pair_target& target) {
  GPU_TEST_INFO(target);
  check_dense<Measure>(const_view(tied_matrix<T>(37, 30, 1)), target);
  check_dense<Measure>(const_view(random_matrix<T>(37, 30, 2)), target);
  check_dense<Measure>(const_view(random_matrix<T>(10, 150, 3)), target);

  // Rows further apart than they are long.
  const gpu::matrix<T> wide = random_matrix<T>(21, 53, 4);
  check_dense<Measure>(gpu::matrix_view<const T>(wide.data() + 3, 21, 41, 53), target);
}

// ---- edges, streams, counts -------------------------------------------------------------------

template <class Measure>
void edges_equal_filtered_oracle(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto data = tied_matrix<std::int32_t>(150, 30, 5);
  const auto table = Measure::oracle(const_view(data));
  for (const gpu::pair_filter& keep : some_filters()) {
    INFO("max_p " << keep.max_p << ", min_abs " << keep.min_abs << ", tail "
                  << static_cast<int>(keep.side));
    const auto wanted = filtered(table, 30, keep);
    const auto got = Measure::run(const_view(data), target.options(), gpu::edge_sink{.keep = keep});
    check_edges<Measure>(got.edges, wanted, 30, keep.side);
    CHECK(got.summary.pairs_kept == wanted.size());
    CHECK(got.summary.pairs_tested == reference_pairs(table).size());

    auto unordered =
        Measure::run(const_view(data), target.options(),
                     gpu::edge_sink{.keep = keep, .order = gpu::edge_order::unspecified});
    std::sort(unordered.edges.begin(), unordered.edges.end(),
              [](const gpu::edge& a, const gpu::edge& b) {
                return std::pair(a.row, a.col) < std::pair(b.row, b.col);
              });
    CHECK(unordered.edges == got.edges);
  }
}

template <class Measure>
void streams_deliver_the_edges_in_batches(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto data = tied_matrix<std::int32_t>(300, 30, 6);
  const gpu::pair_filter keep{.max_p = 0.2};
  const auto whole = Measure::run(const_view(data), target.options(), gpu::edge_sink{.keep = keep});
  REQUIRE(whole.edges.size() > 5000);
  for (const gpu::index_t batch_edges : {gpu::index_t{1}, gpu::index_t{7}, gpu::index_t{1000}}) {
    std::vector<gpu::edge> all;
    bool within_limit = true;
    const auto caller = std::this_thread::get_id();
    bool from_caller = true;
    const auto summary = Measure::run(
        const_view(data), target.options(),
        gpu::stream_sink{.keep = keep,
                         .consume =
                             [&](std::span<const gpu::edge> batch) {
                               within_limit &= !batch.empty() && static_cast<gpu::index_t>(
                                                                     batch.size()) <= batch_edges;
                               from_caller &= std::this_thread::get_id() == caller;
                               all.insert(all.end(), batch.begin(), batch.end());
                             },
                         .batch_edges = batch_edges});
    CHECK(all == whole.edges);
    CHECK(within_limit);
    CHECK(from_caller);
    CHECK(summary.pairs_kept == whole.edges.size());
  }
}

template <class Measure>
void an_exception_of_the_consumer_reaches_the_caller(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto data = tied_matrix<std::int32_t>(200, 30, 7);
  int calls = 0;
  const gpu::stream_sink sink{.keep = {},
                              .consume =
                                  [&](std::span<const gpu::edge>) {
                                    if (++calls == 3) throw std::domain_error("enough");
                                  },
                              .batch_edges = 100};
  CHECK_THROWS_AS(Measure::run(const_view(data), target.options(), sink), std::domain_error);
  CHECK(calls == 3);
  // The library is usable afterwards.
  CHECK(Measure::run(const_view(data), target.options(), gpu::count_sink{}).kept > 0);
}

template <class Measure>
void counts_equal_the_edges(const pair_target& target) {
  GPU_TEST_INFO(target);
  const gpu::index_t rows = 230;
  const auto data = tied_matrix<std::int32_t>(rows, 30, 8);
  for (const gpu::pair_filter& keep : some_filters()) {
    for (const gpu::index_t bins : {gpu::index_t{0}, gpu::index_t{1}, gpu::index_t{20}}) {
      const auto edges =
          Measure::run(const_view(data), target.options(), gpu::edge_sink{.keep = keep}).edges;
      const auto got = Measure::run(const_view(data), target.options(),
                                    gpu::count_sink{.keep = keep, .histogram_bins = bins});
      std::vector<std::uint32_t> degree(static_cast<std::size_t>(rows));
      std::vector<std::uint64_t> histogram(static_cast<std::size_t>(bins));
      for (const gpu::edge& e : edges) {
        ++degree[e.row];
        ++degree[e.col];
        if (bins == 0) continue;
        const auto bin = static_cast<gpu::index_t>(
            std::floor((e.statistic + 1) * static_cast<double>(bins) / 2));
        ++histogram[static_cast<std::size_t>(std::min(bin, bins - 1))];
      }
      CHECK(got.kept == edges.size());
      CHECK(got.degree == degree);
      CHECK(got.histogram == histogram);
      CHECK(got.tested == got.summary.pairs_tested);
      CHECK(got.summary.pairs_kept == got.kept);
    }
  }
}

// ---- top-k ------------------------------------------------------------------------------------

inline std::vector<std::pair<double, gpu::node_id>> best_partners(const statistic_table& table,
                                                                  std::size_t row,
                                                                  gpu::index_t observations,
                                                                  const gpu::top_k_sink& sink) {
  std::vector<std::pair<double, gpu::node_id>> out;  // (statistic, partner)
  for (std::size_t j = 0; j < table.size(); ++j) {
    const double r = table[row][j];
    if (j == row || std::isnan(r)) continue;
    const double key = reference_key(r, sink.keep.side);
    if (sink.keep.min_abs > 0 && key < sink.keep.min_abs) continue;
    if (reference_p(r, observations, sink.keep.side) > sink.keep.max_p) continue;
    out.emplace_back(r, static_cast<gpu::node_id>(j));
  }
  const auto rank = [&](double r) {
    return sink.order == gpu::neighbor_order::by_value ? r : std::abs(r);
  };
  std::stable_sort(out.begin(), out.end(), [&](const auto& a, const auto& b) {
    return rank(a.first) > rank(b.first);  // stable: ties stay with the lowest partner first
  });
  if (static_cast<gpu::index_t>(out.size()) > sink.k) out.resize(static_cast<std::size_t>(sink.k));
  return out;
}

template <class Measure>
void top_k_equals_sorted_oracle(const pair_target& target) {
  GPU_TEST_INFO(target);
  const gpu::index_t rows = 90;
  auto data = tied_matrix<std::int32_t>(rows, 12, 9);     // many ties of the statistic
  for (gpu::index_t k = 0; k < 12; ++k) data(40, k) = 3;  // a row without a statistic
  // For Pearson, equal statistics may differ in the last bit, so its data has no ties.
  const auto smooth = random_matrix<double>(rows, 12, 10);
  const auto check = [&](const auto& view, const gpu::top_k_sink& sink) {
    const auto table = Measure::oracle(view);
    const auto got = Measure::run(view, target.options(), sink);
    REQUIRE(got.index.rows() == rows);
    REQUIRE(got.index.cols() == sink.k);
    REQUIRE(got.count.size() == static_cast<std::size_t>(rows));
    std::uint64_t entries = 0;
    gpu::index_t wrong = 0;
    for (gpu::index_t i = 0; i < rows; ++i) {
      const auto wanted = best_partners(table, static_cast<std::size_t>(i), view.cols(), sink);
      const auto count = static_cast<gpu::index_t>(wanted.size());
      entries += wanted.size();
      wrong += got.count[static_cast<std::size_t>(i)] != wanted.size();
      for (gpu::index_t e = 0; e < sink.k; ++e) {
        if (e < count) {
          const auto& [statistic, partner] = wanted[static_cast<std::size_t>(e)];
          wrong += got.index(i, e) != partner;
          wrong += !Measure::same(got.statistic(i, e), statistic);
        } else {
          wrong += got.index(i, e) != gpu::neighbor_table::no_neighbor;
          wrong += !std::isnan(got.statistic(i, e));
        }
      }
    }
    CHECK(wrong == 0);
    CHECK(got.summary.pairs_kept == entries);
  };
  for (const auto order : {gpu::neighbor_order::by_value, gpu::neighbor_order::by_absolute_value}) {
    for (const gpu::index_t k :
         {gpu::index_t{1}, gpu::index_t{5}, gpu::index_t{89}, gpu::index_t{100}}) {
      for (const gpu::pair_filter& keep :
           {gpu::pair_filter{}, gpu::pair_filter{.max_p = 0.05},
            gpu::pair_filter{.min_abs = 0.3137, .side = gpu::tail::less}}) {
        INFO("k " << k << ", order " << static_cast<int>(order) << ", max_p " << keep.max_p);
        const gpu::top_k_sink sink{.k = k, .keep = keep, .order = order};
        if (Measure::ties_are_exact) check(const_view(data), sink);
        check(const_view(smooth), sink);
      }
    }
  }
}

// ---- multiple testing -------------------------------------------------------------------------

template <class Measure, class T>
void check_adjustment(const gpu::matrix<T>& data, const pair_target& target, double alpha,
                      gpu::tail side) {
  INFO("alpha " << alpha << ", tail " << static_cast<int>(side) << ", " << data.rows() << " x "
                << data.cols());
  const auto pairs = reference_pairs(Measure::oracle(const_view(data)));
  std::vector<double> p;
  for (const auto& pair : pairs) {
    p.push_back(gpu::correlation_p_value(pair.statistic, data.cols(), side));
  }
  const auto at_most = [&](double limit) {
    return static_cast<std::uint64_t>(
        std::count_if(p.begin(), p.end(), [&](double value) { return value <= limit; }));
  };
  const auto count = [&](gpu::adjustment adjust) {
    const gpu::pair_filter keep{.max_p = alpha, .side = side, .adjust = adjust};
    return Measure::run(const_view(data), target.options(), gpu::count_sink{.keep = keep});
  };
  const double family = static_cast<double>(p.size());
  const auto bonferroni = count(gpu::adjustment::bonferroni);
  CHECK(bonferroni.kept == at_most(alpha / family));
  CHECK(bonferroni.summary.max_p_effective == alpha / family);
  const auto rejected = count(gpu::adjustment::benjamini_hochberg);
  CHECK(rejected.kept == at_most(reference_benjamini_hochberg(p, alpha)));
  CHECK(at_most(rejected.summary.max_p_effective) == rejected.kept);
}

template <class Measure>
void adjustments_equal_the_textbook(const pair_target& target) {
  GPU_TEST_INFO(target);
  for (const gpu::tail side : {gpu::tail::two_sided, gpu::tail::greater, gpu::tail::less}) {
    for (const double alpha : {0.001, 0.05, 0.4, 1.0}) {
      // No signal, some signal, heavy ties, few distinct values of the statistic.
      check_adjustment<Measure>(random_matrix<double>(60, 20, 11), target, alpha, side);
      check_adjustment<Measure>(tied_matrix<std::int32_t>(120, 30, 12), target, alpha, side);
      if (Measure::ties_are_exact) {
        check_adjustment<Measure>(tied_matrix<std::int32_t>(80, 6, 13, 0.9, 2), target, alpha,
                                  side);
        check_adjustment<Measure>(tied_matrix<std::int32_t>(50, 4, 14, 0.5, 1), target, alpha,
                                  side);
      }
    }
  }
  gpu::matrix<double> related = random_matrix<double>(70, 25, 15);
  for (gpu::index_t i = 0; i < 30; ++i) {
    for (gpu::index_t k = 0; k < 25; ++k) related(i, k) += related(0, k) * 1.5;
  }
  check_adjustment<Measure>(related, target, 0.05, gpu::tail::two_sided);
  check_adjustment<Measure>(related, target, 0.05, gpu::tail::greater);
}

// ---- rows without a statistic, small inputs, refusals -----------------------------------------

template <class Measure>
void constant_rows_have_no_statistic(const pair_target& target) {
  GPU_TEST_INFO(target);
  for (const gpu::index_t rows : {gpu::index_t{5}, gpu::index_t{70}}) {
    auto data = random_matrix<double>(rows, 30, 16);
    std::vector<gpu::index_t> constant{0, 3, rows - 1};
    for (const gpu::index_t row : constant) {
      for (gpu::index_t k = 0; k < 30; ++k) data(row, k) = 0.1 * static_cast<double>(row + 1);
    }
    check_dense<Measure>(const_view(data), target);
    const auto got = Measure::run(const_view(data), target.options(), gpu::edge_sink{});
    CHECK(got.summary.constant_rows == constant);
    CHECK(got.summary.nan_rows.empty());
    const auto wanted = reference_pairs(Measure::oracle(const_view(data)));
    check_edges<Measure>(got.edges, wanted, 30, gpu::tail::two_sided);
    const auto valid = static_cast<std::uint64_t>(rows - 3);
    CHECK(got.summary.pairs_tested == valid * (valid - 1) / 2);
  }
  // Nothing but constant rows.
  gpu::matrix<std::int32_t> flat(4, 5);
  std::fill_n(flat.data(), 20, 7);
  const auto none = Measure::run(const_view(flat), target.options(), gpu::count_sink{});
  CHECK(none.tested == 0);
  CHECK(none.kept == 0);
  CHECK(none.degree == std::vector<std::uint32_t>(4, 0));
  for (const auto adjust : {gpu::adjustment::bonferroni, gpu::adjustment::benjamini_hochberg}) {
    const gpu::edge_sink sink{.keep = {.max_p = 0.05, .adjust = adjust}};
    CHECK(Measure::run(const_view(flat), target.options(), sink).edges.empty());
  }
  check_dense<Measure>(const_view(flat), target);
}

template <class Measure>
void nan_is_refused_or_kept_to_its_row(const pair_target& target) {
  GPU_TEST_INFO(target);
  auto data = random_matrix<float>(40, 30, 17);
  data(11, 29) = std::numeric_limits<float>::quiet_NaN();
  data(11, 3) = std::numeric_limits<float>::quiet_NaN();
  data(39, 0) = std::numeric_limits<float>::quiet_NaN();
  try {
    (void)Measure::run(const_view(data), target.options(), gpu::count_sink{});
    FAIL("NaN was not refused");
  } catch (const gpu::invalid_argument& refusal) {
    const std::string what = refusal.what();
    INFO(what);
    CHECK(what.find("row 11") != std::string::npos);
    CHECK(what.find("column 3") != std::string::npos);
  }
  gpu::pair_options propagate = target.options();
  propagate.nans = gpu::nan_policy::propagate;
  const auto got = Measure::run(const_view(data), propagate, gpu::edge_sink{});
  CHECK(got.summary.nan_rows == std::vector<gpu::index_t>{11, 39});
  CHECK(got.summary.constant_rows.empty());
  check_edges<Measure>(got.edges, reference_pairs(Measure::oracle(const_view(data))), 30,
                       gpu::tail::two_sided);
  const auto dense = Measure::run(const_view(data), propagate, gpu::dense_sink{});
  CHECK(std::isnan(dense(11, 11)));
  CHECK(std::isnan(dense(0, 39)));
  CHECK(!std::isnan(dense(0, 38)));
}

template <class Measure>
void small_inputs_give_small_results(const pair_target& target) {
  GPU_TEST_INFO(target);
  for (const gpu::index_t rows : {gpu::index_t{0}, gpu::index_t{1}, gpu::index_t{2}}) {
    const auto data = random_matrix<double>(rows, 5, 18);
    const auto view = const_view(data);
    const auto options = target.options();
    const auto pairs = static_cast<std::uint64_t>(rows == 2 ? 1 : 0);
    CHECK(Measure::run(view, options, gpu::dense_sink{}).rows() == rows);
    CHECK(Measure::run(view, options, gpu::edge_sink{}).edges.size() == pairs);
    CHECK(Measure::run(view, options, gpu::count_sink{.histogram_bins = 4}).kept == pairs);
    const auto top = Measure::run(view, options, gpu::top_k_sink{.k = 3});
    CHECK(top.index.rows() == rows);
    CHECK(top.summary.pairs_kept == 2 * pairs);
    CHECK(Measure::plan(view, options, gpu::pair_filter{}).pairs == pairs);
    for (const auto adjust : {gpu::adjustment::bonferroni, gpu::adjustment::benjamini_hochberg}) {
      const gpu::count_sink sink{.keep = {.max_p = 1.0, .adjust = adjust}};
      CHECK(Measure::run(view, options, sink).kept == pairs);
    }
  }
}

template <class Measure>
void arguments_outside_their_range_are_refused(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto data = random_matrix<double>(4, 5, 19);
  const auto view = const_view(data);
  const auto options = target.options();
  const auto refused = [&](const auto& sink) {
    CHECK_THROWS_AS(Measure::run(view, options, sink), gpu::invalid_argument);
  };
  for (const double p : {0.0, -0.1, 1.5, std::numeric_limits<double>::quiet_NaN()}) {
    refused(gpu::edge_sink{.keep = {.max_p = p}});
    refused(gpu::count_sink{.keep = {.max_p = p}});
    refused(gpu::top_k_sink{.keep = {.max_p = p}});
  }
  for (const double r : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
    refused(gpu::edge_sink{.keep = {.min_abs = r}});
    CHECK_THROWS_AS(Measure::plan(view, options, gpu::pair_filter{.min_abs = r}),
                    gpu::invalid_argument);
  }
  refused(gpu::edge_sink{.max_edges = -1});
  refused(gpu::top_k_sink{.k = 0});
  refused(gpu::count_sink{.histogram_bins = -1});
  refused(gpu::count_sink{.histogram_bins = 65537});
  refused(gpu::stream_sink{});
  refused(gpu::stream_sink{.consume = [](std::span<const gpu::edge>) {}, .batch_edges = 0});
  const gpu::matrix_view<const double> two_columns(data.data(), 4, 2, 5);
  CHECK_THROWS_AS(Measure::run(two_columns, options, gpu::dense_sink{}), gpu::invalid_argument);
}

// ---- capacity, progress, callers --------------------------------------------------------------

template <class Measure>
void too_many_edges_report_how_many(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto data = tied_matrix<std::int32_t>(120, 30, 20);
  const gpu::pair_filter keep{.max_p = 0.3};
  const auto whole = Measure::run(const_view(data), target.options(), gpu::edge_sink{.keep = keep});
  const auto needed = static_cast<gpu::index_t>(whole.edges.size());
  const auto exactly = Measure::run(const_view(data), target.options(),
                                    gpu::edge_sink{.keep = keep, .max_edges = needed});
  CHECK(exactly.edges == whole.edges);
  for (const gpu::index_t capacity : {needed - 1, gpu::index_t{0}}) {
    try {
      (void)Measure::run(const_view(data), target.options(),
                         gpu::edge_sink{.keep = keep, .max_edges = capacity});
      FAIL("the capacity was not kept");
    } catch (const gpu::capacity_exceeded& refusal) {
      CHECK(refusal.required() == needed);
    }
  }
}

template <class Measure>
void progress_is_told_and_cancels(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto data = tied_matrix<std::int32_t>(500, 30, 21);
  std::map<std::string, std::uint64_t> last;
  bool rising = true;
  gpu::pair_options options = target.options();
  options.exec.on_progress = [&](const gpu::progress& p) {
    std::uint64_t& done = last[std::string(p.stage)];
    rising &= p.done >= done && p.done <= p.total;
    done = p.done;
    return gpu::progress_reply::proceed;
  };
  const auto got = Measure::run(const_view(data), options, gpu::count_sink{});
  CHECK(rising);
  CHECK(last["pairs"] == got.tested);

  options.exec.on_progress = [](const gpu::progress&) { return gpu::progress_reply::cancel; };
  CHECK_THROWS_AS(Measure::run(const_view(data), options, gpu::count_sink{}), gpu::cancelled);
  CHECK_THROWS_AS(Measure::run(const_view(data), options, gpu::edge_sink{}), gpu::cancelled);
  CHECK_THROWS_AS(Measure::run(const_view(data), options, gpu::top_k_sink{}), gpu::cancelled);
}

template <class Measure>
void callers_in_several_threads_do_not_meet(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto first = tied_matrix<std::int32_t>(200, 30, 22);
  const auto second = random_matrix<double>(150, 140, 23);
  const auto edges_of = [&](const auto& data) {
    return Measure::run(const_view(data), target.options(), gpu::edge_sink{.keep = {.max_p = 0.1}})
        .edges;
  };
  const auto wanted_first = edges_of(first);
  const auto wanted_second = edges_of(second);
  bool same_first = true;
  bool same_second = true;
  std::thread beside([&] {
    for (int turn = 0; turn < 5; ++turn) same_first &= edges_of(first) == wanted_first;
  });
  for (int turn = 0; turn < 5; ++turn) same_second &= edges_of(second) == wanted_second;
  beside.join();
  CHECK(same_first);
  CHECK(same_second);
}

// ---- many rows, the plan ----------------------------------------------------------------------

/// More rows than any tile, everything kept: more edges than a panel holds.
template <class Measure>
void keeps_every_pair_of_many_rows(const pair_target& target) {
  GPU_TEST_INFO(target);
  const gpu::index_t rows = 2100;
  const auto data = tied_matrix<std::int32_t>(rows, 8, 24);
  std::uint64_t next = 0;
  bool in_order = true;
  std::uint64_t sum = 0;
  const auto summary =
      Measure::run(const_view(data), target.options(),
                   gpu::stream_sink{.consume = [&](std::span<const gpu::edge> batch) {
                     for (const gpu::edge& e : batch) {
                       const std::uint64_t at = std::uint64_t{e.row} * rows + e.col;
                       in_order &= e.row < e.col && at >= next;
                       next = at + 1;
                       sum += at;
                     }
                   }});
  std::vector<bool> constant(static_cast<std::size_t>(rows));
  for (const gpu::index_t row : summary.constant_rows)
    constant[static_cast<std::size_t>(row)] = true;
  std::uint64_t wanted = 0;
  for (gpu::index_t i = 0; i < rows; ++i) {
    for (gpu::index_t j = i + 1; j < rows; ++j) {
      if (!constant[static_cast<std::size_t>(i)] && !constant[static_cast<std::size_t>(j)]) {
        wanted += static_cast<std::uint64_t>(i * rows + j);
      }
    }
  }
  CHECK(in_order);
  CHECK(sum == wanted);
  CHECK(summary.pairs_kept == summary.pairs_tested);
}

template <class Measure>
void plan_tells_what_a_run_would_keep(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto data = tied_matrix<std::int32_t>(300, 30, 25);
  for (const auto adjust :
       {gpu::adjustment::none, gpu::adjustment::bonferroni, gpu::adjustment::benjamini_hochberg}) {
    const gpu::pair_filter keep{.max_p = 0.05, .adjust = adjust};
    const auto plan = Measure::plan(const_view(data), target.options(), keep);
    const auto run =
        Measure::run(const_view(data), target.options(), gpu::count_sink{.keep = keep});
    // So few rows are all in the sample.
    CHECK(plan.kept_estimate == Approx(static_cast<double>(run.kept)));
    CHECK(plan.kept_upper >= plan.kept_estimate);
    CHECK(plan.pairs == 300 * 299 / 2);
    CHECK(plan.used == target.where);
    CHECK(plan.variant == run.summary.variant);
    CHECK(plan.device == run.summary.device);
    CHECK(plan.tile_rows > 0);
    CHECK(plan.tile_cols > 0);
    CHECK(plan.result_bytes == Approx(static_cast<double>(run.kept * sizeof(gpu::edge))));
  }
}

/// Every case above but the tables of element types.
template <class Measure>
void run_common_pair_cases(const pair_target& target) {
  SECTION("dense equals the oracle in every shape") {
    dense_equals_oracle_in_every_shape<Measure>(target);
  }
  SECTION("every element type and stride") {
    dense_takes_element_type<Measure, std::int8_t>(target);
    dense_takes_element_type<Measure, std::int16_t>(target);
    dense_takes_element_type<Measure, std::int32_t>(target);
    dense_takes_element_type<Measure, std::uint8_t>(target);
    dense_takes_element_type<Measure, std::uint16_t>(target);
    dense_takes_element_type<Measure, float>(target);
    dense_takes_element_type<Measure, double>(target);
  }
  SECTION("edges equal the filtered oracle") {
    edges_equal_filtered_oracle<Measure>(target);
  }
  SECTION("streams deliver the edges in batches") {
    streams_deliver_the_edges_in_batches<Measure>(target);
  }
  SECTION("an exception of the consumer reaches the caller") {
    an_exception_of_the_consumer_reaches_the_caller<Measure>(target);
  }
  SECTION("counts equal the edges") {
    counts_equal_the_edges<Measure>(target);
  }
  SECTION("top-k equals the sorted oracle") {
    top_k_equals_sorted_oracle<Measure>(target);
  }
  SECTION("adjustments equal the textbook") {
    adjustments_equal_the_textbook<Measure>(target);
  }
  SECTION("constant rows have no statistic") {
    constant_rows_have_no_statistic<Measure>(target);
  }
  SECTION("NaN is refused or kept to its row") {
    nan_is_refused_or_kept_to_its_row<Measure>(target);
  }
  SECTION("small inputs give small results") {
    small_inputs_give_small_results<Measure>(target);
  }
  SECTION("arguments outside their range are refused") {
    arguments_outside_their_range_are_refused<Measure>(target);
  }
  SECTION("too many edges report how many") {
    too_many_edges_report_how_many<Measure>(target);
  }
  SECTION("progress is told and cancels") {
    progress_is_told_and_cancels<Measure>(target);
  }
  SECTION("callers in several threads do not meet") {
    callers_in_several_threads_do_not_meet<Measure>(target);
  }
  SECTION("every pair of many rows is kept, in order") {
    keeps_every_pair_of_many_rows<Measure>(target);
  }
  SECTION("the plan tells what a run would keep") {
    plan_tells_what_a_run_would_keep<Measure>(target);
  }
}

}  // namespace gpu_test
