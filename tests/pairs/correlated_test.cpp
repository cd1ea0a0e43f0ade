// All pairs of rows that move together against the naive variant: from cuts that keep one pair in a
// thousand to those that keep all, so that every way of finding pairs is taken, and left on the
// way. Run once per instruction set.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include <gpu/all_pairs.hpp>

#include "pairs/measure_calls.hpp"
#include "support/catch.hpp"
#include "support/correlated_rows.hpp"
#include "support/least_workspace.hpp"

namespace {

using gpu::index_t;
using gpu_test::correlated_matrix;
using gpu_test::correlated_shape;
using gpu_test::counts_of;
using gpu_test::pearson;
using gpu_test::spearman;

gpu::pair_options unfolded_options(gpu::pair_variant variant) {
  gpu::pair_options out;
  out.variant = variant;
  out.fold = gpu::row_folding::never;
  out.exec.target = gpu::backend::cpu;
  out.exec.cpu_threads = 2;
  return out;
}

const gpu::pair_options by_naive = unfolded_options(gpu::pair_variant::naive);
const gpu::pair_options by_tiled = unfolded_options(gpu::pair_variant::tiled);

template <class Run>
void same_neighbors(const Run& run, const gpu::matrix<float>& data, const gpu::pair_filter& keep) {
  const gpu::top_k_sink sink{.k = 7, .keep = keep};
  const auto wanted = run(data.view(), by_naive, sink);
  const auto got = run(data.view(), by_tiled, sink);
  const bool same_numbers = got.count == wanted.count;
  CHECK(same_numbers);
  index_t wrong = 0;
  for (index_t i = 0; i < data.rows(); ++i) {
    for (index_t k = 0; k < static_cast<index_t>(got.count[static_cast<std::size_t>(i)]); ++k) {
      wrong += got.index(i, k) != wanted.index(i, k);
      wrong += got.statistic(i, k) != wanted.statistic(i, k);
    }
  }
  CHECK(wrong == 0);
}

template <class Run>
void sinks_agree(const Run& run, const gpu::matrix<float>& data, const gpu::pair_filter& keep) {
  const auto view = data.view();
  const gpu::edge_sink edges{.keep = keep};
  const std::vector<gpu::edge> wanted = run(view, by_naive, edges).edges.to_vector();
  const bool same_edges = run(view, by_tiled, edges).edges == wanted;
  CHECK(same_edges);
  for (const index_t bins : {0, 40}) {
    const gpu::pair_counts counts = counts_of(wanted, data.rows(), bins);
    const auto got = run(view, by_tiled, gpu::count_sink{.keep = keep, .histogram_bins = bins});
    CHECK(got.kept == counts.kept);
    const bool same_counts = got.degree == counts.degree && got.histogram == counts.histogram;
    CHECK(same_counts);
  }
}

}  // namespace

TEST_CASE("Rows that move together keep the pairs of the naive variant", "[correlated]") {
  std::uint64_t seed = 0;
  const std::vector<gpu::pair_filter> filters{{.max_p = 0.05},
                                              {.max_p = 1e-6},
                                              {.max_p = 1e-9, .side = gpu::tail::less},
                                              {.max_p = 1e-3, .side = gpu::tail::greater}};
  for (const double share : {1e-3, 0.03, 0.5, 1.0}) {
    for (const index_t cols : {30, 57, 128}) {
      const int levels = cols == 30 ? 6 : 0;
      const auto data = correlated_matrix<float>({.rows = 330,
                                                  .cols = cols,
                                                  .pairs_in_blocks = share,
                                                  .factor_variance = 0.3,
                                                  .levels = levels,
                                                  .blocks_side_by_side = cols != 57,
                                                  .seed = ++seed});
      for (const gpu::pair_filter& keep : filters) {
        INFO(share << " of the pairs in blocks, " << cols << " columns, p <= " << keep.max_p);
        sinks_agree(spearman, data, keep);
        sinks_agree(pearson, data, keep);
      }
      same_neighbors(spearman, data, filters[seed % 4]);
      same_neighbors(pearson, data, filters[seed % 4]);
    }
  }
}

TEST_CASE("What a sample of the pairs does not show costs no pair", "[correlated]") {
  // The first rows are unrelated, the last move together.
  auto data = correlated_matrix<float>({.rows = 1600, .cols = 30, .pairs_in_blocks = 1.0});
  const auto unrelated =
      correlated_matrix<float>({.rows = 1400, .cols = 30, .pairs_in_blocks = 1e-9, .seed = 2});
  std::copy_n(unrelated.data(), 1400 * 30, data.data());
  for (const double p : {1e-6, 1e-10}) {
    const gpu::edge_sink sink{.keep = {.max_p = p}};
    const auto wanted = spearman(data.view(), by_naive, sink).edges;
    CHECK(wanted.size() > 10'000);
    const bool same = spearman(data.view(), by_tiled, sink).edges == wanted;
    CHECK(same);
  }
}

TEST_CASE("A flood of edges comes in order within the least memory", "[correlated]") {
  const auto data = correlated_matrix<float>(
      {.rows = 530, .cols = 20, .pairs_in_blocks = 0.5, .blocks_side_by_side = false});
  const auto check = [&](const auto& run, const gpu::pair_filter& keep) {
    const auto wanted = run(data.view(), by_naive, gpu::edge_sink{.keep = keep}).edges;
    for (const std::size_t beyond_least : {std::size_t{0}, std::size_t{200'000}}) {
      gpu::pair_options little = by_tiled;
      little.exec.workspace_bytes =
          beyond_least + gpu_test::least_workspace(
                             [&](const gpu::pair_options& how) {
                               (void)run(data.view(), how, gpu::edge_sink{.keep = keep});
                             },
                             by_tiled);
      REQUIRE(little.exec.workspace_bytes > beyond_least);
      const bool same = run(data.view(), little, gpu::edge_sink{.keep = keep}).edges == wanted;
      CHECK(same);
      std::vector<gpu::edge> streamed;
      std::size_t largest = 0;
      const auto collect = [&](std::span<const gpu::edge> batch) {
        largest = std::max(largest, batch.size());
        streamed.insert(streamed.end(), batch.begin(), batch.end());
      };
      (void)run(data.view(), little,
                gpu::stream_sink{.keep = keep, .consume = collect, .batch_edges = 333});
      const bool same_stream = wanted == streamed;
      CHECK(same_stream);
      CHECK(largest <= 333);
    }
  };
  check(spearman, {.max_p = 1.0});
  check(pearson, {.max_p = 1e-5});
}
