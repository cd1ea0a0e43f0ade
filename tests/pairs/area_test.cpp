// x against y and parts of a job on the CPU.

#include "pearson/pearson_measure.hpp"
#include "spearman/spearman_measure.hpp"
#include "support/area_cases.hpp"
#include "support/catch.hpp"

namespace {

using gpu::pair_variant;
using gpu_test::pearson_measure;
using gpu_test::spearman_measure;

constexpr gpu_test::pair_target automatic{.variant = pair_variant::automatic};
constexpr gpu_test::pair_target naive{.variant = pair_variant::naive};

}  // namespace

TEST_CASE("Spearman of areas, CPU", "[area]") {
  gpu_test::run_area_cases<spearman_measure>(automatic);
}

TEST_CASE("Spearman of areas, CPU naive", "[area][naive]") {
  gpu_test::run_area_cases<spearman_measure>(naive);
}

TEST_CASE("Pearson of areas, CPU", "[area]") {
  gpu_test::run_area_cases<pearson_measure>(automatic);
}

TEST_CASE("Pearson of areas, CPU naive", "[area][naive]") {
  gpu_test::run_area_cases<pearson_measure>(naive);
}
