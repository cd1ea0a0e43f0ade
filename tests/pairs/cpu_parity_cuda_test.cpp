// Every CUDA variant and sink against the CPU backend, around the edges of the tiles.
#include "pairs/cpu_parity.hpp"
#include "support/device_offers.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>

using gpu::index_t;
using gpu::pair_variant;

namespace {

using namespace gpu_test;

// Tied values with a constant row, and a row that is a multiple of another.
template <class T>
gpu::matrix<T> mixed_rows(index_t rows, index_t cols, std::uint64_t seed) {
  gpu::matrix<T> x = tied_matrix<T>(rows, cols, seed);
  for (index_t k = 0; rows > 2 && k < cols; ++k) {
    x(rows / 2, k) = T{3};
    x(rows - 1, k) = x(0, k);
  }
  return x;
}

void check_spearman(index_t rows, index_t cols, pair_variant variant) {
  INFO("spearman " << rows << " x " << cols << ", " << gpu::to_string(variant));
  check_all_sinks<spearman_op>(mixed_rows<std::int32_t>(rows, cols, 7), cuda_options(variant));
}

void check_pearson(index_t rows, index_t cols, pair_variant variant) {
  INFO("pearson " << rows << " x " << cols << ", " << gpu::to_string(variant));
  gpu::matrix<double> x = random_matrix<double>(rows, cols, 8);
  const double tolerance = variant == pair_variant::tensor ? 2e-6 : 0;
  check_all_sinks<pearson_op>(x, cuda_options(variant), tolerance);
  check_all_sinks<pearson_op>(mixed_rows<float>(rows, cols, 9), cuda_options(variant), tolerance);
}

}  // namespace

TEST_CASE("Spearman on CUDA gives the CPU's bits at every tile edge") {
  for (const pair_variant variant : {pair_variant::shared_tiled, gpu_test::tensor_or_tiles()}) {
    for (const index_t rows : {1, 2, 63, 128, 129, 300}) check_spearman(rows, 30, variant);
    for (const index_t cols : {3, 32, 33, 64, 65, 128}) check_spearman(150, cols, variant);
    for (const index_t cols : {129, 300}) check_spearman(140, cols, variant);
  }
}

TEST_CASE("Spearman on CUDA recomputing ranks per pair gives the CPU's bits") {
  check_spearman(140, 30, pair_variant::naive);
  check_spearman(5, 200, pair_variant::naive);
}

TEST_CASE("Pearson on CUDA decides as the CPU at every tile edge") {
  for (const pair_variant variant : {pair_variant::shared_tiled, gpu_test::tensor_or_tiles()}) {
    for (const index_t rows : {1, 2, 63, 128, 129, 300}) check_pearson(rows, 30, variant);
    for (const index_t cols : {3, 8, 9, 16, 17, 131}) check_pearson(150, cols, variant);
  }
  check_pearson(70, 20, pair_variant::naive);
}

TEST_CASE("long rows on CUDA are exact") {
  for (const pair_variant variant : {pair_variant::shared_tiled, gpu_test::tensor_or_tiles()}) {
    for (const index_t cols : {2000, 16320, 16321, 33000}) {
      INFO("cols " << cols << ", " << gpu::to_string(variant));
      gpu::matrix<float> x = random_matrix<float>(6, cols, 10);
      for (index_t k = 0; k < cols; ++k) x(1, k) = static_cast<float>(k), x(2, k) = -x(1, k);
      check_same_values<double>(spearman_op::run(x, cuda_options(variant), gpu::dense_sink{}),
                                spearman_op::run(x, cpu_options(), gpu::dense_sink{}));
      check_edges<pearson_op>(x, cuda_options(variant), {.max_p = 0.5});
    }
  }
}

TEST_CASE("every element type reaches the CUDA engine") {
  const auto check = [](auto value) {
    using T = decltype(value);
    const auto x = tied_matrix<T>(40, 12, 11, 0.5, 60);
    check_edges<spearman_op>(x, cuda_options(pair_variant::automatic), {.max_p = 0.3});
    check_edges<pearson_op>(x, cuda_options(pair_variant::automatic), {.max_p = 0.3});
  };
  check(std::int8_t{});
  check(std::int16_t{});
  check(std::int32_t{});
  check(std::uint8_t{});
  check(std::uint16_t{});
  check(float{});
  check(double{});
}

TEST_CASE("NaN and infinite rows have no statistic on CUDA either") {
  gpu::matrix<double> x = random_matrix<double>(150, 30, 12);
  x(3, 4) = std::numeric_limits<double>::quiet_NaN();
  x(140, 0) = std::numeric_limits<double>::quiet_NaN();
  x(7, 1) = std::numeric_limits<double>::infinity();
  for (const pair_variant variant :
       {pair_variant::naive, pair_variant::shared_tiled, gpu_test::tensor_or_tiles()}) {
    gpu::pair_options options = cuda_options(variant);
    options.nans = gpu::nan_policy::propagate;
    gpu::pair_options on_cpu = cpu_options();
    on_cpu.nans = gpu::nan_policy::propagate;
    const gpu::edge_sink edges{.keep = {.max_p = 0.5}};
    const auto check = [&]<class Op>(Op, double tolerance) {
      const auto got = Op::run(x, options, edges);
      const auto wanted = Op::run(x, on_cpu, edges);
      check_same_edges(got.edges, wanted.edges);
      CHECK(got.summary.nan_rows == wanted.summary.nan_rows);
      CHECK(got.summary.constant_rows == wanted.summary.constant_rows);
      check_same_values<double>(Op::run(x, options, gpu::dense_sink{}),
                                Op::run(x, on_cpu, gpu::dense_sink{}), tolerance);
    };
    check(spearman_op{}, 0);
    check(pearson_op{}, variant == pair_variant::tensor ? 2e-6 : 0);
  }
}

TEST_CASE("a small workspace streams rows and edges and changes nothing") {
  const auto x = mixed_rows<std::int16_t>(1500, 40, 13);
  for (const pair_variant variant : {pair_variant::shared_tiled, gpu_test::tensor_or_tiles()}) {
    for (const std::size_t bytes : {std::size_t{100'000}, std::size_t{400'000}}) {
      INFO("workspace " << bytes << ", " << gpu::to_string(variant));
      const gpu::pair_options options = cuda_options(variant, bytes);
      check_edges<spearman_op>(x, options, {.max_p = 0.05});
      check_edges<pearson_op>(x, options, {.max_p = 0.01});
      check_counts<spearman_op>(x, options, {.max_p = 0.05}, 100);
      check_counts<pearson_op>(x, options, {.max_p = 0.05}, 100);
      check_top_k<spearman_op>(x, options, {}, 2, gpu::neighbor_order::by_absolute_value);
      check_top_k<pearson_op>(x, options, {}, 2, gpu::neighbor_order::by_value);
      check_same_values<float>(spearman_op::run(x, options, gpu::dense_sink_f32{}),
                               spearman_op::run(x, cpu_options(), gpu::dense_sink_f32{}));
    }
  }
  CHECK_THROWS_AS(
      spearman_op::run(x, cuda_options(pair_variant::automatic, 1000), gpu::count_sink{}),
      gpu::out_of_memory);
}

TEST_CASE("CUDA streams edges in batches of the asked size") {
  const auto x = tied_matrix<std::uint8_t>(400, 30, 14);
  for (const gpu::edge_order order :
       {gpu::edge_order::by_row_then_column, gpu::edge_order::unspecified}) {
    std::vector<gpu::edge> got;
    std::size_t largest = 0;
    gpu::stream_sink sink{.keep = {.max_p = 0.05}, .order = order, .batch_edges = 100};
    sink.consume = [&](std::span<const gpu::edge> batch) {
      largest = std::max(largest, batch.size());
      got.insert(got.end(), batch.begin(), batch.end());
    };
    const auto summary = spearman_op::run(x, cuda_options(pair_variant::automatic), sink);
    CHECK(largest <= 100);
    CHECK(summary.pairs_kept == got.size());
    if (order == gpu::edge_order::unspecified) {
      std::sort(got.begin(), got.end(), [](const gpu::edge& a, const gpu::edge& b) {
        return std::pair(a.row, a.col) < std::pair(b.row, b.col);
      });
    }
    const gpu::edge_sink all{.keep = {.max_p = 0.05}};
    check_same_edges(got, spearman_op::run(x, cpu_options(), all).edges);
  }
}

TEST_CASE("progress is reported and cancels on CUDA") {
  const auto x = tied_matrix<std::uint8_t>(2000, 30, 15);
  gpu::pair_options options = cuda_options(pair_variant::automatic);
  std::uint64_t last = 0;
  std::uint64_t total = 0;
  options.exec.on_progress = [&](const gpu::progress& state) {
    if (state.stage == "pairs") last = state.done, total = state.total;
    return gpu::progress_reply::proceed;
  };
  static_cast<void>(spearman_op::run(x, options, gpu::count_sink{}));
  CHECK(total == 2000 * 1999 / 2);
  CHECK(last == total);
  options.exec.on_progress = [](const gpu::progress&) { return gpu::progress_reply::cancel; };
  CHECK_THROWS_AS(spearman_op::run(x, options, gpu::count_sink{}), gpu::cancelled);
  CHECK_THROWS_AS(spearman_op::run(x, options, gpu::edge_sink{}), gpu::cancelled);
}

TEST_CASE("a callback that throws ends a CUDA run") {
  const auto x = tied_matrix<std::uint8_t>(300, 30, 16);
  gpu::stream_sink sink;
  sink.consume = [](std::span<const gpu::edge>) { throw std::runtime_error("enough"); };
  CHECK_THROWS_AS(spearman_op::run(x, cuda_options(pair_variant::automatic), sink),
                  std::runtime_error);
}

TEST_CASE("more columns than a variant takes is unsupported") {
  const auto x = random_matrix<float>(3, 5000, 17);
  CHECK_THROWS_AS(spearman_op::run(x, cuda_options(pair_variant::naive), gpu::count_sink{}),
                  gpu::unsupported);
}
