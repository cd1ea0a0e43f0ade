#include "spearman/spearman_cases.hpp"
#include "support/cpu_targets.hpp"

namespace {

using gpu_test::pair_target;
using gpu_test::spearman_measure;

using gpu_test::cpu_naive;
using gpu_test::cpu_tiled;

}  // namespace

TEST_CASE("Spearman, CPU tiled", "[spearman]") {
  gpu_test::run_common_pair_cases<spearman_measure>(cpu_tiled);
}

TEST_CASE("Spearman, CPU naive", "[spearman][naive]") {
  gpu_test::run_common_pair_cases<spearman_measure>(cpu_naive);
}

TEST_CASE("Spearman decisions are exact", "[spearman]") {
  for (const pair_target& target : {cpu_tiled, cpu_naive}) {
    gpu_test::decimal_cuts_are_met_exactly(target);
    gpu_test::the_p_of_a_pair_keeps_that_pair(target);
    gpu_test::long_columns_stay_exact(target);
    gpu_test::very_long_columns_stay_exact(target);
  }
}

TEST_CASE("Spearman equals SciPy", "[spearman]") {
  gpu_test::equals_scipy(cpu_tiled);
  gpu_test::equals_scipy(cpu_naive);
}

TEST_CASE("Spearman of real data has the known answers", "[spearman]") {
  gpu_test::known_answers_of_gene_expression(cpu_tiled);
  gpu_test::known_answers_of_image_pixels(cpu_tiled);
}

TEST_CASE("Infinite values rank like others", "[spearman]") {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> values{-inf, 1, 2, inf, 3, 4, 5, 6};
  const gpu::matrix_view<const double> data(values.data(), 2, 4);
  CHECK(gpu::spearman_all_pairs(data, cpu_tiled.options())(0, 1) == 1.0);
}

TEST_CASE("A variant of the other backend is refused", "[spearman]") {
  const auto data = gpu_test::random_matrix<double>(3, 5, 1);
  for (const auto variant : {gpu::pair_variant::shared_tiled, gpu::pair_variant::tensor}) {
    const pair_target target{.where = gpu::backend::cpu, .variant = variant};
    CHECK_THROWS_AS(gpu::spearman_all_pairs(data.view(), target.options()), gpu::unsupported);
  }
}

TEST_CASE("The workspace limit is kept or refused on the CPU", "[spearman]") {
  const auto data = gpu_test::tied_matrix<std::int32_t>(300, 30, 2);
  const auto wanted = gpu::spearman_all_pairs(data.view(), cpu_tiled.options(), gpu::edge_sink{});
  gpu::pair_options options = cpu_tiled.options();
  options.exec.cpu_threads = 2;
  options.exec.workspace_bytes = 1;
  std::size_t needed = 0;
  try {
    (void)gpu::spearman_all_pairs(data.view(), options, gpu::edge_sink{});
  } catch (const gpu::out_of_memory& refusal) {
    needed = refusal.requested_bytes();
  }
  REQUIRE(needed > 1);
  // The least there is: edges wait a thousand at a time, the result is the same.
  options.exec.workspace_bytes = needed;
  CHECK(gpu::spearman_all_pairs(data.view(), options, gpu::edge_sink{}).edges == wanted.edges);
}
