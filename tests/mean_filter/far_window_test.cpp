// Windows that reach far beyond their row, on the CPU.
#include "mean_filter/far_window_cases.hpp"

TEST_CASE("A window of 2^31 - 1 elements costs what the row does", "[mean_filter]") {
  for (const auto variant :
       {gpu::mean_filter_variant::direct, gpu::mean_filter_variant::block_sums}) {
    const gpu::mean_filter_options options{.variant = variant,
                                           .exec = {.target = gpu::backend::cpu}};
    for (const std::size_t size : {1U, 2U, 4U, 7U}) {
      gpu_test::check_far_windows(gpu_test::far_window_row<std::int32_t>(size), options);
      gpu_test::check_far_windows(gpu_test::far_window_row<std::int8_t>(size), options);
      gpu_test::check_far_windows(gpu_test::far_window_row<float>(size), options);
      gpu_test::check_far_windows(gpu_test::far_window_row<double>(size), options);
    }
  }
  gpu_test::check_far_windows(gpu_test::far_window_row<double>(5003),
                              {.exec = {.target = gpu::backend::cpu}});
}

TEST_CASE("Far windows treat Inf and NaN as near ones do", "[mean_filter]") {
  for (const auto variant :
       {gpu::mean_filter_variant::direct, gpu::mean_filter_variant::block_sums}) {
    gpu_test::check_far_spoilers({.variant = variant, .exec = {.target = gpu::backend::cpu}});
  }
}
