// A mean is finite where its elements are, by every variant of the CUDA backend.
#include "mean_filter/large_value_cases.hpp"

using namespace gpu_test;

TEST_CASE("Means of values whose sum is beyond double, on CUDA", "[mean_filter][cuda]") {
  const auto check = [](mean_filter_variant variant, index_t window, index_t size, index_t step) {
    check_large_everywhere(
        size, {.window = window, .variant = variant, .exec = {.target = gpu::backend::cuda}}, step);
  };
  // Every third value is small: a step of three would meet the same places of this pattern alone.
  for (const index_t window : {1, 2, 3, 4, 5, 6, 7, 8, 16}) {
    check(mean_filter_variant::direct, window, 2000, 7);
    check(mean_filter_variant::constant_memory, window, 2000, 7);
    check(mean_filter_variant::shared_memory, window, 3000, 7);
    check(mean_filter_variant::block_sums, window, 6000, 7);
  }
  for (const index_t window : {33, 101, 1001, 4001}) {
    check(mean_filter_variant::block_sums, window, 30000, 101);
  }
  check(mean_filter_variant::multi_level, 5001, 30000, 101);
  // Windows far beyond the row.
  check(mean_filter_variant::direct, 511, 37, 1);
  check(mean_filter_variant::block_sums, 511, 37, 1);
}
