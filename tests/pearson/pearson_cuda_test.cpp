#include "pearson/pearson_cases.hpp"
#include "support/device_offers.hpp"

namespace {

using gpu_test::pair_target;
using gpu_test::pearson_measure;

constexpr pair_target cpu{.where = gpu::backend::cpu, .variant = gpu::pair_variant::tiled};
constexpr pair_target naive{.where = gpu::backend::cuda, .variant = gpu::pair_variant::naive};
constexpr pair_target shared{.where = gpu::backend::cuda,
                             .variant = gpu::pair_variant::shared_tiled};
pair_target tensor() {
  return {.where = gpu::backend::cuda, .variant = gpu_test::tensor_or_tiles()};
}

}  // namespace

TEST_CASE("Pearson, CUDA tensor", "[pearson]") {
  gpu_test::run_common_pair_cases<pearson_measure>(tensor());
}

TEST_CASE("Pearson, CUDA shared_tiled", "[pearson]") {
  gpu_test::run_common_pair_cases<pearson_measure>(shared);
}

TEST_CASE("Pearson, CUDA naive", "[pearson]") {
  gpu_test::run_common_pair_cases<pearson_measure>(naive);
}

TEST_CASE("Pearson on CUDA keeps its digits", "[pearson]") {
  for (const pair_target& target : {shared, naive}) {
    gpu_test::ill_conditioned_rows_keep_their_digits(target);
    gpu_test::an_infinite_row_has_no_statistic(target);
    gpu_test::pearson_equals_scipy(target);
  }
  gpu_test::an_infinite_row_has_no_statistic(tensor());
}

TEST_CASE("Pearson's cuts at a pair are exact on CUDA", "[pearson]") {
  for (const pair_target& target : {tensor(), shared})
    gpu_test::rows_that_round_alike_lose_no_edge(cpu, target);
}

TEST_CASE("Pearson of rows of several slices on CUDA", "[pearson]") {
  constexpr pair_target plain{.where = gpu::backend::cpu, .variant = gpu::pair_variant::naive};
  for (const pair_target& target : {tensor(), shared}) {
    gpu_test::rows_of_slices_have_one_sum(plain, target);
  }
  // So many slices that a block has several.
  gpu_test::rows_of_slices_have_one_sum(cpu, tensor(), {{9, 3'800'001}});
}

TEST_CASE("Pearson of real data has the known answer on CUDA", "[pearson]") {
  for (const pair_target& target : {tensor(), shared}) {
    gpu_test::known_pearson_answers_of_gene_expression(target);
  }
}
