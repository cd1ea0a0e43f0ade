// Rows that are prepared once, on CUDA.
#include "pearson/pearson_measure.hpp"
#include "spearman/spearman_measure.hpp"
#include "support/catch.hpp"
#include "support/device_offers.hpp"
#include "support/prepared_cases.hpp"

namespace {

using gpu::pair_variant;
using gpu_test::pearson_measure;
using gpu_test::spearman_measure;

template <class Measure, class Other>
void run(pair_variant variant) {
  if (variant != pair_variant::automatic && !gpu_test::applies(variant)) return;
  gpu_test::run_prepared_cases<Measure, Other>({.where = gpu::backend::cuda, .variant = variant});
}

}  // namespace

TEST_CASE("Spearman queries of prepared rows, CUDA's own choice", "[prepared]") {
  run<spearman_measure, pearson_measure>(pair_variant::automatic);
}
TEST_CASE("Spearman queries of prepared rows, CUDA tensor", "[prepared]") {
  run<spearman_measure, pearson_measure>(pair_variant::tensor);
}
TEST_CASE("Spearman queries of prepared rows, CUDA shared_tiled", "[prepared]") {
  run<spearman_measure, pearson_measure>(pair_variant::shared_tiled);
}
TEST_CASE("Spearman queries of prepared rows, CUDA naive", "[prepared]") {
  run<spearman_measure, pearson_measure>(pair_variant::naive);
}
TEST_CASE("Pearson queries of prepared rows, CUDA's own choice", "[prepared]") {
  run<pearson_measure, spearman_measure>(pair_variant::automatic);
}
TEST_CASE("Pearson queries of prepared rows, CUDA shared_tiled", "[prepared]") {
  run<pearson_measure, spearman_measure>(pair_variant::shared_tiled);
}
