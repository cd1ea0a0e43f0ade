#include <cmath>
#include <string>
#include <vector>

#include <gpu/all_pairs.hpp>
#include <gpu/differential.hpp>
#include <gpu/error.hpp>
#include <gpu/execution.hpp>
#include <gpu/plan.hpp>
#include <gpu/rank.hpp>

#include "support/catch.hpp"
#include "support/refusals.hpp"
#include "support/scoped_variable.hpp"
#include "support/skip.hpp"

TEST_CASE("The CPU backend is listed first and always usable", "[backend]") {
  const auto backends = gpu::available_backends();
  REQUIRE(backends.size() == 2);
  CHECK(backends[0].kind == gpu::backend::cpu);
  CHECK(backends[0].usable);
  CHECK(backends[1].kind == gpu::backend::cuda);
  CHECK(backends[1].usable == backends[1].reason.empty());
}

TEST_CASE("A backend asked for in the options is the one that runs", "[backend]") {
  CHECK(gpu::resolve_backend({.target = gpu::backend::cpu}) == gpu::backend::cpu);
  const gpu_test::scoped_variable variable("GPU_SIMILARITY_BACKEND", "cuda");
  CHECK(gpu::resolve_backend({.target = gpu::backend::cpu}) == gpu::backend::cpu);
}

TEST_CASE("The environment decides where the options do not", "[backend]") {
  {
    const gpu_test::scoped_variable variable("GPU_SIMILARITY_BACKEND", "cpu");
    CHECK(gpu::resolve_backend() == gpu::backend::cpu);
  }
  const gpu_test::scoped_variable variable("GPU_SIMILARITY_BACKEND", "tpu");
  CHECK_THROWS_AS(gpu::resolve_backend(), gpu::invalid_argument);
}

TEST_CASE("CUDA never falls back silently", "[backend]") {
  if (gpu::available_backends()[1].usable) {
    gpu_test::note_skip(gpu_test::missing::absence, "CUDA never falls back: there is a device");
    return;
  }
  CHECK_THROWS_AS(gpu::resolve_backend({.target = gpu::backend::cuda}), gpu::backend_unavailable);
  CHECK(gpu::resolve_backend() == gpu::backend::cpu);
}

TEST_CASE("Devices are refused where they would change nothing", "[backend]") {
  const std::vector<double> values{1, 2, 3, 4, 2, NAN, 4, 3, 4, 3, 2, 1};
  const gpu::matrix_view<const double> data(values.data(), 3, 4);
  const gpu::matrix_view<const double> whole(values.data(), 1, 4);
  const auto refused = [&](const gpu::execution& exec, const std::string& words) {
    CHECK(gpu_test::refusal_of([&] { (void)gpu::resolve_backend(exec); }) == words);
    CHECK(gpu_test::refusal_of([&] { (void)gpu::rank_rows(whole, {.exec = exec}); }) == words);
    for (const gpu::measure what : {gpu::measure::spearman, gpu::measure::kendall}) {
      const gpu::pair_options options{.nans = gpu::nan_policy::pairwise, .exec = exec};
      CHECK(gpu_test::refusal_of([&] { (void)gpu::all_pairs(what, data, options); }) == words);
    }
  };
  refused(
      {.target = gpu::backend::cpu, .devices = {0}},
      "execution.devices: got 1 with execution.target cpu, expected none: they are CUDA devices");
  {
    const gpu_test::scoped_variable variable("GPU_SIMILARITY_BACKEND", "cpu");
    refused(
        {.devices = {0}},
        "execution.devices: got 1 with GPU_SIMILARITY_BACKEND=cpu, expected none: they are CUDA "
        "devices");
  }
  const gpu::backend_info cuda = gpu::available_backends()[1];
  if (cuda.usable) {
    gpu_test::note_skip(gpu_test::missing::absence, "devices without CUDA: there is a device");
    return;
  }
  refused({.devices = {2}}, "execution.devices: got device 2, but " + cuda.reason);
  CHECK_THROWS_AS(gpu::resolve_backend({.devices = {0}}), gpu::backend_unavailable);
}

TEST_CASE("Differential correlation runs where all pairs do", "[backend]") {
  const std::vector<double> values{1, 2, 3, 4, 2, 1, 4, 3, 2, 1, 4, 3, 1, 3, 2, 4};
  const gpu::matrix_view<const double> data(values.data(), 2, 8);
  const std::vector<gpu::index_t> first{0, 1, 2, 3};
  const std::vector<gpu::index_t> second{4, 5, 6, 7};
  const auto run = [&](const gpu::execution& exec) {
    return gpu::differential_pairs(gpu::measure::pearson, data, {.first = first, .second = second},
                                   {.exec = exec});
  };
  CHECK(run({}).summary.first_cols == 4);
  CHECK(gpu_test::refusal_of([&] { (void)run({.target = gpu::backend::cpu, .devices = {0}}); }) ==
        "execution.devices: got 1 with execution.target cpu, expected none: they are CUDA devices");
  if (gpu::available_backends()[1].usable) return;  // differential_cuda_test
  CHECK_THROWS_AS(run({.target = gpu::backend::cuda}), gpu::backend_unavailable);
  CHECK_THROWS_AS(run({.devices = {0}}), gpu::backend_unavailable);
}

TEST_CASE("All pairs of device memory need a device", "[backend]") {
  if (gpu::available_backends()[1].usable) {
    gpu_test::note_skip(gpu_test::missing::absence, "no device memory: there is a device");
    return;
  }
  const std::vector<float> never_read(60);
  const gpu::device_matrix_view<const float> data(never_read.data(), 6, 10);
  const gpu::device_count_sink sink;
  CHECK_THROWS_AS(gpu::spearman_all_pairs(data), gpu::backend_unavailable);
  CHECK_THROWS_AS(gpu::pearson_all_pairs(data, gpu::edge_sink{}), gpu::backend_unavailable);
  CHECK_THROWS_AS(gpu::spearman_all_pairs(data, sink), gpu::backend_unavailable);
  CHECK_THROWS_AS(gpu::pearson_all_pairs(data, data, {}, sink), gpu::backend_unavailable);
  CHECK_THROWS_AS(static_cast<void>(gpu::plan_all_pairs(gpu::measure::spearman, data, {}, sink)),
                  gpu::backend_unavailable);
  CHECK_THROWS_AS(gpu::spearman_all_pairs(data, {.exec = {.target = gpu::backend::cpu}}, sink),
                  gpu::invalid_argument);
  const std::vector<gpu::index_t> first{0, 1, 2, 3};
  const std::vector<gpu::index_t> second{4, 5, 6, 7};
  const auto differential = [&](const auto& of) {
    static_cast<void>(gpu::differential_pairs(gpu::measure::pearson, data,
                                              {.first = first, .second = second}, {}, of));
  };
  CHECK_THROWS_AS(differential(gpu::differential_edge_sink{}), gpu::backend_unavailable);
  CHECK_THROWS_AS(differential(gpu::differential_count_sink{}), gpu::backend_unavailable);
  CHECK_THROWS_AS(differential(gpu::differential_top_k_sink{}), gpu::backend_unavailable);
  CHECK_THROWS_AS(differential(gpu::discovery_sink{}), gpu::backend_unavailable);
}
