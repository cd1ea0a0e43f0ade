// x against y and parts of a job on CUDA, beside the oracle.

#include "pearson/pearson_measure.hpp"
#include "spearman/spearman_measure.hpp"
#include "support/area_cases.hpp"
#include "support/catch.hpp"
#include "support/device_offers.hpp"

namespace {

using gpu::pair_variant;
using gpu_test::pearson_measure;
using gpu_test::spearman_measure;

template <class Measure>
void run(pair_variant variant) {
  if (variant != pair_variant::automatic && !gpu_test::applies(variant)) return;
  gpu_test::run_area_cases<Measure>({.where = gpu::backend::cuda, .variant = variant});
}

}  // namespace

TEST_CASE("Spearman of areas, CUDA's own choice", "[area]") {
  run<spearman_measure>(pair_variant::automatic);
}
TEST_CASE("Spearman of areas, CUDA hopper", "[area]") {
  run<spearman_measure>(pair_variant::hopper);
}
TEST_CASE("Spearman of areas, CUDA tensor", "[area]") {
  run<spearman_measure>(pair_variant::tensor);
}
TEST_CASE("Spearman of areas, CUDA shared_tiled", "[area]") {
  run<spearman_measure>(pair_variant::shared_tiled);
}
TEST_CASE("Spearman of areas, CUDA naive", "[area]") {
  run<spearman_measure>(pair_variant::naive);
}
TEST_CASE("Pearson of areas, CUDA's own choice", "[area]") {
  run<pearson_measure>(pair_variant::automatic);
}
TEST_CASE("Pearson of areas, CUDA hopper", "[area]") {
  run<pearson_measure>(pair_variant::hopper);
}
TEST_CASE("Pearson of areas, CUDA tensor", "[area]") {
  run<pearson_measure>(pair_variant::tensor);
}
TEST_CASE("Pearson of areas, CUDA shared_tiled", "[area]") {
  run<pearson_measure>(pair_variant::shared_tiled);
}
TEST_CASE("Pearson of areas, CUDA naive", "[area]") {
  run<pearson_measure>(pair_variant::naive);
}
