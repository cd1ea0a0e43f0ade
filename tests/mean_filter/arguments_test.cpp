// What is refused, and the small shapes.
#include <gpu/error.hpp>
#include <gpu/execution.hpp>

#include "mean_filter/filter_checks.hpp"

using namespace gpu_test;

TEST_CASE("Windows and origins out of range are refused", "[mean_filter]") {
  const std::vector<double> in(10, 1.0);
  const auto filter = [&](mean_filter_options options) {
    options.exec = cpu;
    return gpu::mean_filter(std::span(in), options);
  };
  CHECK_THROWS_AS(filter({.window = 0}), gpu::invalid_argument);
  CHECK_THROWS_AS(filter({.window = -5}), gpu::invalid_argument);
  CHECK_THROWS_AS(filter({.window = index_t{1} << 31}), gpu::invalid_argument);
  CHECK_THROWS_AS(filter({.window = 5, .origin = 3}), gpu::invalid_argument);
  CHECK_THROWS_AS(filter({.window = 5, .origin = -3}), gpu::invalid_argument);
  CHECK_THROWS_AS(filter({.window = 4, .origin = 2}), gpu::invalid_argument);
  CHECK_NOTHROW(filter({.window = 4, .origin = -2}));
  CHECK_NOTHROW(filter({.window = 4, .origin = 1}));
  CHECK_THROWS_AS(filter({.window = 5, .origin = 1, .boundary = boundary::valid}),
                  gpu::invalid_argument);
  CHECK_THROWS_AS(filter({.window = 5, .boundary = static_cast<boundary>(9)}),
                  gpu::invalid_argument);
  CHECK_THROWS_AS(filter({.nans = static_cast<nan_policy>(7)}), gpu::invalid_argument);
}

TEST_CASE("Variants of the other backend are refused", "[mean_filter]") {
  const std::vector<double> in(10, 1.0);
  for (const auto variant :
       {mean_filter_variant::constant_memory, mean_filter_variant::shared_memory,
        mean_filter_variant::multi_level}) {
    CHECK_THROWS_AS(gpu::mean_filter(std::span(in), {.variant = variant, .exec = cpu}),
                    gpu::unsupported);
  }
}

TEST_CASE("Outputs of another size, and overlap, are refused", "[mean_filter]") {
  std::vector<double> data(100, 1.0);
  const gpu::matrix_view<const double> in(data.data(), 4, 10);
  std::vector<double> room(100);
  CHECK_THROWS_AS(
      gpu::mean_filter(in, gpu::matrix_view<double>(room.data(), 4, 9), {.window = 3, .exec = cpu}),
      gpu::invalid_argument);
  CHECK_THROWS_AS(gpu::mean_filter(in, gpu::matrix_view<double>(room.data(), 3, 10),
                                   {.window = 3, .exec = cpu}),
                  gpu::invalid_argument);
  CHECK_NOTHROW(gpu::mean_filter(in, gpu::matrix_view<double>(room.data(), 4, 8),
                                 {.window = 3, .boundary = boundary::valid, .exec = cpu}));
  CHECK_THROWS_AS(gpu::mean_filter(in, gpu::matrix_view<double>(data.data() + 39, 4, 10),
                                   {.window = 3, .exec = cpu}),
                  gpu::invalid_argument);
  CHECK_NOTHROW(gpu::mean_filter(in, gpu::matrix_view<double>(data.data() + 40, 4, 10),
                                 {.window = 3, .exec = cpu}));
}

TEST_CASE("Empty input gives empty output", "[mean_filter]") {
  const std::vector<float> none;
  for (const boundary mode : all_boundaries) {
    CHECK(gpu::mean_filter(std::span(none), {.window = 5, .boundary = mode, .exec = cpu}).empty());
  }
  const gpu::matrix_view<const float> no_rows(nullptr, 0, 7);
  CHECK(gpu::mean_filter(no_rows, {.exec = cpu}).rows() == 0);
  const gpu::matrix_view<const float> no_cols(nullptr, 7, 0);
  CHECK(gpu::mean_filter(no_cols, {.exec = cpu}).rows() == 7);
}

TEST_CASE("A workspace limit is kept or the call refused", "[mean_filter]") {
  const std::vector<double> in(1000, 1.0);
  mean_filter_options options{.window = 101, .exec = cpu};
  const auto plan = gpu::plan_mean_filter<double>(1, 1000, options);
  CHECK(plan.used == gpu::backend::cpu);
  CHECK(plan.variant == mean_filter_variant::block_sums);
  CHECK(plan.output_cols == 1000);
  CHECK(plan.workspace_bytes > 0);
  options.exec.workspace_bytes = plan.workspace_bytes;
  CHECK_NOTHROW(gpu::mean_filter(std::span(in), options));
  options.exec.workspace_bytes = plan.workspace_bytes - 1;
  CHECK_THROWS_AS(gpu::mean_filter(std::span(in), options), gpu::out_of_memory);
}

TEST_CASE("The plan of a convolution", "[mean_filter][plan]") {
  const gpu::convolve_options options{.boundary = boundary::valid, .exec = cpu};
  const auto plan = gpu::plan_convolve<float>(2, 1000, 5, options);
  CHECK(plan.used == gpu::backend::cpu);
  CHECK(plan.variant == mean_filter_variant::direct);
  CHECK(plan.output_cols == 996);
  CHECK(plan.workspace_bytes == 0);
  CHECK_THROWS_AS(gpu::plan_convolve<float>(-1, 10, 3), gpu::invalid_argument);
  CHECK_THROWS_AS(gpu::plan_convolve<float>(1, 10, 0), gpu::invalid_argument);
  CHECK_THROWS_AS(gpu::plan_convolve<float>(1, 10, gpu::max_convolve_weights + 1),
                  gpu::invalid_argument);
}

TEST_CASE("Sizes of filtered rows", "[mean_filter]") {
  CHECK(gpu::filtered_size(10, 3, boundary::zero) == 10);
  CHECK(gpu::filtered_size(10, 3, boundary::valid) == 8);
  CHECK(gpu::filtered_size(10, 10, boundary::valid) == 1);
  CHECK(gpu::filtered_size(10, 11, boundary::valid) == 0);
  CHECK_THROWS_AS(gpu::filtered_size(-1, 3, boundary::zero), gpu::invalid_argument);
  CHECK_THROWS_AS(gpu::filtered_size(10, 0, boundary::zero), gpu::invalid_argument);
}
