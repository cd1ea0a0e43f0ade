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
      .window = 3, .boundary = boundary::zero, .exec = {.target = gpu::backend::cpu}};
  const auto out = gpu::mean_filter(std::span(in), options);
  CHECK(out[2] == 1.0);
  CHECK(out[3] == 1.0);
  CHECK(out[5] == 1.0);
  const std::vector<double> pair{1e17, 1, -1e17};
  CHECK(gpu::mean_filter(std::span(pair), options)[1] == 1.0 / 3.0);
}

TEST_CASE("The sum of many equal-signed values keeps its last bits", "[mean_filter]") {
  const std::vector<double> in(200001, 0.1);
  mean_filter_options options{.boundary = boundary::valid, .exec = {.target = gpu::backend::cpu}};
  for (const index_t window : {5, 101, 1001, 100001}) {
    options.window = window;
    for (const double mean : gpu::mean_filter(std::span(in), options))
      REQUIRE(std::fabs(mean - 0.1) <= ulp(0.1));
  }
}

TEST_CASE("What else a long row holds shows in no bit of an output", "[mean_filter]") {
  // Long enough for the loops that look at a strip as a whole and choose how to sum it.
  constexpr index_t size = 45003;
  constexpr index_t spoilt = 20011;
  const double halves[] = {1.0, 0x1p53, -0x1p53, 3.0, 0x1p-3, 0.0};
  std::vector<std::vector<double>> rows = {test_row<double>(size, 3), test_row<double>(size, 4),
                                           test_row<double>(size, 5)};
  for (double& value : rows[1]) value = std::round(value * 100);
  for (double& value : rows[2]) value = halves[static_cast<std::size_t>(std::fabs(value * 50)) % 6];
  for (const index_t window : {2, 3, 5, 7, 8, 33, 101, 1001}) {
    const mean_filter_options options{.window = window,
                                      .boundary = boundary::zero,
                                      .exec = {.target = gpu::backend::cpu, .cpu_threads = 1}};
    for (const std::vector<double>& row : rows) {
      const auto expected = gpu::mean_filter(std::span(row), options);
      for (const double value : {1e300, 0x1p70, 1e-300, std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN()}) {
        std::vector<double> in = row;
        in[spoilt] = value;
        const auto out = gpu::mean_filter(std::span(in), options);
        index_t differences = 0;
        for (index_t j = 0; j < size; ++j) {
          const bool holds_it = std::abs(j - spoilt) <= window / 2;
          const auto at = static_cast<std::size_t>(j);
          if (!holds_it && out[at] != expected[at]) ++differences;
        }
        INFO("window " << window << " with " << value);
        CHECK(differences == 0);
      }
    }
  }
}

TEST_CASE("Magnitudes far apart in one long row", "[mean_filter]") {
  constexpr index_t size = 34001;
  std::vector<double> in = test_row<double>(size, 6);
  for (std::size_t i = 0; i < in.size(); ++i) {
    in[i] = std::ldexp(in[i], static_cast<int>(i * 7919 % 401) - 200);
  }
  for (const index_t window : {2, 5, 7, 9, 64, 1001}) {
    const mean_filter_options options{.window = window,
                                      .exec = {.target = gpu::backend::cpu, .cpu_threads = 2}};
    const auto out = gpu::mean_filter(std::span(in), options);
    CHECK(first_wrong<double, double>(std::span<const double>(in), std::span<const double>(out),
                                      options, 1 + window / 5) == -1);
  }
}
