#pragma once
// Rows of equal ranks folded into patterns: every sink gives what it gives without, and the folded
// sinks give what an oracle finds that compares every row with every other.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <span>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include <gpu/all_pairs.hpp>
#include <gpu/error.hpp>

#include "reference/correlation_reference.hpp"
#include "spearman/spearman_measure.hpp"
#include "support/catch.hpp"
#include "support/generators.hpp"
#include "support/pair_cases.hpp"

namespace gpu_test {

inline gpu::pair_options folding(const pair_target& target, gpu::row_folding fold) {
  gpu::pair_options options = target.options();
  options.fold = fold;
  return options;
}

/// Rows drawn from `distinct` rank vectors, each row with values of its own: a rising function
/// of the pool's. Some pool rows are the negation of the one before.
inline gpu::matrix<std::int32_t> repeated_rows(gpu::index_t rows, gpu::index_t cols,
                                               gpu::index_t distinct, std::uint64_t seed) {
  gpu::matrix<std::int32_t> pool = tied_matrix<std::int32_t>(distinct, cols, seed, 0.9, 4);
  for (gpu::index_t i = 1; i < distinct; i += 5) {
    for (gpu::index_t k = 0; k < cols; ++k) pool(i, k) = -pool(i - 1, k);
  }
  gpu::matrix<std::int32_t> out(rows, cols);
  std::mt19937_64 engine(seed + 1);
  for (gpu::index_t i = 0; i < rows; ++i) {
    // A few pool rows are far more frequent than the rest.
    const auto draw = static_cast<gpu::index_t>(engine() % static_cast<std::uint64_t>(distinct));
    const gpu::index_t from = engine() % 4 == 0 ? draw % 3 : draw;
    const auto scale = static_cast<std::int32_t>(engine() % 7 + 1);
    const auto shift = static_cast<std::int32_t>(engine() % 100);
    for (gpu::index_t k = 0; k < cols; ++k) {
      const std::int32_t value = pool(std::min(from, distinct - 1), k);
      out(i, k) = scale * value * std::abs(value) + shift;
    }
  }
  return out;
}

/// Patterns by comparing every row with every first row.
template <class T>
gpu::row_patterns reference_patterns(gpu::matrix_view<const T> data) {
  gpu::row_patterns out;
  std::vector<std::vector<std::int64_t>> firsts;
  std::vector<std::vector<gpu::node_id>> members;
  for (gpu::index_t i = 0; i < data.rows(); ++i) {
    const auto ranks = reference_ranks(data.row(i), data.cols());
    if (reference_has_nan(data.row(i), data.cols()) || reference_product(ranks, ranks) == 0) {
      out.pattern_of.push_back(gpu::row_patterns::no_pattern);
      continue;
    }
    const auto at = std::find(firsts.begin(), firsts.end(), ranks) - firsts.begin();
    if (at == static_cast<std::ptrdiff_t>(firsts.size())) {
      firsts.push_back(ranks);
      members.emplace_back();
    }
    members[static_cast<std::size_t>(at)].push_back(static_cast<gpu::node_id>(i));
    out.pattern_of.push_back(static_cast<gpu::node_id>(at));
  }
  for (const auto& rows : members) {
    out.members.insert(out.members.end(), rows.begin(), rows.end());
    out.begin.push_back(static_cast<gpu::index_t>(out.members.size()));
  }
  return out;
}

template <class Value>
bool same_matrix(const gpu::matrix<Value>& a, const gpu::matrix<Value>& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return false;
  for (gpu::index_t i = 0; i < a.rows() * a.cols(); ++i) {
    const Value x = a.data()[i];
    const Value y = b.data()[i];
    if (!(x == y || (x != x && y != y))) return false;
  }
  return true;
}

inline bool by_rows(const gpu::edge& a, const gpu::edge& b) {
  return std::pair(a.row, a.col) < std::pair(b.row, b.col);
}

/// The rows' edges that folded edges stand for, in order.
inline std::vector<gpu::edge> expanded(std::span<const gpu::folded_edge> edges,
                                       const gpu::row_patterns& patterns) {
  std::vector<gpu::edge> out;
  for (const gpu::folded_edge& e : edges) {
    const std::size_t before = out.size();
    for (const gpu::node_id a : patterns.members_of(e.first)) {
      for (const gpu::node_id b : patterns.members_of(e.second)) {
        if (e.first == e.second && a >= b) continue;
        out.push_back({std::min(a, b), std::max(a, b), e.statistic, e.p});
      }
    }
    CHECK(out.size() - before == e.pairs);
  }
  std::sort(out.begin(), out.end(), by_rows);
  return out;
}

inline void check_folded_top_k(gpu::matrix_view<const std::int32_t> data,
                               const gpu::pair_options& folded, const gpu::pair_options& plain,
                               const gpu::top_k_sink& sink) {
  const auto got = gpu::spearman_all_pairs(data, folded, sink);
  const auto wanted = gpu::spearman_all_pairs(data, plain, sink);
  CHECK(got.count == wanted.count);
  CHECK(same_matrix(got.index, wanted.index));
  CHECK(same_matrix(got.statistic, wanted.statistic));
  CHECK(got.summary.pairs_kept == wanted.summary.pairs_kept);
}

/// Edges, streams and folded edges with one filter.
inline void check_folded_edges(gpu::matrix_view<const std::int32_t> data,
                               const gpu::pair_options& folded, const gpu::pair_options& plain,
                               const gpu::pair_filter& keep) {
  const auto wanted = gpu::spearman_all_pairs(data, plain, gpu::edge_sink{.keep = keep});
  const auto got = gpu::spearman_all_pairs(data, folded, gpu::edge_sink{.keep = keep});
  CHECK(got.edges == wanted.edges);
  CHECK(got.summary.pairs_kept == wanted.summary.pairs_kept);
  CHECK(got.summary.pairs_tested == wanted.summary.pairs_tested);
  CHECK(got.summary.max_p_effective == wanted.summary.max_p_effective);
  CHECK(got.summary.constant_rows == wanted.summary.constant_rows);
  CHECK(wanted.summary.patterns == 0);

  auto unordered = gpu::spearman_all_pairs(
      data, folded, gpu::edge_sink{.keep = keep, .order = gpu::edge_order::unspecified});
  std::sort(unordered.edges.begin(), unordered.edges.end(), by_rows);
  CHECK(unordered.edges == wanted.edges);

  const auto list = gpu::spearman_all_pairs(data, plain, gpu::folded_edge_sink{.keep = keep});
  CHECK(list.patterns == reference_patterns(data));
  CHECK(list.summary.patterns == list.patterns.size());
  CHECK(list.summary.pairs_kept == wanted.edges.size());
  CHECK(expanded(list.edges, list.patterns) == wanted.edges);
  CHECK(std::is_sorted(list.edges.begin(), list.edges.end(),
                       [](const gpu::folded_edge& a, const gpu::folded_edge& b) {
                         return std::pair(a.first, a.second) < std::pair(b.first, b.second);
                       }));
  bool proper = true;
  for (const gpu::folded_edge& e : list.edges) {
    proper &= e.first <= e.second && e.pairs > 0 && (e.first != e.second || e.statistic == 1.0);
  }
  CHECK(proper);
}

/// Every sink, folded beside not folded.
inline void check_folding(gpu::matrix_view<const std::int32_t> data, const pair_target& target) {
  const auto folded = folding(target, gpu::row_folding::always);
  const auto plain = folding(target, gpu::row_folding::never);

  CHECK(same_matrix<double>(gpu::spearman_all_pairs(data, folded, gpu::dense_sink{}),
                            gpu::spearman_all_pairs(data, plain, gpu::dense_sink{})));
  CHECK(same_matrix<float>(gpu::spearman_all_pairs(data, folded, gpu::dense_sink_f32{}),
                           gpu::spearman_all_pairs(data, plain, gpu::dense_sink_f32{})));
  const auto table = reference_spearman(data);
  check_dense<spearman_measure>(data, target);
  for (const gpu::pair_filter& keep : {gpu::pair_filter{}, gpu::pair_filter{.max_p = 0.05},
                                       gpu::pair_filter{.max_p = 1e-4, .side = gpu::tail::greater},
                                       gpu::pair_filter{.max_p = 0.01, .side = gpu::tail::less},
                                       gpu::pair_filter{.min_abs = 1.0}}) {
    INFO("max_p " << keep.max_p << ", tail " << static_cast<int>(keep.side));
    check_folded_edges(data, folded, plain, keep);
    check_edges<spearman_measure>(
        gpu::spearman_all_pairs(data, folded, gpu::edge_sink{.keep = keep}).edges,
        filtered(table, data.cols(), keep), data.cols(), keep.side);
    for (const gpu::index_t bins : {gpu::index_t{0}, gpu::index_t{21}, gpu::index_t{60000}}) {
      const gpu::count_sink sink{.keep = keep, .histogram_bins = bins};
      const auto got = gpu::spearman_all_pairs(data, folded, sink);
      const auto wanted = gpu::spearman_all_pairs(data, plain, sink);
      CHECK(got.kept == wanted.kept);
      CHECK(got.tested == wanted.tested);
      CHECK(got.degree == wanted.degree);
      CHECK(got.histogram == wanted.histogram);
    }
  }
  for (const gpu::tail side : {gpu::tail::two_sided, gpu::tail::greater, gpu::tail::less}) {
    for (const auto adjust : {gpu::adjustment::bonferroni, gpu::adjustment::benjamini_hochberg}) {
      check_folded_edges(data, folded, plain, {.max_p = 0.05, .side = side, .adjust = adjust});
    }
  }
  for (const auto order : {gpu::neighbor_order::by_value, gpu::neighbor_order::by_absolute_value}) {
    for (const gpu::index_t k : {gpu::index_t{1}, gpu::index_t{7}, data.rows() + 3}) {
      for (const gpu::pair_filter& keep :
           {gpu::pair_filter{}, gpu::pair_filter{.max_p = 0.05, .side = gpu::tail::less}}) {
        INFO("k " << k << ", order " << static_cast<int>(order) << ", max_p " << keep.max_p);
        check_folded_top_k(data, folded, plain, {.k = k, .keep = keep, .order = order});
      }
    }
  }
}

/// The folded edges of parts, one behind the other, beside those of the whole call.
template <class Run>
void check_folded_parts(const Run& run, const gpu::pair_options& whole_options,
                        const gpu::pair_filter& keep, gpu::index_t of) {
  INFO("parts " << of << ", max_p " << keep.max_p);
  const gpu::folded_edge_list whole = run(whole_options, gpu::folded_edge_sink{.keep = keep});
  std::vector<gpu::folded_edge> edges;
  gpu::pair_checksum checksum;
  std::uint64_t tested = 0;
  std::uint64_t kept = 0;
  gpu::index_t next = 0;
  for (gpu::index_t index = 0; index < of; ++index) {
    gpu::pair_options options = whole_options;
    options.part = {.index = index, .of = of};
    const gpu::folded_edge_list part = run(options, gpu::folded_edge_sink{.keep = keep});
    edges.insert(edges.end(), part.edges.begin(), part.edges.end());
    CHECK(part.patterns == whole.patterns);
    CHECK(part.summary.part_begin == next);
    next = part.summary.part_end;
    for (const gpu::folded_edge& e : part.edges) {
      CHECK((e.first >= part.summary.part_begin && e.first < part.summary.part_end));
    }
    CHECK(part.summary.max_p_effective == whole.summary.max_p_effective);
    checksum += part.summary.checksum;
    tested += part.summary.pairs_tested;
    kept += part.summary.pairs_kept;
    auto unordered =
        run(options, gpu::folded_edge_sink{.keep = keep, .order = gpu::edge_order::unspecified});
    CHECK(unordered.summary.checksum == part.summary.checksum);
  }
  CHECK(edges == whole.edges);
  CHECK(checksum == whole.summary.checksum);
  CHECK(tested == whole.summary.pairs_tested);
  CHECK(kept == whole.summary.pairs_kept);
  CHECK(whole.summary.part_begin == 0);
  CHECK(next == whole.summary.part_end);
  const bool is_against = whole.summary.y_rows > 0;
  if (!is_against) CHECK(next == whole.patterns.size());
}

// ---- the cases --------------------------------------------------------------------------------

inline void folding_changes_no_sink(const pair_target& target) {
  GPU_TEST_INFO(target);
  for (const auto& [rows, cols, distinct] :
       {std::tuple<gpu::index_t, gpu::index_t, gpu::index_t>{2, 3, 1},
        {60, 5, 40},
        {130, 30, 20},
        {140, 9, 110},
        {60, 131, 20}}) {
    INFO(rows << " x " << cols << ", from " << distinct);
    auto data = repeated_rows(rows, cols, distinct, static_cast<std::uint64_t>(rows));
    for (gpu::index_t k = 0; rows > 50 && k < cols; ++k) {  // rows without a statistic
      data(0, k) = 5;
      data(17, k) = -5;
      data(rows - 1, k) = 5;
    }
    check_folding(const_view(data), target);
  }
}

inline void folded_parts_are_the_whole(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto options = folding(target, gpu::row_folding::always);
  for (const auto& [rows, cols, distinct] :
       {std::tuple<gpu::index_t, gpu::index_t, gpu::index_t>{2, 3, 1},
        {150, 12, 30},
        {600, 9, 500}}) {
    auto data = repeated_rows(rows, cols, distinct, static_cast<std::uint64_t>(rows));
    for (gpu::index_t k = 0; rows > 50 && k < cols; ++k) data(7, k) = 3;  // a constant row
    const auto alone = [&](const gpu::pair_options& how, const auto& sink) {
      return gpu::spearman_all_pairs(data.view(), how, sink);
    };
    const auto other = repeated_rows(90, cols, 25, 77);
    const auto against = [&](const gpu::pair_options& how, const auto& sink) {
      return gpu::spearman_all_pairs(data.view(), other.view(), how, sink);
    };
    // The parts together stand for the edges of the rows, not folded.
    const auto plain =
        gpu::spearman_all_pairs(data.view(), folding(target, gpu::row_folding::never),
                                gpu::edge_sink{.keep = {.max_p = 0.05}});
    gpu::pair_options second = options;
    second.part = {.index = 1, .of = 2};
    gpu::pair_options first = options;
    first.part = {.index = 0, .of = 2};
    const gpu::folded_edge_sink sink{.keep = {.max_p = 0.05}};
    auto all = alone(first, sink).edges;
    const auto rest = alone(second, sink);
    all.insert(all.end(), rest.edges.begin(), rest.edges.end());
    CHECK(expanded(all, rest.patterns) == plain.edges);
    for (const gpu::index_t of : {1, 2, 7, 700}) {
      for (const gpu::pair_filter& keep :
           {gpu::pair_filter{.max_p = 0.05}, gpu::pair_filter{.max_p = 1e-4},
            gpu::pair_filter{
                .max_p = 0.2, .side = gpu::tail::less, .adjust = gpu::adjustment::bonferroni}}) {
        if (of == 700 && keep.max_p != 0.05) continue;
        check_folded_parts(alone, options, keep, of);
        check_folded_parts(against, options, keep, of);
      }
    }
  }
}

inline void folding_takes_the_extremes(const pair_target& target) {
  GPU_TEST_INFO(target);
  gpu::matrix<std::int32_t> data(40, 7);
  std::fill_n(data.data(), 40 * 7, 5);
  SECTION("all rows equal") {
    for (gpu::index_t i = 0; i < 40; ++i) {
      for (gpu::index_t k = 0; k < 7; ++k) data(i, k) = static_cast<std::int32_t>(i + k * k);
    }
  }
  SECTION("all rows distinct") {
    for (gpu::index_t i = 0; i < 40; ++i) {
      for (gpu::index_t k = 0; k < 7; ++k) {
        data(i, k) = static_cast<std::int32_t>((i >> (k % 6) & 1) * 8 + (k == 6 ? 3 : k % 2));
      }
    }
    REQUIRE(reference_patterns(const_view(data)).size() == 40);
  }
  SECTION("no row has a statistic") {}
  SECTION("one row has one") {
    data(11, 3) = 1;
  }
  SECTION("a row and its negation in turn") {
    for (gpu::index_t i = 0; i < 40; ++i) {
      for (gpu::index_t k = 0; k < 7; ++k) {
        data(i, k) = static_cast<std::int32_t>(i % 2 == 0 ? k : -k);
      }
    }
  }
  check_folding(const_view(data), target);
}

inline void folded_limits_hold(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto data = repeated_rows(160, 12, 40, 3);
  const auto options = folding(target, gpu::row_folding::always);
  const gpu::pair_filter keep{.max_p = 0.3};
  const auto whole =
      gpu::spearman_all_pairs(data.view(), options, gpu::folded_edge_sink{.keep = keep});
  REQUIRE(whole.edges.size() > 30);
  const auto exceeded = [&](const auto& sink) -> gpu::index_t {
    try {
      (void)gpu::spearman_all_pairs(data.view(), options, sink);
    } catch (const gpu::capacity_exceeded& refusal) {
      return refusal.required();
    }
    return -1;
  };
  CHECK(exceeded(gpu::folded_edge_sink{.keep = keep, .max_edges = 7}) ==
        static_cast<gpu::index_t>(whole.edges.size()));
  for (const auto order : {gpu::edge_order::by_row_then_column, gpu::edge_order::unspecified}) {
    for (const gpu::index_t most : {gpu::index_t{0}, gpu::index_t{7}, gpu::index_t{1000}}) {
      CHECK(exceeded(gpu::edge_sink{.keep = keep, .max_edges = most, .order = order}) ==
            static_cast<gpu::index_t>(whole.summary.pairs_kept));
    }
    const auto enough = static_cast<gpu::index_t>(whole.summary.pairs_kept);
    CHECK(exceeded(gpu::edge_sink{.keep = keep, .max_edges = enough, .order = order}) == -1);
  }
  CHECK_THROWS_AS(
      gpu::spearman_all_pairs(data.view(), options, gpu::folded_edge_sink{.max_edges = -1}),
      gpu::invalid_argument);
}

inline void folded_batches_hold(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto data = repeated_rows(160, 12, 40, 3);
  const auto options = folding(target, gpu::row_folding::always);
  const gpu::pair_filter keep{.max_p = 0.3};
  const auto whole =
      gpu::spearman_all_pairs(data.view(), options, gpu::folded_edge_sink{.keep = keep});
  for (const gpu::index_t batch_edges : {gpu::index_t{1}, gpu::index_t{9}, gpu::index_t{4096}}) {
    std::vector<gpu::folded_edge> all;
    bool within_limit = true;
    int begun = 0;
    gpu::row_patterns patterns;
    const auto summary = gpu::spearman_all_pairs(
        data.view(), options,
        gpu::folded_stream_sink{.keep = keep,
                                .begin =
                                    [&](const gpu::row_patterns& found) {
                                      begun += all.empty() ? 1 : 2;
                                      patterns = found;
                                    },
                                .consume =
                                    [&](std::span<const gpu::folded_edge> batch) {
                                      within_limit &=
                                          !batch.empty() &&
                                          static_cast<gpu::index_t>(batch.size()) <= batch_edges;
                                      all.insert(all.end(), batch.begin(), batch.end());
                                    },
                                .batch_edges = batch_edges});
    CHECK(all == whole.edges);
    CHECK(patterns == whole.patterns);
    CHECK(begun == 1);
    CHECK(within_limit);
    CHECK(summary.pairs_kept == whole.summary.pairs_kept);

    std::vector<gpu::edge> edges;
    (void)gpu::spearman_all_pairs(
        data.view(), options,
        gpu::stream_sink{.keep = keep,
                         .consume =
                             [&](std::span<const gpu::edge> batch) {
                               within_limit &= !batch.empty() && static_cast<gpu::index_t>(
                                                                     batch.size()) <= batch_edges;
                               edges.insert(edges.end(), batch.begin(), batch.end());
                             },
                         .batch_edges = batch_edges});
    CHECK(edges == expanded(whole.edges, whole.patterns));
    CHECK(within_limit);
  }
  auto unordered = gpu::spearman_all_pairs(
      data.view(), options,
      gpu::folded_edge_sink{.keep = keep, .order = gpu::edge_order::unspecified});
  CHECK(expanded(unordered.edges, unordered.patterns) == expanded(whole.edges, whole.patterns));
}

inline void a_folded_consumer_may_throw(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto data = repeated_rows(160, 12, 40, 3);
  const auto options = folding(target, gpu::row_folding::always);
  int calls = 0;
  const gpu::folded_stream_sink throwing{.keep = {.max_p = 0.3},
                                         .consume =
                                             [&](std::span<const gpu::folded_edge>) {
                                               if (++calls == 2) throw std::domain_error("enough");
                                             },
                                         .batch_edges = 3};
  CHECK_THROWS_AS(gpu::spearman_all_pairs(data.view(), options, throwing), std::domain_error);
  CHECK_THROWS_AS(gpu::spearman_all_pairs(data.view(), options, gpu::folded_stream_sink{}),
                  gpu::invalid_argument);
}

/// Enough rows for `automatic` to look, and for the sample of patterns.
inline void folding_is_chosen_where_it_pays(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto options = folding(target, gpu::row_folding::automatic);
  const gpu::count_sink sink{.keep = {.max_p = 1e-6}};
  const auto check = [&](gpu::index_t rows, gpu::index_t distinct, bool folds) {
    INFO(rows << " rows from " << distinct);
    const auto data = repeated_rows(rows, 30, distinct, 11);
    const auto got = gpu::spearman_all_pairs(data.view(), options, sink);
    CHECK((got.summary.patterns > 0) == folds);
    CHECK(got.summary.patterns <= distinct);
    const auto wanted =
        gpu::spearman_all_pairs(data.view(), folding(target, gpu::row_folding::never), sink);
    CHECK(got.kept == wanted.kept);
    CHECK(got.degree == wanted.degree);
  };
  const gpu::index_t many = target.where == gpu::backend::cuda ? 60'000 : 9000;
  check(many, 300, true);
  // Hopper counts rows without weights so fast that half of the patterns do not pay.
  check(many, many * 5 / 9, target.variant != gpu::pair_variant::hopper);
  check(many * 4 / 9, 300, false);
  const auto distinct = tied_matrix<std::int32_t>(many, 30, 12, 0.3, 40);
  CHECK(gpu::spearman_all_pairs(distinct.view(), options, sink).summary.patterns == 0);
}

inline void folding_needs_ranks(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto data = repeated_rows(20, 8, 4, 5);
  const auto options = folding(target, gpu::row_folding::always);
  CHECK_THROWS_AS(gpu::pearson_all_pairs(data.view(), options, gpu::edge_sink{}), gpu::unsupported);
}

/// NaN rows belong to no pattern.
inline void folding_leaves_nan_rows_out(const pair_target& target) {
  GPU_TEST_INFO(target);
  gpu::matrix<double> data(30, 6);
  for (gpu::index_t i = 0; i < 30; ++i) {
    for (gpu::index_t k = 0; k < 6; ++k) data(i, k) = static_cast<double>(k * (i % 4 + 1) % 5);
  }
  data(0, 2) = std::numeric_limits<double>::quiet_NaN();
  data(9, 5) = data(0, 2);
  auto options = folding(target, gpu::row_folding::always);
  options.nans = gpu::nan_policy::propagate;
  const auto got = gpu::spearman_all_pairs(data.view(), options, gpu::folded_edge_sink{});
  CHECK(got.patterns == reference_patterns(const_view(data)));
  CHECK(got.summary.nan_rows == std::vector<gpu::index_t>{0, 9});
  auto plain = options;
  plain.fold = gpu::row_folding::never;
  CHECK(same_matrix<double>(gpu::spearman_all_pairs(data.view(), options, gpu::dense_sink{}),
                            gpu::spearman_all_pairs(data.view(), plain, gpu::dense_sink{})));
  CHECK(expanded(got.edges, got.patterns) ==
        gpu::spearman_all_pairs(data.view(), plain, gpu::edge_sink{}).edges);
}

}  // namespace gpu_test
