#include <gpu/observations.hpp>
#include <gpu/prepared_rows.hpp>

#include "missing/missing_cases.hpp"

using gpu_test::pair_target;

namespace {

constexpr pair_target tiled{.where = gpu::backend::cpu, .variant = gpu::pair_variant::tiled};
constexpr pair_target naive{.where = gpu::backend::cpu, .variant = gpu::pair_variant::naive};
const std::vector<std::pair<gpu::index_t, gpu::index_t>> shapes{
    {2, 3}, {9, 5}, {40, 30}, {33, 100}, {21, 257}};

}  // namespace

TEST_CASE("Spearman over shared columns", "[missing]") {
  gpu_test::run_missing_cases(tiled, gpu_test::missing_spearman, shapes);
  gpu_test::run_missing_cases(naive, gpu_test::missing_spearman, {{40, 30}});
}

TEST_CASE("Pearson over shared columns", "[missing]") {
  gpu_test::run_missing_cases(tiled, gpu_test::missing_pearson, shapes);
}

TEST_CASE("Cosine over shared columns", "[missing]") {
  gpu_test::run_missing_cases(tiled, gpu_test::missing_cosine, shapes);
}

TEST_CASE("Long rows over shared columns", "[missing]") {
  gpu_test::run_missing_cases(tiled, gpu_test::missing_spearman, {{4, 4200}});
  gpu_test::run_missing_cases(tiled, gpu_test::missing_pearson, {{10, 700}});
}

TEST_CASE("Missing values in windows of rows", "[missing]") {
  const auto data = gpu_test::rows_with_holes(2500, 24, gpu_test::holes::scattered, 3);
  for (const gpu::measure what : {gpu::measure::spearman, gpu::measure::pearson}) {
    gpu::pair_options options = gpu_test::pairwise_options(tiled);
    options.exec.cpu_threads = 2;
    const gpu::edge_sink sink{.keep = {.max_p = 1e-3}};
    const gpu::top_k_sink best{.k = 4};
    const auto wanted = gpu::all_pairs(what, data.view(), options, sink);
    const auto partners = gpu::all_pairs(what, data.view(), options, best);
    options.exec.workspace_bytes = std::size_t{2} << 20;
    const auto got = gpu::all_pairs(what, data.view(), options, sink);
    CHECK(got.edges.size() > 1000);
    CHECK(got.summary.checksum == wanted.summary.checksum);
    CHECK(std::equal(got.edges.begin(), got.edges.end(), wanted.edges.begin(), wanted.edges.end()));
    CHECK(got.summary.constant_rows == wanted.summary.constant_rows);
    CHECK(gpu::all_pairs(what, data.view(), options, best).summary.checksum ==
          partners.summary.checksum);
  }
}

TEST_CASE("A table without missing values is computed as ever", "[missing]") {
  const auto data = gpu_test::random_matrix<double>(40, 30, 4);
  gpu::pair_options options = gpu_test::pairwise_options(tiled);
  const auto got = gpu::all_pairs(gpu::measure::pearson, data.view(), options, gpu::edge_sink{});
  options.nans = gpu::nan_policy::reject;
  const auto wanted = gpu::all_pairs(gpu::measure::pearson, data.view(), options, gpu::edge_sink{});
  CHECK(std::equal(got.edges.begin(), got.edges.end(), wanted.edges.begin(), wanted.edges.end()));
}

TEST_CASE("Observations of pairs", "[missing]") {
  constexpr double no = gpu_test::missing;
  const std::vector<double> values{1, 2, no, 4, no, 2, 3, 4, 1, 2, 3, no};
  const auto data = gpu::as_matrix(values, 3, 4);
  const auto all = gpu::shared_observations(data);
  CHECK(all(0, 0) == 3);
  CHECK(all(0, 1) == 2);
  CHECK(all(2, 1) == 2);
  const std::vector<gpu::edge> edges{{1, 2, 0, 0}, {0, 2, 0, 0}};
  CHECK(gpu::shared_observations(data, edges) == std::vector<gpu::node_id>{2, 2});
  const std::vector<gpu::edge> beyond{{1, 3, 0, 0}};
  CHECK_THROWS_AS(gpu::shared_observations(data, beyond), gpu::invalid_argument);
  const auto against =
      gpu::shared_observations(data, gpu::as_matrix(std::span(values).first(8), 2, 4));
  CHECK(against(2, 1) == 2);
}

TEST_CASE("What missing values pair by pair do not go with", "[missing]") {
  const auto data = gpu_test::rows_with_holes(20, 12, gpu_test::holes::scattered, 3);
  const gpu::pair_options options = gpu_test::pairwise_options(tiled);
  const auto refuses = [&](gpu::pair_options how, const gpu::pair_filter& keep) {
    CHECK_THROWS_AS(
        gpu::all_pairs(gpu::measure::spearman, data.view(), how, gpu::edge_sink{.keep = keep}),
        gpu::unsupported);
  };
  gpu::pair_options part = options;
  part.part = {.index = 0, .of = 2};
  refuses(part, {.max_p = 0.05, .adjust = gpu::adjustment::bonferroni});
  gpu::pair_options folded = options;
  folded.fold = gpu::row_folding::always;
  refuses(folded, {});
  CHECK_THROWS_AS(gpu::prepare_rows(gpu::measure::spearman, data.view(), options),
                  gpu::unsupported);
  gpu::pair_options few = options;
  few.min_observations = 2;
  CHECK_THROWS_AS(gpu::all_pairs(gpu::measure::spearman, data.view(), few), gpu::invalid_argument);
}
