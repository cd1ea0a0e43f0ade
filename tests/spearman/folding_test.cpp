#include "spearman/folding_cases.hpp"

namespace {

using gpu_test::pair_target;

constexpr pair_target tiled{.where = gpu::backend::cpu, .variant = gpu::pair_variant::tiled};
constexpr pair_target naive{.where = gpu::backend::cpu, .variant = gpu::pair_variant::naive};

}  // namespace

TEST_CASE("Folding changes no sink, CPU", "[spearman]") {
  gpu_test::folding_changes_no_sink(tiled);
  gpu_test::folding_changes_no_sink(naive);
}

TEST_CASE("Folded edges in parts are those of the whole call, CPU", "[spearman][parts]") {
  gpu_test::folded_parts_are_the_whole(tiled);
  gpu_test::folded_parts_are_the_whole(naive);
}

TEST_CASE("Folding takes the extremes, CPU", "[spearman]") {
  gpu_test::folding_takes_the_extremes(tiled);
}

TEST_CASE("Limits and batches of folded runs hold, CPU", "[spearman]") {
  gpu_test::folded_limits_hold(tiled);
  gpu_test::folded_batches_hold(tiled);
  gpu_test::a_folded_consumer_may_throw(tiled);
}

TEST_CASE("Folding is chosen where it pays, CPU", "[spearman]") {
  gpu_test::folding_is_chosen_where_it_pays(tiled);
}

TEST_CASE("Rows of few columns fold by themselves, CPU", "[spearman]") {
  gpu_test::few_columns_fold_by_themselves(tiled);
}

TEST_CASE("Folding needs ranks and leaves rows without them out, CPU", "[spearman]") {
  gpu_test::folding_needs_ranks(tiled);
  gpu_test::folding_leaves_nan_rows_out(tiled);
}

TEST_CASE("A small workspace puts folded edges in order range by range", "[spearman]") {
  const auto data = gpu_test::repeated_rows(900, 30, 300, 21);
  auto options = gpu_test::folding(tiled, gpu::row_folding::always);
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
