// An Inf, a NaN or a huge value changes only the outputs whose window holds it.
#include <limits>

#include "mean_filter/filter_checks.hpp"

using namespace gpu_test;

TEST_CASE("Spoilt elements stay inside their windows", "[mean_filter]") {
  for (const auto variant : {mean_filter_variant::block_sums, mean_filter_variant::direct}) {
    for (const index_t window : {1, 2, 5, 8, 33, 101, 1001}) {
      mean_filter_options options{.window = window,
                                  .variant = variant,
                                  .exec = {.target = gpu::backend::cpu, .cpu_threads = 2}};
      check_locality<double>(2500, options, std::numeric_limits<double>::infinity());
      check_locality<double>(2500, options, std::numeric_limits<double>::quiet_NaN());
      check_locality<double>(2500, options, 1e17);
      check_locality<double>(2500, options, std::numeric_limits<double>::max());
      check_locality<float>(2500, options, -std::numeric_limits<float>::infinity());
      check_locality<float>(2500, options, 1e17f);
    }
  }
}

TEST_CASE("A huge value cancels inside a window and not beyond it", "[mean_filter]") {
  const std::vector<double> in{1e17, 1, 1, 1, 1, 1, 1, -1e17, 1};
  const mean_filter_options options{
      .window = 3, .edges = boundary::zero, .exec = {.target = gpu::backend::cpu}};
  const auto out = gpu::mean_filter(std::span(in), options);
  CHECK(out[2] == 1.0);
  CHECK(out[3] == 1.0);
  CHECK(out[5] == 1.0);
  const std::vector<double> pair{1e17, 1, -1e17};
  CHECK(gpu::mean_filter(std::span(pair), options)[1] == 1.0 / 3.0);
}

TEST_CASE("The sum of many equal-signed values keeps its last bits", "[mean_filter]") {
  const std::vector<double> in(200001, 0.1);
  mean_filter_options options{.edges = boundary::valid, .exec = {.target = gpu::backend::cpu}};
  for (const index_t window : {5, 101, 1001, 100001}) {
    options.window = window;
    for (const double mean : gpu::mean_filter(std::span(in), options))
      REQUIRE(std::fabs(mean - 0.1) <= ulp(0.1));
  }
}
