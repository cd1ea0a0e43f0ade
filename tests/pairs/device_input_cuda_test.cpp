// All pairs of tables in device memory, with host results: what the call on host memory gives.
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <gpu/all_pairs.hpp>
#include <gpu/error.hpp>
#include <gpu/plan.hpp>

#include "pairs/device_cases.hpp"

namespace {

using gpu_test::device_table;
using gpu_test::pearson_call;
using gpu_test::spearman_call;

// Every sink that both measures have, from device memory and from host memory.
template <class Call, class T>
void check_sinks(const gpu::matrix<T>& data, gpu::index_t gap, const gpu::pair_options& options) {
  INFO(Call::name << ", " << data.rows() << " x " << data.cols() << ", gap " << gap);
  const device_table<T> table(data, gap);
  const auto on_device = table.view();
  const gpu::pair_filter keep{.max_p = 0.05};

  const auto dense = Call::run(on_device, options, gpu::dense_sink{});
  CHECK(gpu_test::same_values(dense, Call::run(data.view(), options, gpu::dense_sink{})));
  const auto dense_f32 = Call::run(on_device, options, gpu::dense_sink_f32{});
  CHECK(gpu_test::same_values(dense_f32, Call::run(data.view(), options, gpu::dense_sink_f32{})));

  const gpu::edge_sink edges{.keep = keep};
  const auto got = Call::run(on_device, options, edges);
  const auto wanted = Call::run(data.view(), options, edges);
  CHECK(gpu_test::same_list(got.edges, wanted.edges));
  CHECK(got.summary.constant_rows == wanted.summary.constant_rows);
  CHECK(got.summary.nan_rows == wanted.summary.nan_rows);
  CHECK(got.summary.pairs_tested == wanted.summary.pairs_tested);

  std::vector<gpu::edge> streamed;
  Call::run(on_device, options,
            gpu::stream_sink{.keep = keep, .consume = [&](std::span<const gpu::edge> batch) {
                               streamed.insert(streamed.end(), batch.begin(), batch.end());
                             }});
  CHECK(gpu_test::same_list(streamed, wanted.edges));

  const gpu::top_k_sink best{.k = 7, .keep = {.max_p = 0.4}};
  const auto near = Call::run(on_device, options, best);
  const auto near_host = Call::run(data.view(), options, best);
  CHECK(gpu_test::same_values(near.statistic, near_host.statistic));
  CHECK(gpu_test::same_values(near.index, near_host.index));
  CHECK(near.count == near_host.count);

  const gpu::count_sink count{.keep = keep, .histogram_bins = 50};
  const auto counts = Call::run(on_device, options, count);
  const auto counts_host = Call::run(data.view(), options, count);
  CHECK(counts.kept == counts_host.kept);
  CHECK(counts.degree == counts_host.degree);
  CHECK(counts.histogram == counts_host.histogram);
}

template <class T>
void check_type() {
  for (const gpu::index_t gap : {0, 3}) {
    check_sinks<spearman_call>(gpu_test::tied_matrix<T>(400, 30, 1), gap, {});
    check_sinks<pearson_call>(gpu_test::random_matrix<T>(400, 30, 2), gap, {});
    check_sinks<spearman_call>(gpu_test::random_matrix<T>(90, 301, 3), gap, {});
    check_sinks<pearson_call>(gpu_test::tied_matrix<T>(90, 301, 4), gap, {});
  }
}

}  // namespace

TEST_CASE("Rows in device memory are folded", "[pairs][device]") {
  gpu::matrix<std::int32_t> data(20'000, 12);
  const auto pool = gpu_test::tied_matrix<std::int32_t>(500, 12, 9);
  for (gpu::index_t i = 0; i < data.rows(); ++i) {
    for (gpu::index_t k = 0; k < 12; ++k) data(i, k) = pool(i * i % 500, k);
  }
  const device_table<std::int32_t> table(data);
  const gpu::pair_options always{.fold = gpu::row_folding::always};
  const gpu::edge_sink sink{.keep = {.max_p = 1e-4}};
  const auto got = gpu::spearman_all_pairs(table.view(), always, sink);
  const auto wanted = gpu::spearman_all_pairs(data.view(), always, sink);
  CHECK(got.edges == wanted.edges);
  CHECK(got.summary.patterns == wanted.summary.patterns);
  check_sinks<spearman_call>(gpu_test::tied_matrix<int>(9000, 4, 10), 0, {});
}

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
  const gpu::pair_options propagate{.nans = gpu::nan_policy::propagate};
  check_sinks<spearman_call>(data, 5, propagate);
  check_sinks<pearson_call>(data, 5, propagate);
}

TEST_CASE("Calls on device memory from several threads", "[pairs][device]") {
  const auto data = gpu_test::tied_matrix<int>(3000, 30, 15);
  const device_table<int> table(data);
  const gpu::edge_sink sink{.keep = {.max_p = 1e-3}};
  const auto wanted = gpu::spearman_all_pairs(data.view(), sink);
  std::vector<int> same(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < same.size(); ++t) {
    threads.emplace_back([&, t] {
      const gpu_test::test_stream stream;
      const gpu::pair_options options{.exec = {.stream = stream.get()}};
      same[t] = gpu_test::same_list(gpu::spearman_all_pairs(table.view(), options, sink).edges,
                                    wanted.edges)
                    ? 1
                    : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(same == std::vector<int>(4, 1));
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
