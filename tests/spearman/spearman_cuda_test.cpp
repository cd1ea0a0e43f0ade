#include "spearman/spearman_cases.hpp"
#include "support/device_offers.hpp"

namespace {

using gpu_test::pair_target;
using gpu_test::spearman_measure;

constexpr pair_target naive{.where = gpu::backend::cuda, .variant = gpu::pair_variant::naive};
constexpr pair_target shared{.where = gpu::backend::cuda,
                             .variant = gpu::pair_variant::shared_tiled};
pair_target tensor() {
  return {.where = gpu::backend::cuda, .variant = gpu_test::tensor_or_tiles()};
}
// The best the device has: hopper where there is one.
constexpr pair_target best{.where = gpu::backend::cuda};

}  // namespace

TEST_CASE("Spearman, CUDA's own choice", "[spearman]") {
  gpu_test::run_common_pair_cases<spearman_measure>(best);
}

TEST_CASE("Spearman, CUDA tensor", "[spearman]") {
  gpu_test::run_common_pair_cases<spearman_measure>(tensor());
}

TEST_CASE("Spearman, CUDA shared_tiled", "[spearman]") {
  gpu_test::run_common_pair_cases<spearman_measure>(shared);
}

TEST_CASE("Spearman, CUDA naive", "[spearman]") {
  gpu_test::run_common_pair_cases<spearman_measure>(naive);
}

TEST_CASE("Spearman decisions on CUDA are exact", "[spearman]") {
  for (const pair_target& target : {best, tensor(), shared, naive}) {
    gpu_test::decimal_cuts_are_met_exactly(target);
    gpu_test::the_p_of_a_pair_keeps_that_pair(target);
    gpu_test::long_columns_stay_exact(target);
  }
  gpu_test::very_long_columns_stay_exact(tensor());
  gpu_test::very_long_columns_stay_exact(shared);
}

TEST_CASE("Spearman on CUDA equals SciPy", "[spearman]") {
  for (const pair_target& target : {best, tensor(), shared, naive}) gpu_test::equals_scipy(target);
}

TEST_CASE("Spearman of real data has the known answers on CUDA", "[spearman]") {
  for (const pair_target& target : {best, tensor(), shared}) {
    gpu_test::known_answers_of_gene_expression(target);
    gpu_test::known_answers_of_image_pixels(target);
  }
}
