// All pairs of tables in device memory, with host results. That these are those of host memory:
// soak_cuda.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <gpu/all_pairs.hpp>
#include <gpu/differential.hpp>
#include <gpu/error.hpp>
#include <gpu/observations.hpp>
#include <gpu/plan.hpp>
#include <gpu/prepared_rows.hpp>

#include "pairs/device_cases.hpp"

namespace {

using gpu::index_t;
using gpu_test::device_table;
using gpu_test::message_of;

template <class T>
gpu::matrix<T> transpose(const gpu::matrix<T>& from) {
  gpu::matrix<T> out(from.cols(), from.rows());
  for (index_t i = 0; i < from.rows(); ++i) {
    for (index_t k = 0; k < from.cols(); ++k) out(k, i) = from(i, k);
  }
  return out;
}

// Small numbers of eighths: half precision holds each of them.
gpu::matrix<float> eighths(index_t rows, index_t cols, unsigned seed) {
  auto out = gpu_test::random_matrix<float>(rows, cols, seed);
  for (index_t i = 0; i < rows * cols; ++i) {
    out.data()[i] = static_cast<float>(static_cast<int>(out.data()[i] * 40)) / 8;
  }
  return out;
}

// The values of a table as elements of another type of as many bits as Stored.
template <class Stored, class Store>
gpu::matrix<Stored> stored_as(const gpu::matrix<float>& from, const Store& store) {
  gpu::matrix<Stored> out(from.rows(), from.cols());
  for (index_t i = 0; i < from.rows() * from.cols(); ++i) out.data()[i] = store(from.data()[i]);
  return out;
}

template <class T>
gpu::device_table_view typed(const device_table<T>& table, gpu::device_element type) {
  const auto view = table.view();
  return {view.data(), type, view.rows(), view.cols(), view.row_stride(), 1};
}

// p of a measure without a test is NaN.
template <class List>
bool same_bytes(const List& a, const List& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(*a.data())) == 0;
}

// Every kind of result of a table in device memory equals the result on the host.
template <class T>
void check_results(const gpu::matrix<T>& host, const gpu::device_table_view& there) {
  for (const gpu::measure what : gpu::all_measures()) {
    CAPTURE(gpu::to_string(what));
    const bool has_p = gpu::info_of(what).test != gpu::significance::none;
    const gpu::edge_sink edges{.keep = {.max_p = has_p ? 0.9 : 1.0, .min_abs = 0.01}};
    const auto wanted = gpu::all_pairs(what, host, edges);
    const auto got = gpu::all_pairs(what, there, edges);
    CHECK(wanted.edges.size() > 100);
    CHECK(same_bytes(got.edges, wanted.edges));
    const auto prepared = gpu::prepare_rows(what, there);
    CHECK(same_bytes(gpu::all_pairs(what, there, prepared, edges).edges,
                     gpu::all_pairs(what, host, host, edges).edges));
    const auto dense = gpu::all_pairs(what, host, gpu::dense_sink{});
    const device_table<double> out(host.rows(), host.rows());
    gpu::all_pairs(what, there, gpu::device_dense_sink{.out = out.view()});
    CHECK(gpu_test::same_values(out.read(), dense));
    gpu::all_pairs(what, there, there, gpu::device_dense_sink{.out = out.view()});
    CHECK(gpu_test::same_values(out.read(), gpu::all_pairs(what, host, host, gpu::dense_sink{})));
  }
  const std::vector<index_t> first{0, 2, 4, 6, 8, 10, 1};
  const std::vector<index_t> second{11, 9, 3, 5, 7};
  const gpu::column_groups groups{first, second};
  CHECK(same_bytes(gpu::differential_pairs(gpu::measure::pearson, there, groups).edges,
                   gpu::differential_pairs(gpu::measure::pearson, host, groups).edges));
  CHECK(same_bytes(gpu::kendall_ties(there), gpu::kendall_ties(host)));
}

}  // namespace

TEST_CASE("Tables in device memory are read in any layout", "[pairs][device][layout]") {
  const auto check = [](const auto& host) {
    using T = typename std::remove_cvref_t<decltype(host)>::value_type;
    const device_table<T> columns(transpose(host), 3);
    check_results(host, gpu::transposed(columns.view()));
    // Every second column, and rows from the last to the first.
    const auto view = columns.view();
    const gpu::matrix<T> some = [&] {
      gpu::matrix<T> out(host.rows(), (host.cols() + 1) / 2);
      for (index_t i = 0; i < out.rows(); ++i) {
        for (index_t k = 0; k < out.cols(); ++k) out(i, k) = host(host.rows() - 1 - i, 2 * k);
      }
      return out;
    }();
    check_results(some, {view.data() + host.rows() - 1, gpu::device_table_view(view).type(),
                         host.rows(), some.cols(), -1, 2 * view.row_stride()});
  };
  check(gpu_test::random_matrix<float>(70, 37, 31));
  check(gpu_test::random_matrix<double>(33, 130, 32));
  check(gpu_test::tied_matrix<std::int32_t>(70, 30, 33));
  check(gpu_test::tied_matrix<std::int8_t>(65, 31, 34));
  check(gpu_test::tied_matrix<std::uint16_t>(40, 32, 35));
}

TEST_CASE("Tables in device memory hold halves and wide integers", "[pairs][device][layout]") {
  const auto host = eighths(60, 40, 36);
  const auto halves = stored_as<std::uint16_t>(
      host, [](float x) { return std::bit_cast<std::uint16_t>(__half_raw(__float2half(x))); });
  const auto brain = stored_as<std::uint16_t>(host, [](float x) {
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16);
  });
  check_results(host, typed(device_table(halves, 5), gpu::device_element::float16));
  check_results(host, typed(device_table(brain), gpu::device_element::bfloat16));
  const device_table columns(transpose(halves));
  check_results(host, gpu::transposed(typed(columns, gpu::device_element::float16)));

  gpu::matrix<std::int64_t> wide(50, 30);
  gpu::matrix<std::uint64_t> wider(50, 30);
  gpu::matrix<std::uint32_t> words(50, 30);
  const auto small = gpu_test::tied_matrix<int>(50, 30, 37);
  for (index_t i = 0; i < 50 * 30; ++i) {
    wide.data()[i] = (std::int64_t{1} << 53) * (i % 7 == 0 ? -1 : 1) - small.data()[i] * (i % 3);
    if (wide.data()[i] < 0) wide.data()[i] = -(std::int64_t{1} << 53) + small.data()[i];
    wider.data()[i] = (std::uint64_t{1} << 53) - static_cast<std::uint64_t>(small.data()[i] * 3);
    words.data()[i] = 0xffffffffU - static_cast<std::uint32_t>(small.data()[i]);
  }
  check_results(wide, typed(device_table(wide), gpu::device_element::int64));
  check_results(wider, typed(device_table(wider), gpu::device_element::uint64));
  check_results(words, typed(device_table(words), gpu::device_element::uint32));

  wide(7, 11) = (std::int64_t{1} << 53) + 1;
  wide(7, 12) = -(std::int64_t{1} << 53) - 1;
  const device_table beyond(wide);
  const auto there = typed(beyond, gpu::device_element::int64);
  const std::string refused = "data: got 9007199254740993 at row 7, column 11, expected integers";
  CHECK(message_of([&] { (void)gpu::spearman_all_pairs(there); }).starts_with(refused));
  CHECK(message_of([&] { (void)gpu::kendall_ties(there); }).starts_with(refused));
  const device_table<double> out(50, 50);
  CHECK(message_of([&] {
          gpu::pearson_all_pairs(there, gpu::device_dense_sink{.out = out.view()});
        }).starts_with(refused));
  CHECK(message_of([&] {
          gpu::pearson_all_pairs(gpu::transposed(there),
                                 gpu::device_count_sink{.keep = {.max_p = 0.5}});
        }).starts_with("data: got 9007199254740993 at row 11, column 7"));
}

TEST_CASE("A large table in columns is gathered block by block", "[pairs][device][layout]") {
  const auto host = gpu_test::random_matrix<float>(30'000, 700, 38);  // 84 MB: two blocks
  const device_table<float> columns(transpose(host));
  const gpu::edge_sink edges{.keep = {.min_abs = 0.17}};
  const auto wanted = gpu::spearman_all_pairs(host, edges).edges;
  REQUIRE(wanted.size() > 1000);
  CHECK(gpu_test::same_list(gpu::spearman_all_pairs(gpu::transposed(columns.view()), edges).edges,
                            wanted));
  const std::size_t limit = std::size_t{200} << 20;
  CHECK(gpu_test::same_list(gpu::spearman_all_pairs(gpu::transposed(columns.view()),
                                                    {.exec = {.workspace_bytes = limit}}, edges)
                                .edges,
                            wanted));
}

TEST_CASE("Rows without a statistic are told apart in any layout", "[pairs][device][layout]") {
  auto data = gpu_test::random_matrix<float>(90, 40, 39);
  data(61, 33) = std::numeric_limits<float>::quiet_NaN();
  data(40, 3) = std::numeric_limits<float>::infinity();
  data(41, 39) = -std::numeric_limits<float>::infinity();
  for (index_t k = 0; k < 40; ++k) data(5, k) = 1;
  const device_table<float> columns(transpose(data));
  const auto there = gpu::transposed(columns.view());
  CHECK(message_of([&] {
          (void)gpu::pearson_all_pairs(there);
        }).starts_with("data: got NaN at row 61, column 33 (1 row with NaN)"));
  const auto summary =
      gpu::pearson_all_pairs(there, {.nans = gpu::nan_policy::propagate}, gpu::count_sink{})
          .summary;
  CHECK(summary.nan_rows == std::vector<index_t>{61});
  CHECK(summary.infinite_rows == std::vector<index_t>{40, 41});
  CHECK(summary.constant_rows == std::vector<index_t>{5});
}

TEST_CASE("A result may not be written over a table in columns", "[pairs][device][layout]") {
  const device_table<double> table(gpu_test::random_matrix<double>(40, 40, 40));
  CHECK(message_of([&] {
          gpu::spearman_all_pairs(gpu::transposed(table.view()),
                                  gpu::device_dense_sink{.out = table.view()});
        }) == "device_dense_sink.out: overlaps the data");
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
  const std::string place = "data: got NaN at row 250, column 17 (2 rows with NaN)";
  CHECK(message_of([&] {
          (void)gpu::spearman_all_pairs(table.view(), gpu::count_sink{});
        }).starts_with(place));
  CHECK(message_of([&] { (void)gpu::pearson_all_pairs(table.view()); }).starts_with(place));
}

TEST_CASE("Bad calls on device memory name the argument", "[pairs][device]") {
  const auto data = gpu_test::tied_matrix<int>(20, 10, 16);
  const device_table<int> table(data);
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
