#include "spearman/folding_cases.hpp"
#include "support/device_offers.hpp"

namespace {

using gpu_test::const_view;
using gpu_test::pair_target;

constexpr pair_target shared{.where = gpu::backend::cuda,
                             .variant = gpu::pair_variant::shared_tiled};
pair_target tensor() {
  return {.where = gpu::backend::cuda, .variant = gpu_test::tensor_or_tiles()};
}
// The best the device has: hopper where there is one.
constexpr pair_target best{.where = gpu::backend::cuda};
constexpr pair_target cpu{.where = gpu::backend::cpu};

// Like repeated_rows, quickly and in any number: row i has the ranks of pool row i^2 mod distinct.
gpu::matrix<std::int32_t> many_repeated_rows(gpu::index_t rows, gpu::index_t distinct,
                                             gpu::index_t cols = 30) {
  const auto pool = gpu_test::tied_matrix<std::int32_t>(distinct, cols, 31, 0.9, 6);
  gpu::matrix<std::int32_t> out(rows, cols);
  for (gpu::index_t i = 0; i < rows; ++i) {
    for (gpu::index_t k = 0; k < cols; ++k) out(i, k) = pool(i * i % distinct, k) + 3;
  }
  return out;
}

}  // namespace

TEST_CASE("Folding changes no sink, CUDA", "[spearman]") {
  for (const pair_target& target : {best, tensor(), shared}) {
    gpu_test::folding_changes_no_sink(target);
  }
}

TEST_CASE("Folding takes the extremes, CUDA", "[spearman]") {
  gpu_test::folding_takes_the_extremes(best);
}

TEST_CASE("A consumer of folded runs may throw, CUDA", "[spearman]") {
  gpu_test::a_folded_consumer_may_throw(best);
}

TEST_CASE("Folding is chosen where it pays, CUDA", "[spearman]") {
  gpu_test::folding_is_chosen_where_it_pays(tensor());
  if (!gpu_test::applies(gpu::pair_variant::hopper)) return;
  gpu_test::folding_is_chosen_where_it_pays(
      {.where = gpu::backend::cuda, .variant = gpu::pair_variant::hopper});
}

TEST_CASE("Folding needs ranks and leaves rows without them out, CUDA", "[spearman]") {
  gpu_test::folding_needs_ranks(best);
  gpu_test::folding_leaves_nan_rows_out(best);
  const pair_target naive{.where = gpu::backend::cuda, .variant = gpu::pair_variant::naive};
  const auto data = gpu_test::repeated_rows(20, 8, 4, 5);
  CHECK_THROWS_AS(
      gpu::spearman_all_pairs(data.view(), gpu_test::folding(naive, gpu::row_folding::always),
                              gpu::edge_sink{}),
      gpu::unsupported);
}

// Thousands of patterns, so that every kind of launch has several, and weights in the hundreds.
TEST_CASE("Folding of many rows gives the CPU's bits", "[spearman]") {
  const auto data = many_repeated_rows(120'000, 7919);
  const gpu::pair_filter strict{.max_p = 1e-7};
  const auto always = [](const pair_target& target) {
    return gpu_test::folding(target, gpu::row_folding::always);
  };
  const auto wanted =
      gpu::spearman_all_pairs(data.view(), always(cpu), gpu::edge_sink{.keep = strict});
  REQUIRE(wanted.summary.pairs_kept > 100'000);
  for (const pair_target& target : {best, tensor(), shared}) {
    GPU_TEST_INFO(target);
    const auto got =
        gpu::spearman_all_pairs(data.view(), always(target), gpu::edge_sink{.keep = strict});
    CHECK(got.edges == wanted.edges);
    CHECK(got.summary.patterns == wanted.summary.patterns);
    for (const double max_p : {1e-7, 0.05}) {
      const gpu::count_sink sink{.keep = {.max_p = max_p}, .histogram_bins = 100};
      const auto counts = gpu::spearman_all_pairs(data.view(), always(target), sink);
      const auto cpu_counts = gpu::spearman_all_pairs(data.view(), cpu.options(), sink);
      CHECK(counts.kept == cpu_counts.kept);
      CHECK(counts.degree == cpu_counts.degree);
      CHECK(counts.histogram == cpu_counts.histogram);
      CHECK(counts.summary.patterns == wanted.summary.patterns);
    }
    const gpu::top_k_sink nearest{.k = 10};
    const auto table = gpu::spearman_all_pairs(data.view(), target.options(), nearest);
    const auto cpu_table = gpu::spearman_all_pairs(data.view(), cpu.options(), nearest);
    CHECK(gpu_test::same_matrix(table.index, cpu_table.index));
    CHECK(gpu_test::same_matrix(table.statistic, cpu_table.statistic));
  }
}

// What a row loses by rounding belongs to its pattern once rows are folded.
TEST_CASE("Folded rows of more than 128 columns pass a screen", "[spearman]") {
  auto data = many_repeated_rows(9'000, 2'999, 150);
  // Every fifth row has the ranks of its neighbour turned round, except in two columns.
  for (gpu::index_t i = 5; i < data.rows(); i += 5) {
    for (gpu::index_t k = 0; k < 148; ++k) data(i, k) = 9 - data(i - 1, k);
  }
  for (const gpu::pair_filter& keep :
       {gpu::pair_filter{.max_p = 1e-9}, gpu::pair_filter{.min_abs = 1.0}}) {
    const auto wanted = gpu::spearman_all_pairs(
        data.view(), gpu_test::folding(cpu, gpu::row_folding::never), gpu::edge_sink{.keep = keep});
    REQUIRE(wanted.edges.size() > 1'000);
    const auto got =
        gpu::spearman_all_pairs(data.view(), gpu_test::folding(best, gpu::row_folding::always),
                                gpu::edge_sink{.keep = keep});
    CHECK(got.edges == wanted.edges);
    CHECK(got.summary.patterns > 0);
  }
}
