// Windows that reach far beyond their row, on CUDA: the answers of the CPU, at a cost that does not
// depend on the window.
#include <algorithm>
#include <chrono>

#include <gpu/error.hpp>

#include "mean_filter/far_window_cases.hpp"
#include "mean_filter/filter_checks.hpp"

namespace {

using gpu::mean_filter_variant;

}  // namespace

TEST_CASE("A window of 2^31 - 1 elements costs what the row does, on CUDA", "[mean_filter][cuda]") {
  for (const auto variant : {mean_filter_variant::automatic, mean_filter_variant::direct,
                             mean_filter_variant::block_sums}) {
    for (const std::size_t size : {1U, 2U, 4U, 7U}) {
      gpu_test::check_far_windows(gpu_test::far_window_row<std::int32_t>(size),
                                  gpu_test::on_cuda(variant));
      gpu_test::check_far_windows(gpu_test::far_window_row<std::int8_t>(size),
                                  gpu_test::on_cuda(variant));
      gpu_test::check_far_windows(gpu_test::far_window_row<float>(size),
                                  gpu_test::on_cuda(variant));
      gpu_test::check_far_windows(gpu_test::far_window_row<double>(size),
                                  gpu_test::on_cuda(variant));
    }
  }
  // Tiles and three launches.
  for (const std::size_t size : {700U, 1900U, 60'013U}) {
    gpu_test::check_far_windows(gpu_test::far_window_row<double>(size),
                                gpu_test::on_cuda(mean_filter_variant::automatic));
    gpu_test::check_far_windows(gpu_test::far_window_row<std::int16_t>(size),
                                gpu_test::on_cuda(mean_filter_variant::automatic));
  }
}

TEST_CASE("Far windows treat Inf and NaN as near ones do, on CUDA", "[mean_filter][cuda]") {
  for (const auto variant : {mean_filter_variant::automatic, mean_filter_variant::direct,
                             mean_filter_variant::block_sums}) {
    gpu_test::check_far_spoilers(gpu_test::on_cuda(variant));
  }
}

TEST_CASE("Rows of far windows each have a sum of their own", "[mean_filter][cuda]") {
  auto options = gpu_test::on_cuda(mean_filter_variant::automatic);
  for (const gpu::boundary mode : {gpu::boundary::reflect, gpu::boundary::nearest}) {
    options.boundary = mode;
    options.window = 3001;
    gpu_test::check_rows<double, double>(5, 37, options, 141);
    gpu_test::check_rows<float, float>(5, 37, options, 142);
    gpu_test::check_rows<float, double>(5, 37, options, 143);
    gpu_test::check_rows<std::int16_t, std::int16_t>(5, 37, options, 144);
    gpu_test::check_rows<std::uint8_t, double>(3, 1000, options, 145);
    options.window = 20'001;
    gpu_test::check_rows<double, double>(3, 5100, options, 146);
  }
  // The common sums take scratch memory, whatever the variant.
  options.window = 1 << 30;
  CHECK(gpu::plan_mean_filter<float>(1000, 4, options).workspace_bytes >= 24'000);
}

TEST_CASE("Far windows are refused by variants without a kernel for them", "[mean_filter][cuda]") {
  for (const auto variant :
       {mean_filter_variant::constant_memory, mean_filter_variant::shared_memory,
        mean_filter_variant::multi_level}) {
    auto options = gpu_test::on_cuda(variant);
    options.window = 100'000;
    CHECK_THROWS_AS(gpu::mean_filter(std::vector<float>(100), options), gpu::unsupported);
  }
}

TEST_CASE("A far window ends in good time", "[mean_filter][cuda]") {
  // 8 rows of 4 values took 414 s on one processor, window by window.
  gpu::matrix<double> rows(8, 4);
  std::fill_n(rows.data(), 32, 2.5);
  auto options = gpu_test::on_cuda(mean_filter_variant::automatic);
  options.window = (gpu::index_t{1} << 31) - 1;
  static_cast<void>(gpu::mean_filter(rows, options));
  const auto start = std::chrono::steady_clock::now();
  const gpu::matrix<double> means = gpu::mean_filter(rows, options);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(1));
  CHECK(means(7, 3) == 2.5);
}
