// x against y and parts of a job on the CPU.

#include "pearson/pearson_measure.hpp"
#include "spearman/spearman_measure.hpp"
#include "support/area_cases.hpp"
#include "support/catch.hpp"

namespace {

using gpu::pair_variant;
using gpu_test::pearson_measure;
using gpu_test::spearman_measure;

}  // namespace

TEST_CASE("Spearman of areas on the CPU", "[area]") {
  for (const pair_variant variant : {pair_variant::automatic, pair_variant::naive}) {
    gpu_test::run_area_cases<spearman_measure>({.variant = variant});
  }
}

TEST_CASE("Pearson of areas on the CPU", "[area]") {
  for (const pair_variant variant : {pair_variant::automatic, pair_variant::naive}) {
    gpu_test::run_area_cases<pearson_measure>({.variant = variant});
  }
}
