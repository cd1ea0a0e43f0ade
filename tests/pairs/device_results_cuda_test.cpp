// All pairs whose results stay in device memory: the bits of the host results, on the caller's
// stream, without a synchronisation.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <gpu/error.hpp>
#include <gpu/mean_filter.hpp>
#include <gpu/plan.hpp>
#include <gpu/rank.hpp>
#include <gpu/top_k.hpp>

#include "pairs/device_results.hpp"
#include "support/refusals.hpp"

namespace {

using gpu_test::device_array;
using gpu_test::device_table;
using gpu_test::message_of;

}  // namespace

TEST_CASE("Device results are ordered on the stream", "[pairs][device]") {
  const gpu::index_t rows = 1500;
  const auto data = gpu_test::tied_matrix<int>(rows, 30, 23);
  const auto elements = static_cast<std::size_t>(rows * 30);
  const gpu_test::pinned_array<int> source(data.data(), elements);
  const auto wanted =
      gpu::spearman_all_pairs(data.view(), gpu::count_sink{.keep = {.max_p = 0.01}});
  const auto near = gpu::spearman_all_pairs(data.view(), gpu::top_k_sink{.k = 4});
  const gpu_test::test_stream stream;
  for (const cudaStream_t on : {stream.get(), cudaStream_t{nullptr}}) {
    const device_table<int> table(rows, 30);
    const device_array<std::uint32_t> degree(static_cast<std::size_t>(rows));
    const device_table<gpu::node_id> index(rows, 4);
    const device_table<double> statistic(rows, 4);
    const device_array<gpu::node_id> count(static_cast<std::size_t>(rows));
    const gpu_test::pinned_array<std::uint32_t> arrived(static_cast<std::size_t>(rows));
    const gpu_test::pinned_array<gpu::node_id> partners(static_cast<std::size_t>(rows * 4));
    const gpu::pair_options options{.exec = {.stream = on}};
    const auto call = [&] {
      gpu::spearman_all_pairs(
          table.view(), options,
          gpu::device_count_sink{.degree = {degree.data(), rows}, .keep = {.max_p = 0.01}});
      gpu::spearman_all_pairs(
          table.view(), options,
          gpu::device_top_k_sink{
              .index = index.view(), .statistic = statistic.view(), .count = {count.data(), rows}});
    };
    call();  // the driver loads a kernel at its first launch
    GPU_TEST_CUDA(cudaStreamSynchronize(on));
    // What comes first is late, and nothing waits until everything is on the stream.
    gpu_test::produce_late(source.data(), table.view().data(), elements, on);
    const auto start = std::chrono::steady_clock::now();
    call();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    GPU_TEST_CUDA(cudaMemcpyAsync(arrived.data(), degree.data(), degree.size() * 4,
                                  cudaMemcpyDeviceToHost, on));
    GPU_TEST_CUDA(cudaMemcpyAsync(partners.data(), index.view().data(),
                                  static_cast<std::size_t>(rows) * 16, cudaMemcpyDeviceToHost, on));
    GPU_TEST_CUDA(cudaStreamSynchronize(on));
    CHECK(took.count() < 0.09);  // the producer takes 0.1 s
    CHECK(std::vector<std::uint32_t>(arrived.data(), arrived.data() + rows) == wanted.degree);
    CHECK(std::equal(near.index.data(), near.index.data() + rows * 4, partners.data()));
  }
}

TEST_CASE("Device results are captured in a graph", "[pairs][device]") {
  const gpu::index_t rows = 800;
  for (const gpu::index_t cols : {30, 300}) {
    const device_table<float> table(rows, cols);
    const device_table<double> dense(rows, rows);
    const device_array<std::uint32_t> degree(static_cast<std::size_t>(rows));
    const device_array<std::uint64_t> totals(3);
    const device_array<std::uint32_t> ranked(static_cast<std::size_t>(rows));
    const device_array<std::uint64_t> bins(20);
    const device_table<gpu::node_id> index(rows, 5);
    const device_table<double> statistic(rows, 5);
    const device_array<gpu::node_id> count(static_cast<std::size_t>(rows));
    const device_array<gpu::edge> edges(50'000);
    const device_array<std::uint64_t> found(1);
    const gpu_test::test_stream stream;
    const gpu::pair_options options{.exec = {.stream = stream.get()}};
    const gpu::pair_filter keep{.max_p = 0.03};
    const auto call = [&] {
      gpu::spearman_all_pairs(table.view(), options, gpu::device_dense_sink{.out = dense.view()});
      gpu::pearson_all_pairs(
          table.view(), options,
          gpu::device_count_sink{
              .degree = {degree.data(), rows}, .totals = {totals.data(), 3}, .keep = keep});
      gpu::spearman_all_pairs(
          table.view(), options,
          gpu::device_count_sink{
              .degree = {ranked.data(), rows}, .histogram = {bins.data(), 20}, .keep = keep});
      gpu::pearson_all_pairs(
          table.view(), options,
          gpu::device_top_k_sink{
              .index = index.view(), .statistic = statistic.view(), .count = {count.data(), rows}});
      gpu::spearman_all_pairs(
          table.view(), options,
          gpu::device_edge_sink{
              .edges = {edges.data(), 50'000}, .found = {found.data(), 1}, .keep = keep});
    };
    call();  // the driver loads a kernel at its first launch
    stream.synchronize();
    const gpu_test::captured graph(stream.get(), call);
    for (const std::uint64_t seed : {24u, 25u, 26u}) {
      const auto data = gpu_test::random_matrix<float>(rows, cols, seed);
      GPU_TEST_CUDA(cudaMemcpy(table.view().data(), data.data(),
                               static_cast<std::size_t>(rows * cols) * sizeof(float),
                               cudaMemcpyHostToDevice));
      GPU_TEST_CUDA(cudaStreamSynchronize(nullptr));
      graph.launch(stream.get());
      CHECK(gpu_test::same_values(dense.read(stream.get()),
                                  gpu::spearman_all_pairs(data.view(), gpu::dense_sink{})));
      const auto counts = gpu::pearson_all_pairs(data.view(), gpu::count_sink{.keep = keep});
      CHECK(gpu_test::read_array(degree, stream.get()) == counts.degree);
      CHECK(gpu_test::read_array(totals, stream.get())[1] == counts.kept);
      const auto by_rank =
          gpu::spearman_all_pairs(data.view(), gpu::count_sink{.keep = keep, .histogram_bins = 20});
      CHECK(gpu_test::read_array(ranked, stream.get()) == by_rank.degree);
      CHECK(gpu_test::read_array(bins, stream.get()) == by_rank.histogram);
      const auto near = gpu::pearson_all_pairs(data.view(), gpu::top_k_sink{.k = 5});
      CHECK(gpu_test::same_values(index.read(stream.get()), near.index));
      CHECK(gpu_test::same_values(statistic.read(stream.get()), near.statistic));
      const auto list = gpu::spearman_all_pairs(data.view(), gpu::edge_sink{.keep = keep}).edges;
      CHECK(gpu_test::read_array(found, stream.get()).front() == list.size());
      auto got = gpu_test::read_array(edges, stream.get());
      REQUIRE(list.size() <= got.size());
      got.resize(list.size());
      CHECK(gpu_test::same_list(got, list));
    }
  }
}

TEST_CASE("Device results in the caller's workspace", "[pairs][device]") {
  const auto data = gpu_test::tied_matrix<int>(900, 30, 27);
  const device_table<int> table(data);
  const gpu::index_t rows = data.rows();
  const device_array<std::uint32_t> degree(static_cast<std::size_t>(rows));
  const gpu::device_count_sink sink{.degree = {degree.data(), rows}, .keep = {.max_p = 0.02}};
  const auto plan = gpu::plan_all_pairs(gpu::measure::spearman, table.view(), {}, sink);
  CHECK(plan.used == gpu::backend::cuda);
  CHECK(plan.pairs == 900u * 899u / 2);
  REQUIRE(plan.workspace_bytes > 0);
  const std::size_t guard = 4096;
  const device_array<std::byte> memory(plan.workspace_bytes + guard);
  memory.set_bytes(0x77);
  const auto bytes = static_cast<gpu::index_t>(plan.workspace_bytes);
  gpu::spearman_all_pairs(table.view(), {.workspace = {memory.data(), bytes}}, sink);
  const auto wanted =
      gpu::spearman_all_pairs(data.view(), gpu::count_sink{.keep = {.max_p = 0.02}});
  CHECK(gpu_test::read_array(degree, nullptr) == wanted.degree);
  const auto after = gpu_test::read_array(memory, nullptr);
  bool kept = true;
  for (std::size_t i = plan.workspace_bytes; i < after.size(); ++i) {
    kept = kept && after[i] == std::byte{0x77};
  }
  CHECK(kept);
  CHECK(message_of([&] {
          gpu::spearman_all_pairs(table.view(), {.workspace = {memory.data(), bytes - 1}}, sink);
        }).starts_with("options.workspace:"));
  CHECK(message_of([&] {
          gpu::spearman_all_pairs(table.view(), {.workspace = {memory.data() + 8, bytes}}, sink);
        }).starts_with("options.workspace:"));
  CHECK_THROWS_AS(gpu::spearman_all_pairs(table.view(), {.exec = {.workspace_bytes = 1000}}, sink),
                  gpu::out_of_memory);
}

TEST_CASE("A chain of operations stays on the device", "[pairs][device]") {
  const gpu::index_t rows = 600;
  const gpu::index_t cols = 64;
  const auto data = gpu_test::random_matrix<float>(rows, cols, 32);
  const gpu::mean_filter_options smooth{.window = 5};
  const auto smoothed = gpu::mean_filter(data.view(), smooth);
  const auto ranks = gpu::rank_rows(smoothed.view());
  const gpu::pair_filter keep{.max_p = 1e-4};
  const auto counts = gpu::pearson_all_pairs(ranks.view(), gpu::count_sink{.keep = keep});
  std::vector<std::int32_t> degrees(counts.degree.begin(), counts.degree.end());
  const auto wanted = gpu::top_k(degrees, 10);

  const gpu_test::test_stream stream;
  const gpu::execution exec{.stream = stream.get()};
  const device_table<float> table(data);
  const device_table<float> filtered(rows, cols);
  const device_table<double> ranked(rows, cols);
  const device_array<std::uint32_t> degree(static_cast<std::size_t>(rows));
  const device_array<std::int32_t> best(10);
  const device_array<gpu::index_t> place(10);
  gpu::mean_filter_options on_device = smooth;
  on_device.exec = exec;
  gpu::mean_filter(table.view(), filtered.view(), on_device);
  gpu::rank_rows(filtered.view(), ranked.view(), {.exec = exec});
  gpu::pearson_all_pairs(ranked.view(), {.exec = exec},
                         gpu::device_count_sink{.degree = {degree.data(), rows}, .keep = keep});
  gpu::top_k(gpu::as_int32({degree.data(), rows}), 10, {best.data(), 10}, {place.data(), 10},
             {.exec = exec});
  CHECK(gpu_test::read_array(best, stream.get()) == wanted.values);
  CHECK(gpu_test::read_array(place, stream.get()) == wanted.indices);
}

TEST_CASE("Bad calls for device results name the argument", "[pairs][device]") {
  const auto data = gpu_test::tied_matrix<int>(20, 10, 33);
  const device_table<int> table(data);
  const device_table<double> dense(20, 20);
  const device_array<gpu::edge> edges(10);
  const device_array<std::uint64_t> numbers(8);
  const device_array<std::uint32_t> degree(20);
  const auto run = [&](const auto& sink, gpu::pair_options options = {}) {
    return message_of([&] { gpu::spearman_all_pairs(table.view(), options, sink); });
  };
  CHECK(run(gpu::device_dense_sink{.out = {dense.view().data(), 20, 19}})
            .starts_with("device_dense_sink.out:"));
  CHECK(run(gpu::device_edge_sink{.found = {numbers.data(), 1}})
            .starts_with("device_edge_sink.edges:"));
  CHECK(run(gpu::device_edge_sink{.edges = {edges.data(), 10}, .found = {numbers.data(), 2}})
            .starts_with("device_edge_sink.found:"));
  CHECK(run(gpu::device_count_sink{.degree = {degree.data(), 19}})
            .starts_with("device_count_sink.degree:"));
  CHECK(run(gpu::device_count_sink{.totals = {numbers.data(), 2}})
            .starts_with("device_count_sink.totals:"));
  CHECK(run(gpu::device_count_sink{.y_degree = {degree.data(), 3}})
            .starts_with("device_count_sink.y_degree:"));
  CHECK(run(gpu::device_top_k_sink{.count = {degree.data(), 20}})
            .starts_with("device_top_k_sink.index:"));
  const gpu::device_count_sink counts{.degree = {degree.data(), 20}};
  CHECK(run(counts, {.exec = {.target = gpu::backend::cpu}}).starts_with("execution.target:"));
  CHECK(run(gpu::device_count_sink{.degree = {degree.data(), 20}, .keep = {.max_p = 2}})
            .starts_with("pair_filter.max_p:"));
  const gpu::device_matrix_view<const int> narrow(table.view().data(), 20, 2, 10);
  CHECK(message_of([&] { gpu::spearman_all_pairs(narrow, counts); }).starts_with("data:"));
  const gpu::device_count_sink step_up{.degree = {degree.data(), 20},
                                       .keep = {.adjust = gpu::adjustment::benjamini_hochberg}};
  CHECK_THROWS_AS(gpu::spearman_all_pairs(table.view(), step_up), gpu::unsupported);
  CHECK_THROWS_AS(gpu::spearman_all_pairs(table.view(), {.fold = gpu::row_folding::always}, counts),
                  gpu::unsupported);

  const gpu::device_matrix_view<double> same(reinterpret_cast<double*>(table.view().data()), 20,
                                             20);
  CHECK(run(gpu::device_dense_sink{.out = same}).starts_with("device_dense_sink.out:"));
  int host_tables = 0;
  GPU_TEST_CUDA(
      cudaDeviceGetAttribute(&host_tables, cudaDevAttrPageableMemoryAccessUsesHostPageTables, 0));
  if (host_tables == 0) {
    std::vector<std::uint32_t> on_host(20);
    CHECK(run(gpu::device_count_sink{.degree = {on_host.data(), 20}})
              .starts_with("device_count_sink.degree:"));
  }
  const gpu_test::test_stream stream;
  std::string bonferroni;
  const gpu_test::captured nothing(stream.get(), [&] {
    bonferroni = run(gpu::device_count_sink{.degree = {degree.data(), 20},
                                            .keep = {.adjust = gpu::adjustment::bonferroni}},
                     {.exec = {.stream = stream.get()}});
  });
  CHECK(bonferroni.starts_with("execution.stream:"));
}
