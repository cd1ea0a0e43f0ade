// All pairs on a machine with at least two GPUs: which device a call runs on, which devices it may
// use, and calls that share the pairs of tables in device memory.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gpu/error.hpp>
#include <gpu/prepared_rows.hpp>

#include "pairs/device_results.hpp"
#include "support/refusals.hpp"

namespace {

using gpu_test::device_array;
using gpu_test::device_call;
using gpu_test::device_table;
using gpu_test::pearson_call;
using gpu_test::spearman_call;
using gpu_test::test_stream;

bool has_two_devices() {
  int devices = 0;
  GPU_TEST_CUDA(cudaGetDeviceCount(&devices));
  if (devices >= 2) return true;
  gpu_test::note_skip(gpu_test::missing::absence, "one GPU, two are needed");
  return false;
}

// Makes a device the current one as long as it lives.
class current_device {
 public:
  explicit current_device(int device) { GPU_TEST_CUDA(cudaSetDevice(device)); }
  current_device(const current_device&) = delete;
  current_device& operator=(const current_device&) = delete;
  ~current_device() { static_cast<void>(cudaSetDevice(0)); }
};

int current() {
  int device = -1;
  GPU_TEST_CUDA(cudaGetDevice(&device));
  return device;
}

// The result of make() while the second device is the current one.
template <class Make>
auto on_second(const Make& make) {
  const current_device here(1);
  return make();
}

constexpr auto message_of = [](const auto& call) {
  return gpu_test::refusal_of<gpu::invalid_argument>(call);
};

template <class T>
void check_on_second(gpu::measure what, const gpu::matrix<T>& data) {
  const current_device here(1);
  const device_table<T> table(data, 1);
  const test_stream stream;
  const device_call<device_table<T>> call{
      .what = what, .x = table, .options = {.exec = {.stream = stream.get()}}};
  gpu_test::check_device_results(call, {.max_p = 0.05}, 6, 1);
  CHECK(current() == 1);
}

// Tables in the memory of two devices, or in host memory, whose pairs two devices share.
template <class Call, class X, class Y>
void check_shared(const gpu::matrix<int>& x, const gpu::matrix<int>& y, const X& from_x,
                  const Y& from_y, const gpu::pair_options& options) {
  INFO(Call::name);
  const gpu::pair_filter keep{.max_p = 0.02};
  const gpu::pair_filter step_up{.max_p = 0.2, .adjust = gpu::adjustment::benjamini_hochberg};
  const gpu::pair_options alone{.part = options.part};
  for (const gpu::pair_filter& filter : {keep, step_up}) {
    if (options.part.of > 1 && filter.adjust != gpu::adjustment::none) continue;
    const gpu::edge_sink edges{.keep = filter};
    const auto got = Call::run(from_x, from_y, options, edges);
    const auto wanted = Call::run(x, y, alone, edges);
    CHECK(gpu_test::same_list(got.edges, wanted.edges));
    CHECK(!wanted.edges.empty());
    const gpu::count_sink counts{.keep = filter, .histogram_bins = 30};
    const auto got_counts = Call::run(from_x, from_y, options, counts);
    const auto wanted_counts = Call::run(x, y, alone, counts);
    CHECK(got_counts.degree == wanted_counts.degree);
    CHECK(got_counts.y_degree == wanted_counts.y_degree);
    CHECK(got_counts.histogram == wanted_counts.histogram);
  }
  const gpu::top_k_sink best{.k = 3};
  const auto near = Call::run(from_x, from_y, options, best);
  const auto wanted_near = Call::run(x, y, alone, best);
  CHECK(gpu_test::same_values(near.index, wanted_near.index));
  CHECK(gpu_test::same_values(near.statistic, wanted_near.statistic));
  CHECK(gpu_test::same_values(Call::run(from_x, from_y, options, gpu::dense_sink{}),
                              Call::run(x, y, alone, gpu::dense_sink{})));
  CHECK(current() == 0);
}

}  // namespace

TEST_CASE("Device results on the second device", "[pairs][devices]") {
  if (!has_two_devices()) return;
  check_on_second(gpu::measure::spearman, gpu_test::tied_matrix<int>(700, 30, 1));
  check_on_second(gpu::measure::spearman, gpu_test::random_matrix<float>(200, 300, 2));
  check_on_second(gpu::measure::pearson, gpu_test::random_matrix<float>(700, 30, 3));
}

TEST_CASE("A call for the second device while the first one is current", "[pairs][devices]") {
  if (!has_two_devices()) return;
  const auto data = gpu_test::tied_matrix<int>(1500, 30, 4);
  const gpu::pair_filter keep{.max_p = 0.03};
  const auto wanted = gpu::spearman_all_pairs(data, gpu::count_sink{.keep = keep});
  const auto edges = gpu::spearman_all_pairs(data, gpu::edge_sink{.keep = keep}).edges;
  const auto table = on_second([&] { return std::make_unique<device_table<int>>(data); });
  const auto degree =
      on_second([] { return std::make_unique<device_array<std::uint32_t>>(std::size_t{1500}); });
  const auto own = on_second([] { return std::make_unique<test_stream>(); });
  REQUIRE(current() == 0);
  for (const cudaStream_t on : {own->get(), cudaStream_t{nullptr}}) {
    const gpu::pair_options second{.exec = {.devices = {1}, .stream = on}};
    on_second([&] { degree->set_bytes(0x5a); });
    gpu::spearman_all_pairs(table->view(), second,
                            gpu::device_count_sink{.degree = {degree->data(), 1500}, .keep = keep});
    CHECK(current() == 0);
    {
      const current_device here(1);
      CHECK(gpu_test::read_array(*degree, on) == wanted.degree);
    }
    const auto got = gpu::spearman_all_pairs(table->view(), second, gpu::edge_sink{.keep = keep});
    CHECK(gpu_test::same_list(got.edges, edges));
    CHECK(current() == 0);
  }
}

TEST_CASE("Memory and streams of another device are refused by name", "[pairs][devices]") {
  if (!has_two_devices()) return;
  const auto data = gpu_test::tied_matrix<int>(20, 10, 5);
  const device_table<int> table(data);
  const device_array<std::uint32_t> degree(20);
  const gpu::device_count_sink good{.degree = {degree.data(), 20}};
  GPU_TEST_CUDA(cudaSetDevice(1));
  const device_table<int> far_table(data);
  const device_table<double> far_values(20, 20);
  const device_table<gpu::node_id> far_index(20, 3);
  const device_array<std::uint32_t> far_degree(20);
  const device_array<std::uint64_t> far_numbers(8);
  const device_array<gpu::edge> far_edges(10);
  const device_array<std::byte> far_memory(1 << 20);
  const test_stream far_stream;
  GPU_TEST_CUDA(cudaSetDevice(0));
  const device_table<double> values(20, 3);
  const device_table<gpu::node_id> index(20, 3);
  const auto run = [&](const auto& sink, const gpu::pair_options& options = {}) {
    return message_of([&] { gpu::spearman_all_pairs(table.view(), options, sink); });
  };
  CHECK(run(good).empty());
  CHECK(run(good, {.exec = {.stream = far_stream.get()}}).starts_with("execution.stream:"));
  CHECK(run(good, {.workspace = {far_memory.data(), 1 << 20}}).starts_with("options.workspace:"));
  CHECK(run(gpu::device_count_sink{.degree = {far_degree.data(), 20}})
            .starts_with("device_count_sink.degree:"));
  CHECK(run(gpu::device_count_sink{.histogram = {far_numbers.data(), 8}})
            .starts_with("device_count_sink.histogram:"));
  CHECK(run(gpu::device_count_sink{.totals = {far_numbers.data(), 3}})
            .starts_with("device_count_sink.totals:"));
  CHECK(
      run(gpu::device_dense_sink{.out = far_values.view()}).starts_with("device_dense_sink.out:"));
  CHECK(
      run(gpu::device_edge_sink{.edges = {far_edges.data(), 10}, .found = {far_numbers.data(), 1}})
          .starts_with("device_edge_sink.edges:"));
  const auto near = [&](const auto& places, const auto& statistics, const auto& counts) {
    return run(gpu::device_top_k_sink{
        .index = places.view(), .statistic = statistics.view(), .count = {counts.data(), 20}});
  };
  CHECK(near(far_index, values, degree).starts_with("device_top_k_sink.index:"));
  CHECK(near(index, values, far_degree).starts_with("device_top_k_sink.count:"));
  const auto of_tables = [&](const auto& x, const auto& y) {
    return message_of([&] {
      gpu::spearman_all_pairs(x.view(), y.view(), gpu::pair_options{},
                              gpu::device_count_sink{.degree = {degree.data(), 20}});
    });
  };
  CHECK(of_tables(far_table, table).starts_with("x:"));
  CHECK(of_tables(table, far_table).starts_with("y:"));
  // The same of results in host memory.
  CHECK(message_of([&] {
          static_cast<void>(gpu::spearman_all_pairs(far_table.view(), gpu::count_sink{}));
        }).starts_with("data:"));
  CHECK(message_of([&] {
          static_cast<void>(
              gpu::spearman_all_pairs(table.view(), far_table.view(), gpu::count_sink{}));
        }).starts_with("y:"));
  CHECK_THROWS_AS(
      gpu::spearman_all_pairs(table.view(), gpu::pair_options{.exec = {.devices = {0, 1}}}, good),
      gpu::unsupported);
}

TEST_CASE("Two devices share x against y", "[pairs][devices]") {
  if (!has_two_devices()) return;
  const auto x = gpu_test::tied_matrix<int>(3000, 30, 6);
  const auto y = gpu_test::tied_matrix<int>(5000, 30, 7);
  const device_table<int> first(x);
  GPU_TEST_CUDA(cudaSetDevice(1));
  const device_table<int> second(y, 2);
  GPU_TEST_CUDA(cudaSetDevice(0));
  const gpu::pair_options both{.exec = {.devices = {0, 1}}};
  check_shared<spearman_call>(x, y, x, y, both);
  check_shared<pearson_call>(x, y, x, y, both);
  check_shared<spearman_call>(x, y, first.view(), second.view(), both);
  check_shared<pearson_call>(x, y, first.view(), second.view(), both);
  const gpu::pair_options part{.part = {.index = 1, .of = 3}, .exec = {.devices = {0, 1}}};
  check_shared<spearman_call>(x, y, first.view(), second.view(), part);
}

TEST_CASE("Every device's default stream is waited for", "[pairs][devices]") {
  if (!has_two_devices()) return;
  const auto data = gpu_test::tied_matrix<int>(2000, 30, 8);
  const gpu_test::pinned_array<int> source(data.data(), 60'000);
  const gpu::count_sink sink{.keep = {.max_p = 0.01}};
  const auto wanted = gpu::spearman_all_pairs(data, sink);
  for (const std::vector<int>& devices : {std::vector<int>{1}, std::vector<int>{0, 1}}) {
    GPU_TEST_CUDA(cudaSetDevice(1));
    const device_table<int> late(2000, 30);
    gpu_test::produce_late(source.data(), late.view().data(), std::size_t{60'000}, nullptr);
    GPU_TEST_CUDA(cudaSetDevice(0));
    const auto got = gpu::spearman_all_pairs(late.view(), {.exec = {.devices = devices}}, sink);
    CHECK(got.degree == wanted.degree);
  }
}

TEST_CASE("Prepared rows stay on their device", "[pairs][devices]") {
  if (!has_two_devices()) return;
  const auto x = gpu_test::tied_matrix<int>(40, 30, 9);
  const auto y = gpu_test::tied_matrix<int>(4000, 30, 10);
  const gpu::top_k_sink best{.k = 5};
  const auto wanted = gpu::spearman_all_pairs(x, y, best);
  const auto prepared = gpu::prepare_rows(gpu::measure::spearman, y, {.exec = {.devices = {1}}});
  CHECK(current() == 0);
  const auto got = gpu::spearman_all_pairs(x, prepared, best);
  CHECK(gpu_test::same_values(got.index, wanted.index));
  CHECK(current() == 0);
  CHECK(message_of([&] {
          static_cast<void>(gpu::spearman_all_pairs(
              x, prepared, gpu::pair_options{.exec = {.devices = {0}}}, best));
        }).starts_with("y:"));
  const device_table<int> near(x);
  CHECK(message_of([&] {
          static_cast<void>(gpu::spearman_all_pairs(near.view(), prepared, best));
        }).starts_with("x:"));
}
