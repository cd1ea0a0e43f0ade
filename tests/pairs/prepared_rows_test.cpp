// Rows that are prepared once, on the CPU.

#include "pearson/pearson_measure.hpp"
#include "spearman/spearman_measure.hpp"
#include "support/catch.hpp"
#include "support/prepared_cases.hpp"

using gpu_test::pearson_measure;
using gpu_test::spearman_measure;

TEST_CASE("Spearman queries of prepared rows on the CPU", "[prepared]") {
  gpu_test::run_prepared_cases<spearman_measure, pearson_measure>({.where = gpu::backend::cpu});
}

TEST_CASE("Pearson queries of prepared rows on the CPU", "[prepared]") {
  gpu_test::run_prepared_cases<pearson_measure, spearman_measure>({.where = gpu::backend::cpu});
}
