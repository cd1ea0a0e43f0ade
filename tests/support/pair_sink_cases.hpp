#pragma once
// Cases of all pairs: every sink holds what the oracle says.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "support/generators.hpp"
#include "support/pair_target.hpp"

namespace gpu_test {

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
      {2, 3},   {3, 4},   {7, 8},    {15, 9},   {16, 16},   {17, 30},  {31, 31},  {32, 32},
      {33, 33}, {63, 63}, {64, 64},  {65, 65},  {127, 30},  {128, 33}, {129, 32}, {200, 30},
      {20, 95}, {19, 96}, {18, 97},  {40, 127}, {41, 128},  {42, 129}, {9, 255},  {9, 256},
      {9, 257}, {5, 511}, {70, 513}, {257, 20}, {37, 1201}, {70, 2500}};
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

// ---- top-k ------------------------------------------------------------------------------------

inline std::vector<std::pair<double, gpu::node_id>> best_partners(
    const statistic_table& table, std::size_t row, gpu::observation_count observations,
    const gpu::top_k_sink& sink) {
  std::vector<std::pair<double, gpu::node_id>> out;  // (statistic, partner)
  for (std::size_t j = 0; j < table.size(); ++j) {
    const double r = table[row][j];
    if (j == row || std::isnan(r)) continue;
    const double key = reference_key(r, sink.keep.side);
    if (sink.keep.min_abs > 0 && key < sink.keep.min_abs) continue;
    if (sink.keep.side != gpu::tail::two_sided && key < 0) continue;  // of the other sign
    if (reference_p(r, observations, sink.keep.side) > sink.keep.max_p) continue;
    out.emplace_back(r, static_cast<gpu::node_id>(j));
  }
  const auto rank = [&](double r) { return reference_partner_key(r, sink.order, sink.keep.side); };
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

}  // namespace gpu_test
