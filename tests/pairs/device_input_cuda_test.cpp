// All pairs of tables in device memory, with host results. That these are those of host memory:
// soak_cuda.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gpu/all_pairs.hpp>
#include <gpu/error.hpp>
#include <gpu/plan.hpp>

#include "pairs/device_cases.hpp"

namespace {

using gpu_test::device_table;

}  // namespace

TEST_CASE("Tables in device memory are read behind what is on the stream", "[pairs][device]") {
  const auto data = gpu_test::tied_matrix<int>(2000, 30, 11);
  const auto elements = static_cast<std::size_t>(2000 * 30);
  const gpu_test::pinned_array<int> source(data.data(), elements);
  const gpu::count_sink sink{.keep = {.max_p = 0.01}};
  const auto wanted = gpu::spearman_all_pairs(data.view(), sink);
  const gpu_test::test_stream stream;
  for (const cudaStream_t on : {stream.get(), cudaStream_t{nullptr}}) {
    const device_table<int> table(2000, 30);
    gpu_test::produce_late(source.data(), table.view().data(), elements, on);
    const auto got = gpu::spearman_all_pairs(table.view(), {.exec = {.stream = on}}, sink);
    CHECK(got.kept == wanted.kept);
    CHECK(got.degree == wanted.degree);
  }
}

TEST_CASE("A NaN in device memory is found and named", "[pairs][device]") {
  auto data = gpu_test::random_matrix<double>(700, 40, 12);
  data(611, 33) = std::numeric_limits<double>::quiet_NaN();
  data(250, 17) = std::numeric_limits<double>::quiet_NaN();
  data(250, 38) = std::numeric_limits<double>::quiet_NaN();
  const device_table<double> table(data, 5);
  const auto message_of = [&](auto run) -> std::string {
    try {
      run();
    } catch (const gpu::invalid_argument& error) {
      return error.what();
    }
    return {};
  };
  const std::string place = "data: got NaN at row 250, column 17 (2 rows with NaN)";
  CHECK(message_of([&] {
          (void)gpu::spearman_all_pairs(table.view(), gpu::count_sink{});
        }).starts_with(place));
  CHECK(message_of([&] { (void)gpu::pearson_all_pairs(table.view()); }).starts_with(place));
}

TEST_CASE("Bad calls on device memory name the argument", "[pairs][device]") {
  const auto data = gpu_test::tied_matrix<int>(20, 10, 16);
  const device_table<int> table(data);
  const auto message_of = [](auto run) -> std::string {
    try {
      run();
    } catch (const gpu::invalid_argument& error) {
      return error.what();
    }
    return {};
  };
  CHECK(message_of([&] {
          (void)gpu::spearman_all_pairs(table.view(), {.exec = {.target = gpu::backend::cpu}});
        }).starts_with("execution.target:"));
  const gpu::device_matrix_view<const int> narrow(table.view().data(), 20, 2, 10);
  CHECK(message_of([&] { (void)gpu::spearman_all_pairs(narrow); }).starts_with("data:"));
  int host_tables = 0;
  GPU_TEST_CUDA(
      cudaDeviceGetAttribute(&host_tables, cudaDevAttrPageableMemoryAccessUsesHostPageTables, 0));
  if (host_tables == 0) {
    const gpu::device_matrix_view<const int> host(data.data(), 20, 10);
    CHECK(message_of([&] { (void)gpu::spearman_all_pairs(host); }).starts_with("data:"));
  }
  const gpu_test::test_stream stream;
  GPU_TEST_CUDA(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal));
  const std::string captured = message_of(
      [&] { (void)gpu::spearman_all_pairs(table.view(), {.exec = {.stream = stream.get()}}); });
  cudaGraph_t graph = nullptr;
  GPU_TEST_CUDA(cudaStreamEndCapture(stream.get(), &graph));
  GPU_TEST_CUDA(cudaGraphDestroy(graph));
  CHECK(captured.starts_with("execution.stream:"));
}

TEST_CASE("The plan of a table in device memory", "[pairs][device]") {
  const device_table<int> table(gpu_test::tied_matrix<int>(5000, 30, 17));
  const auto plan = gpu::plan_all_pairs(gpu::measure::spearman, table.view());
  CHECK(plan.used == gpu::backend::cuda);
  CHECK(plan.variant != gpu::pair_variant::automatic);
  CHECK(plan.pairs == 5000u * 4999u / 2);
  CHECK(plan.sampled_pairs == 0);
}
