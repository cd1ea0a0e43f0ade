// Edges in device memory under strict cuts: screens find them where their candidates fit, tiles
// where they do not, and only the device knows which.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include <gpu/plan.hpp>

#include "pairs/device_results.hpp"
#include "support/correlated_rows.hpp"
#include "support/device_offers.hpp"

namespace {

using gpu_test::device_array;
using gpu_test::device_table;

constexpr gpu::pair_filter strict{.max_p = 1e-7};

gpu::pair_options options_of(const gpu_test::test_stream& stream, gpu::pair_part part = {}) {
  return {.nans = gpu::nan_policy::propagate, .part = part, .exec = {.stream = stream.get()}};
}

// Rows that move together in blocks, some of them without a statistic.
template <class T>
gpu::matrix<T> table_of(gpu::index_t rows, gpu::index_t cols, double pairs_in_blocks,
                        std::uint64_t seed) {
  auto data = gpu_test::correlated_matrix<T>({.rows = rows,
                                              .cols = cols,
                                              .pairs_in_blocks = pairs_in_blocks,
                                              .block_variance = 0.97,
                                              .blocks_side_by_side = false,
                                              .seed = seed});
  for (gpu::index_t i = 3; i < rows; i += 17) {
    for (gpu::index_t k = 0; k < cols; ++k) data(i, k) = 5;
    if (i % 2 == 0) continue;
    if constexpr (std::numeric_limits<T>::has_quiet_NaN) {
      data(i, i % cols) = std::numeric_limits<T>::quiet_NaN();
    }
  }
  return data;
}

}  // namespace

TEST_CASE("A captured graph screens other rows", "[pairs][device][screen]") {
  constexpr gpu::index_t rows = 1000;
  constexpr gpu::index_t cols = 30;
  constexpr gpu::index_t capacity = 600'000;
  const device_table<float> table(rows, cols);
  const device_array<gpu::edge> edges(capacity);
  const device_array<std::uint64_t> found(1);
  const gpu_test::test_stream stream;
  const gpu::pair_options options = options_of(stream);
  const auto call = [&] {
    gpu::spearman_all_pairs(
        table.view(), options,
        gpu::device_edge_sink{
            .edges = {edges.data(), capacity}, .found = {found.data(), 1}, .keep = strict});
  };
  call();  // the driver loads a kernel at its first launch
  stream.synchronize();
  const gpu_test::captured graph(stream.get(), call);
  for (const double pairs_in_blocks : {0.01, 1.0, 0.02, 0.0}) {
    INFO(pairs_in_blocks);
    const auto data = table_of<float>(rows, cols, pairs_in_blocks, 11);
    GPU_TEST_CUDA(cudaMemcpy(table.view().data(), data.data(),
                             static_cast<std::size_t>(rows * cols) * sizeof(float),
                             cudaMemcpyHostToDevice));
    GPU_TEST_CUDA(cudaStreamSynchronize(nullptr));
    graph.launch(stream.get());
    const auto list = gpu::spearman_all_pairs(data.view(), {.nans = gpu::nan_policy::propagate},
                                              gpu::edge_sink{.keep = strict})
                          .edges;
    CHECK(gpu_test::read_array(found, stream.get()).front() == list.size());
    auto got = gpu_test::read_array(edges, stream.get());
    REQUIRE(list.size() <= got.size());
    got.resize(list.size());
    CHECK(gpu_test::same_list(got, list));
  }
}

TEST_CASE("The workspace of strict edges has room for a screen", "[pairs][device][screen]") {
  const device_table<float> table(table_of<float>(2000, 30, 0.01, 12));
  const device_array<gpu::edge> edges(1000);
  const device_array<std::uint64_t> found(1);
  const auto bytes_of = [&](double max_p, std::size_t limit) {
    return gpu::plan_all_pairs(gpu::measure::spearman, table.view(),
                               {.exec = {.workspace_bytes = limit}},
                               gpu::device_edge_sink{.edges = {edges.data(), 1000},
                                                     .found = {found.data(), 1},
                                                     .keep = {.max_p = max_p}})
        .workspace_bytes;
  };
  const std::size_t by_tiles = bytes_of(0.05, 0);
  if (gpu_test::cuda_must_offer(gpu::pair_variant::hopper)) CHECK(bytes_of(1e-7, 0) > by_tiles);
  // Within a limit that has none the tiles find them.
  CHECK(bytes_of(1e-7, by_tiles) == by_tiles);
}
