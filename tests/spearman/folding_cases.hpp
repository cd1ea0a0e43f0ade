#pragma once
// Rows of equal ranks folded into patterns: edges are what they are without, and there are as many
// patterns as an oracle finds that compares every row with every other.

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

/// The number of patterns, by comparing every row with every first row.
template <class T>
gpu::index_t reference_patterns(gpu::matrix_view<const T> data) {
  std::vector<std::vector<std::int64_t>> firsts;
  for (gpu::index_t i = 0; i < data.rows(); ++i) {
    if (reference_has_nan(data.row(i), data.cols())) continue;
    auto ranks = reference_ranks(data.row(i), data.cols());
    if (reference_product(ranks, ranks) == 0) continue;
    if (std::find(firsts.begin(), firsts.end(), ranks) == firsts.end()) {
      firsts.push_back(std::move(ranks));
    }
  }
  return static_cast<gpu::index_t>(firsts.size());
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

/// Edges with one filter, in both orders.
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
  CHECK(got.summary.patterns == reference_patterns(data));
  CHECK(unordered.summary.patterns == got.summary.patterns);
}

/// Edges of folded rows beside the oracle; the other sinks: pair_ways_test and soak_cuda.
inline void check_folding(gpu::matrix_view<const std::int32_t> data, const pair_target& target) {
  const auto folded = folding(target, gpu::row_folding::always);
  const auto plain = folding(target, gpu::row_folding::never);
  const auto table = reference_spearman(data);
  for (const gpu::pair_filter& keep :
       {gpu::pair_filter{}, gpu::pair_filter{.max_p = 0.05}, gpu::pair_filter{.min_abs = 1.0}}) {
    INFO("max_p " << keep.max_p);
    check_folded_edges(data, folded, plain, keep);
    check_edges<spearman_measure>(
        gpu::spearman_all_pairs(data, folded, gpu::edge_sink{.keep = keep}).edges,
        filtered(table, data.cols(), keep), data.cols(), keep.side);
  }
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
    REQUIRE(reference_patterns(const_view(data)) == 40);
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

inline void a_folded_consumer_may_throw(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto data = repeated_rows(160, 12, 40, 3);
  int calls = 0;
  const gpu::stream_sink throwing{.keep = {.max_p = 0.3},
                                  .consume =
                                      [&](std::span<const gpu::edge>) {
                                        if (++calls == 2) throw std::domain_error("enough");
                                      },
                                  .batch_edges = 3};
  CHECK_THROWS_AS(
      gpu::spearman_all_pairs(data.view(), folding(target, gpu::row_folding::always), throwing),
      std::domain_error);
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
  const auto got = gpu::spearman_all_pairs(data.view(), options, gpu::edge_sink{});
  CHECK(got.summary.patterns == reference_patterns(const_view(data)));
  CHECK(got.summary.nan_rows == std::vector<gpu::index_t>{0, 9});
  auto plain = options;
  plain.fold = gpu::row_folding::never;
  CHECK(same_matrix<double>(gpu::spearman_all_pairs(data.view(), options, gpu::dense_sink{}),
                            gpu::spearman_all_pairs(data.view(), plain, gpu::dense_sink{})));
  CHECK(got.edges == gpu::spearman_all_pairs(data.view(), plain, gpu::edge_sink{}).edges);
}

}  // namespace gpu_test
