#include "spearman/folding_cases.hpp"
#include "support/cpu_targets.hpp"

namespace {

using gpu_test::pair_target;

using gpu_test::cpu_naive;
using gpu_test::cpu_tiled;

// Rows of so few columns that they have few orders, whatever their values.
void few_columns_fold_by_themselves(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto options = gpu_test::folding(target, gpu::row_folding::automatic);
  const auto plain = gpu_test::folding(target, gpu::row_folding::never);
  const auto check = [&](gpu::index_t rows, gpu::index_t cols, bool folds) {
    CAPTURE(rows, cols);
    const auto data = gpu_test::tied_matrix<std::int32_t>(rows, cols, 12, 0.3, 40);
    for (const double max_p : {0.5, 1e-6}) {
      const gpu::count_sink counts{.keep = {.max_p = max_p}, .histogram_bins = 16};
      const auto got = gpu::spearman_all_pairs(data.view(), options, counts);
      const auto wanted = gpu::spearman_all_pairs(data.view(), plain, counts);
      CHECK((got.summary.patterns > 0) == folds);
      CHECK(got.kept == wanted.kept);
      CHECK(got.degree == wanted.degree);
      CHECK(got.histogram == wanted.histogram);
      gpu::edge_sink edges{.keep = {.max_p = max_p}};
      const auto list = gpu::spearman_all_pairs(data.view(), options, edges);
      const auto wanted_list = gpu::spearman_all_pairs(data.view(), plain, edges);
      CHECK((list.summary.patterns > 0) == folds);
      CHECK(list.summary.checksum == wanted_list.summary.checksum);
      CHECK(std::equal(list.edges.begin(), list.edges.end(), wanted_list.edges.begin(),
                       wanted_list.edges.end()));
      // As they are found, edges of few patterns are written no faster.
      edges.order = gpu::edge_order::unspecified;
      CHECK(gpu::spearman_all_pairs(data.view(), options, edges).summary.patterns == 0);
    }
    const auto got = gpu::spearman_all_pairs(data.view(), options, gpu::dense_sink{});
    CHECK((got.summary.patterns > 0) == folds);
    CHECK(gpu_test::same_matrix<double>(
        got, gpu::spearman_all_pairs(data.view(), plain, gpu::dense_sink{})));
  };
  check(416, 3, true);  // 13 orders
  check(415, 3, false);
  check(2400, 4, true);  // 75
  check(2399, 4, false);
}

}  // namespace

TEST_CASE("Folding changes no sink, CPU", "[spearman]") {
  gpu_test::folding_changes_no_sink(cpu_tiled);
  gpu_test::folding_changes_no_sink(cpu_naive);
}

TEST_CASE("Folding takes the extremes, CPU", "[spearman]") {
  gpu_test::folding_takes_the_extremes(cpu_tiled);
}

TEST_CASE("A consumer of folded runs may throw, CPU", "[spearman]") {
  gpu_test::a_folded_consumer_may_throw(cpu_tiled);
}

TEST_CASE("Folding is chosen where it pays, CPU", "[spearman]") {
  gpu_test::folding_is_chosen_where_it_pays(cpu_tiled);
}

TEST_CASE("Rows of few columns fold by themselves, CPU", "[spearman]") {
  few_columns_fold_by_themselves(cpu_tiled);
}

TEST_CASE("Folding needs ranks and leaves rows without them out, CPU", "[spearman]") {
  gpu_test::folding_needs_ranks(cpu_tiled);
  gpu_test::folding_leaves_nan_rows_out(cpu_tiled);
}

TEST_CASE("A small workspace puts edges of folded rows in order range by range", "[spearman]") {
  const auto data = gpu_test::repeated_rows(900, 30, 300, 21);
  auto options = gpu_test::folding(cpu_tiled, gpu::row_folding::always);
  const auto wanted = gpu::spearman_all_pairs(data.view(), options, gpu::edge_sink{});
  options.exec.cpu_threads = 2;
  options.exec.workspace_bytes = 1;
  std::size_t needed = 0;
  try {
    (void)gpu::spearman_all_pairs(data.view(), options, gpu::edge_sink{});
  } catch (const gpu::out_of_memory& refusal) {
    needed = refusal.requested_bytes();
  }
  REQUIRE(needed > 1);
  options.exec.workspace_bytes = needed;  // room for fewer edges than there are between patterns
  CHECK(gpu::spearman_all_pairs(data.view(), options, gpu::edge_sink{}).edges == wanted.edges);
  gpu::index_t required = 0;
  try {
    (void)gpu::spearman_all_pairs(data.view(), options, gpu::edge_sink{.max_edges = 10});
  } catch (const gpu::capacity_exceeded& refusal) {
    required = refusal.required();
  }
  CHECK(required == static_cast<gpu::index_t>(wanted.edges.size()));
}
