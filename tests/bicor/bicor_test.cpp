#include "bicor/bicor_cases.hpp"

using gpu_test::pair_target;

namespace {

constexpr pair_target tiled{.where = gpu::backend::cpu, .variant = gpu::pair_variant::tiled};
constexpr pair_target naive{.where = gpu::backend::cpu, .variant = gpu::pair_variant::naive};

}  // namespace

TEST_CASE("Bicor, CPU tiled", "[bicor]") {
  gpu_test::run_bicor_cases(tiled);
}

TEST_CASE("Bicor, CPU naive", "[bicor][naive]") {
  gpu_test::run_bicor_cases(naive);
}
