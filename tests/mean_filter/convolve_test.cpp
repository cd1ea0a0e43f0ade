// The convolution of the CPU backend against the oracle.
#include <gpu/error.hpp>

#include "mean_filter/convolve_checks.hpp"

using namespace gpu_test;

TEMPLATE_TEST_CASE("A convolution equals direct sums of products", "[convolve]", double, float,
                   std::int32_t, std::uint8_t, std::uint16_t, std::int8_t, std::int16_t) {
  for (const index_t size : {1, 2, 5, 33, 600}) {
    for (const index_t weights : {1, 2, 3, 5, 16, 255, 256}) {
      check_convolutions<TestType, TestType>(size, weights, {.exec = cpu}, 61);
      if constexpr (!std::is_same_v<TestType, double>) {
        check_convolutions<TestType, double>(size, weights, {.exec = cpu}, 62);
      }
    }
  }
}

TEST_CASE("Integer output saturates and NaN weights give 0", "[convolve]") {
  const std::vector<std::uint8_t> in{200, 200, 200};
  std::vector<std::uint8_t> out(3);
  const auto run = [&](double weight) {
    const std::vector<double> weights{weight};
    gpu::convolve(std::span(in), std::span<const double>(weights), std::span(out), {.exec = cpu});
    return static_cast<int>(out[1]);
  };
  CHECK(run(2.0) == 255);
  CHECK(run(-2.0) == 0);
  CHECK(run(0.0099) == 1);
  CHECK(run(std::numeric_limits<double>::quiet_NaN()) == 0);
}

TEST_CASE("Kernels that convolve does not take are refused", "[convolve]") {
  const std::vector<double> in(10);
  std::vector<double> out(10);
  const auto run = [&](std::size_t weights, gpu::convolve_options options = {.exec = cpu}) {
    const std::vector<double> kernel(weights, 1.0);
    gpu::convolve(std::span(in), std::span<const double>(kernel), std::span(out), options);
  };
  CHECK_THROWS_AS(run(0), gpu::invalid_argument);
  CHECK_THROWS_AS(run(257), gpu::invalid_argument);
  CHECK_THROWS_AS(run(3, {.boundary = boundary::shrink, .exec = cpu}), gpu::invalid_argument);
  CHECK_THROWS_AS(run(3, {.origin = 2, .exec = cpu}), gpu::invalid_argument);
  CHECK_THROWS_AS(run(3, {.variant = mean_filter_variant::block_sums, .exec = cpu}),
                  gpu::unsupported);
}
