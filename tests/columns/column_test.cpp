// Covariates and weights of columns, on the CPU.
#include "columns/run_column_cases.hpp"

namespace {

using gpu_test::pair_target;

constexpr pair_target tiled{.where = gpu::backend::cpu, .variant = gpu::pair_variant::tiled};
constexpr pair_target naive{.where = gpu::backend::cpu, .variant = gpu::pair_variant::naive};

}  // namespace

TEST_CASE("Covariates and weights, CPU tiled", "[columns]") {
  gpu_test::run_column_cases(tiled);
}

TEST_CASE("Covariates and weights, CPU naive", "[columns][naive]") {
  gpu_test::run_column_cases(naive);
}
