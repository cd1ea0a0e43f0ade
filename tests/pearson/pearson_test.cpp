#include "pearson/pearson_cases.hpp"

namespace {

using gpu_test::pair_target;
using gpu_test::pearson_measure;

constexpr pair_target tiled{.where = gpu::backend::cpu, .variant = gpu::pair_variant::tiled};
constexpr pair_target naive{.where = gpu::backend::cpu, .variant = gpu::pair_variant::naive};

}  // namespace

TEST_CASE("Pearson, CPU tiled", "[pearson]") {
  gpu_test::run_common_pair_cases<pearson_measure>(tiled);
}

TEST_CASE("Pearson, CPU naive", "[pearson][naive]") {
  gpu_test::run_common_pair_cases<pearson_measure>(naive);
}

TEST_CASE("Pearson keeps its digits", "[pearson]") {
  for (const pair_target& target : {tiled, naive}) {
    gpu_test::ill_conditioned_rows_keep_their_digits(target);
    gpu_test::an_infinite_row_has_no_statistic(target);
    gpu_test::pearson_equals_scipy(target);
  }
}

TEST_CASE("Pearson of rows of several slices", "[pearson]") {
  gpu_test::rows_of_slices_have_one_sum(naive, tiled);
}

TEST_CASE("Pearson of real data has the known answer", "[pearson]") {
  gpu_test::known_pearson_answers_of_gene_expression(tiled);
}
