// A mean is finite where its elements are, also where their sum is beyond double.
#include "mean_filter/large_value_cases.hpp"

using namespace gpu_test;

TEST_CASE("Means of values whose sum is beyond double", "[mean_filter]") {
  const std::vector<double> two{1.2e308, 1.2e308};
  for (const auto variant : {mean_filter_variant::block_sums, mean_filter_variant::direct}) {
    mean_filter_options options{.variant = variant,
                                .exec = {.target = gpu::backend::cpu, .cpu_threads = 2}};
    options.window = 2;
    CHECK(gpu::mean_filter(std::span(two), options) == two);
    // The oracle adds a window anew for every mean: of long windows it takes every seventeenth.
    for (const index_t window : {1, 2, 5, 8, 33, 101, 1001}) {
      options.window = window;
      check_large_everywhere(1300, options, window > 33 ? 17 : 1);
    }
    for (const index_t size : {3, 37}) {  // windows far beyond the row
      options.window = 511;
      check_large_everywhere(size, options);
    }
  }
}

TEST_CASE("Means of large values in long rows", "[mean_filter]") {
  mean_filter_options options{.exec = {.target = gpu::backend::cpu, .cpu_threads = 2}};
  for (const index_t window : {3, 50, 1001, 9001}) {
    options.window = window;
    check_large_everywhere(45003, options, 101);
  }
}
