// Differential correlation of tables in device memory: held to the definition, and to the same
// table in host memory on the CPU bit for bit.
#include <gpu/differential.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <type_traits>

#include <gpu/discovery.hpp>
#include <gpu/error.hpp>

#include "differential/differences.hpp"
#include "differential/same_results.hpp"
#include "support/catch.hpp"
#include "support/device_table.hpp"
#include "support/refusals.hpp"
#include "support/skip.hpp"

namespace {

using namespace gpu_test::differences;
using gpu_test::device_table;

// One call on a table that is there twice. `options` are those on the device.
template <class T>
struct call {
  gpu::measure what;
  const gpu::matrix<T>& data;
  const device_table<T>& there;
  const groups& of;
  gpu::pair_options options = {};

  template <class Sink>
  [[nodiscard]] auto on_device(const Sink& sink) const {
    return gpu::differential_pairs(what, there.view(), of.view(), options, sink);
  }
  template <class Sink>
  [[nodiscard]] auto on_host(const Sink& sink) const {
    return gpu::differential_pairs(
        what, data, of.view(),
        {.nans = options.nans, .part = options.part, .exec = {.target = gpu::backend::cpu}}, sink);
  }
  // Both results; returns that of the device.
  template <class Sink>
  auto check(const Sink& sink) const {
    auto got = on_device(sink);
    check_same(got, on_host(sink));
    return got;
  }
};

// Every sink; returns the number of edges.
template <class T>
std::size_t check_sinks(const call<T>& of, const gpu::differential_filter& keep,
                        gpu::index_t k = 3) {
  (void)of.check(gpu::differential_count_sink{keep});
  (void)of.check(gpu::differential_top_k_sink{.k = k, .keep = keep});
  if (keep.adjust == gpu::adjustment::none) {
    const auto found =
        of.check(gpu::discovery_sink{.keep = {.max_p = keep.max_p, .side = keep.side}});
    CHECK(found.summary.used == gpu::backend::cuda);
    CHECK(found.summary.cols == of.data.cols());
  }
  return of.check(gpu::differential_edge_sink{.keep = keep}).edges.size();
}

constexpr auto refusal_of = [](const auto& call) {
  return gpu_test::refusal_of<gpu::invalid_argument>(call);
};

bool has_two_devices() {
  int devices = 0;
  GPU_TEST_CUDA(cudaGetDeviceCount(&devices));
  if (devices >= 2) return true;
  gpu_test::note_skip(gpu_test::missing::absence, "one GPU, two are needed");
  return false;
}

}  // namespace

TEST_CASE("Differences of a table in device memory are those of the definition",
          "[differential][cuda]") {
  const auto data = make_rows<float>(120, 61, 22);
  const device_table<float> there(data, 3);
  const groups of = some_groups(61);
  for (const gpu::measure what : measures) {
    for (const gpu::tail side : sides) {
      INFO(gpu::to_string(what) << ", tail " << static_cast<int>(side));
      const gpu::differential_filter keep{.max_p = 0.31, .min_abs_z = 0.5, .side = side};
      const auto all = every_pair(what, data, of, side);
      const auto wanted = kept_of(all, keep, keep.max_p);
      const auto got = gpu::differential_pairs(what, there.view(), of.view(), {},
                                               gpu::differential_edge_sink{.keep = keep});
      CHECK(got.summary.pairs_tested == all.size());
      CHECK(got.summary.first_cols == std::ssize(of.first));
      CHECK(got.summary.second_cols == std::ssize(of.second));
      check_near(got.edges, wanted);
    }
  }
}

TEST_CASE("Rows without a statistic of a table in device memory", "[differential][cuda]") {
  auto data = make_rows<float>(60, 30, 27);
  const groups of = some_groups(30);           // 0, 3, 6, ... and 28, 25, 22, ...
  data(2, 5) = static_cast<float>(nan_value);  // in neither group
  for (const gpu::index_t k : of.first) data(9, k) = 1;
  {
    const device_table<float> there(data, 2);
    for (const gpu::measure what : measures) {
      CHECK(check_sinks<float>({what, data, there, of}, {.max_p = 0.5}) > 50);
    }
  }
  data(14, 25) = data(14, 28) = static_cast<float>(nan_value);  // of the second group
  const auto check_refused = [&](const std::string& place) {
    const device_table<float> there(data, 2);
    for (const gpu::measure what : measures) {
      const call<float> own{what, data, there, of};
      const gpu::differential_edge_sink sink;
      const std::string told = refusal_of([&] { (void)own.on_device(sink); });
      CHECK(told == "data: got NaN at " + place +
                        " (1 row with NaN), expected numbers; nan_policy::propagate drops such "
                        "rows");
      CHECK(told == refusal_of([&] { (void)own.on_host(sink); }));
      const call<float> left_out{what, data, there, of, {.nans = gpu::nan_policy::propagate}};
      CHECK(check_sinks<float>(left_out, {.max_p = 0.5}) > 50);
    }
  };
  check_refused("row 14, column 28");
  data(20, 9) = data(20, 12) = static_cast<float>(nan_value);  // of the first
  check_refused("row 20, column 9");
}

TEST_CASE("Differences of a table in device memory take their turn on the stream",
          "[differential][cuda]") {
  const auto data = make_rows<float>(300, 40, 28);
  const gpu_test::pinned_array<float> source(data.data(), std::size_t{300 * 40});
  const groups of = some_groups(40);
  const gpu_test::test_stream own;
  for (const cudaStream_t stream : {own.get(), cudaStream_t{nullptr}}) {
    const device_table<float> late(300, 40);
    GPU_TEST_CUDA(cudaDeviceSynchronize());
    gpu_test::produce_late(source.data(), late.view().data(), std::size_t{300 * 40}, stream);
    const call<float> behind{gpu::measure::spearman, data, late, of, {.exec = {.stream = stream}}};
    CHECK(behind.check(gpu::differential_edge_sink{.keep = {.max_p = 0.1}}).edges.size() > 100);
  }
}

TEST_CASE("Progress and cancelling of differences of a table in device memory",
          "[differential][cuda]") {
  const auto data = make_rows<float>(900, 40, 29);
  const device_table<float> there(data);
  const groups of = some_groups(40);
  std::uint64_t last = 0;
  bool named = true;
  gpu::pair_options options;
  options.exec.on_progress = [&](const gpu::progress& state) {
    named &= state.stage == "differential" && state.total == 900 * 899 / 2;
    last = state.done;
    return gpu::progress_reply::proceed;
  };
  const call<float> told{gpu::measure::pearson, data, there, of, options};
  (void)told.on_device(gpu::differential_count_sink{});
  CHECK(named);
  CHECK(last == 900 * 899 / 2);
  options.exec.on_progress = [](const gpu::progress&) { return gpu::progress_reply::cancel; };
  const call<float> stopped{gpu::measure::pearson, data, there, of, options};
  CHECK_THROWS_AS(stopped.on_device(gpu::differential_count_sink{}), gpu::cancelled);
}

TEST_CASE("Differences of a table in device memory on two devices", "[differential][devices]") {
  if (!has_two_devices()) return;
  const auto data = make_rows<float>(3000, 61, 30);
  const groups of = some_groups(61);
  const device_table<float> near(data, 3);
  GPU_TEST_CUDA(cudaSetDevice(1));
  const device_table<float> far(data, 3);
  GPU_TEST_CUDA(cudaSetDevice(0));
  const gpu::differential_filter keep{.max_p = 1e-3};
  for (const gpu::measure what : measures) {
    INFO(gpu::to_string(what));
    const gpu::pair_options both{.exec = {.devices = {0, 1}}};
    CHECK(check_sinks<float>({what, data, near, of, both}, keep) > 1000);
    CHECK(check_sinks<float>({what, data, far, of, both}, keep) > 1000);
    CHECK(check_sinks<float>({what, data, far, of, {.exec = {.devices = {1}}}}, keep) > 1000);
    const call<float> apart{what, data, far, of, {.exec = {.devices = {0}}}};
    CHECK(refusal_of([&] { (void)apart.on_device(gpu::differential_edge_sink{}); }) ==
          "data: is in the memory of device 1, the call runs on device 0");
  }
  auto with_nan = make_rows<float>(300, 61, 31);
  with_nan(40, 4) = static_cast<float>(nan_value);
  GPU_TEST_CUDA(cudaSetDevice(1));
  const auto far_nan = std::make_unique<device_table<float>>(with_nan);
  GPU_TEST_CUDA(cudaSetDevice(0));
  const call<float> refused{
      gpu::measure::pearson, with_nan, *far_nan, of, {.exec = {.devices = {0, 1}}}};
  CHECK(refusal_of([&] { (void)refused.on_device(gpu::differential_edge_sink{}); }) ==
        "data: got NaN at row 40, column 4 (1 row with NaN), expected numbers; "
        "nan_policy::propagate drops such rows");
}
