// Rows that are prepared once, on CUDA; and the neighbours of few rows among many, for host and
// device results.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "pairs/cpu_parity.hpp"
#include "pairs/device_results.hpp"
#include "pearson/pearson_measure.hpp"
#include "spearman/spearman_measure.hpp"
#include "support/catch.hpp"
#include "support/device_offers.hpp"
#include "support/prepared_cases.hpp"

namespace {

using gpu::index_t;
using gpu::pair_variant;
using gpu_test::pearson_measure;
using gpu_test::spearman_measure;

template <class Measure, class Other>
void run(pair_variant variant) {
  if (variant != pair_variant::automatic && !gpu_test::applies(variant)) return;
  gpu_test::run_prepared_cases<Measure, Other>({.where = gpu::backend::cuda, .variant = variant});
}

// Beside the CPU, from the prepared rows and from both tables.
template <class Measure, class T>
void check_few_rows(const gpu::matrix<T>& x, const gpu::matrix<T>& y, const gpu::pair_filter& keep,
                    index_t k, gpu::neighbor_order order) {
  INFO(x.rows() << " x " << y.rows() << " of " << x.cols() << ", k " << k << ", max_p "
                << keep.max_p);
  const gpu::top_k_sink sink{.k = k, .keep = keep, .order = order};
  const auto wanted = Measure::against(x, y, gpu_test::cpu_options(), sink);
  gpu::pair_options options;
  options.exec.target = gpu::backend::cuda;
  const auto prepared = Measure::prepare(y, options);
  const auto check = [&](const gpu::neighbor_table& got) {
    CHECK(got.count == wanted.count);
    gpu_test::check_same_values(got.index, wanted.index);
    gpu_test::check_same_values(got.statistic, wanted.statistic);
  };
  check(Measure::against(x, y, options, sink));
  check(Measure::against(x, prepared, options, sink));
}

template <class Measure, class T>
void check_few_rows(index_t rows_of_y, index_t cols, int largest) {
  const auto y = gpu_test::tied_matrix<T>(rows_of_y, cols, 5, 0.7, largest);
  for (const index_t rows : {1, 3, 8, 9, 77}) {
    auto x = gpu_test::tied_matrix<T>(rows, cols, 6, 0.7, largest);
    std::copy_n(y.data() + cols * (rows_of_y / 2), cols, x.data());  // a partner of statistic 1
    if (rows > 3) std::fill_n(x.data() + 2 * cols, cols, T{1});
    for (const index_t k : {1, 10, 128}) {
      check_few_rows<Measure>(x, y, {}, k, gpu::neighbor_order::by_absolute_value);
      check_few_rows<Measure>(x, y, {.max_p = 1e-4}, k, gpu::neighbor_order::by_absolute_value);
      check_few_rows<Measure>(x, y, {.max_p = 0.1, .side = gpu::tail::less}, k,
                              gpu::neighbor_order::by_absolute_value);
    }
    check_few_rows<Measure>(x, y, {.max_p = 0.05}, 10, gpu::neighbor_order::by_value);
  }
}

// Lists in device memory beside those that come to the host.
template <class Call>
void check_few_on_device(const gpu_test::device_call<Call, gpu_test::device_table<int>>& call) {
  for (const index_t k : {1, 10, 128, 129}) {
    for (const index_t gap : {0, 3}) {
      INFO("k " << k << ", gap " << gap);
      const gpu::top_k_sink sink{.k = k, .keep = {.max_p = 0.2}};
      const auto wanted = call.run(sink);
      const auto rows = static_cast<index_t>(wanted.count.size());
      const auto got = call.top_k(rows, sink, gap);
      CHECK(got.count == wanted.count);
      gpu_test::check_same_values(got.index, wanted.index);
      gpu_test::check_same_values(got.statistic, wanted.statistic);
    }
  }
}

}  // namespace

TEST_CASE("Spearman queries of prepared rows, CUDA's own choice", "[prepared]") {
  run<spearman_measure, pearson_measure>(pair_variant::automatic);
}
TEST_CASE("Spearman queries of prepared rows, CUDA tensor", "[prepared]") {
  run<spearman_measure, pearson_measure>(pair_variant::tensor);
}
TEST_CASE("Spearman queries of prepared rows, CUDA shared_tiled", "[prepared]") {
  run<spearman_measure, pearson_measure>(pair_variant::shared_tiled);
}
TEST_CASE("Spearman queries of prepared rows, CUDA naive", "[prepared]") {
  run<spearman_measure, pearson_measure>(pair_variant::naive);
}
TEST_CASE("Pearson queries of prepared rows, CUDA's own choice", "[prepared]") {
  run<pearson_measure, spearman_measure>(pair_variant::automatic);
}
TEST_CASE("Pearson queries of prepared rows, CUDA shared_tiled", "[prepared]") {
  run<pearson_measure, spearman_measure>(pair_variant::shared_tiled);
}

TEST_CASE("few rows find the CPU's neighbours among many", "[prepared][few]") {
  // Around the edges of groups, pieces of eight groups, and slices.
  check_few_rows<spearman_measure, std::int8_t>(20'000, 30, 10);
  check_few_rows<spearman_measure, std::int8_t>(1'300, 30, 2);
  check_few_rows<spearman_measure, std::int16_t>(300'001, 9, 3);
  check_few_rows<spearman_measure, std::int16_t>(9'857, 64, 100);
  check_few_rows<spearman_measure, std::int16_t>(5'000, 128, 100);
  check_few_rows<pearson_measure, float>(20'000, 30, 100);
  check_few_rows<pearson_measure, float>(5'003, 61, 3);
  check_few_rows<pearson_measure, float>(3'000, 128, 1000);
}

TEST_CASE("few rows of one table find their neighbours but not themselves", "[prepared][few]") {
  const auto data = gpu_test::tied_matrix<std::int8_t>(9'000, 30, 8);
  for (const index_t of : {100, 4000}) {
    gpu::pair_options options;
    options.exec.target = gpu::backend::cuda;
    for (const index_t index : {index_t{0}, of / 2, of - 1}) {
      options.part = {.index = index, .of = of};
      gpu::pair_options cpu = options;
      cpu.exec.target = gpu::backend::cpu;
      const gpu::top_k_sink sink{.k = 7};
      const auto got = gpu::spearman_all_pairs(data, options, sink);
      const auto wanted = gpu::spearman_all_pairs(data, cpu, sink);
      CHECK(got.count == wanted.count);
      gpu_test::check_same_values(got.index, wanted.index);
      gpu_test::check_same_values(got.statistic, wanted.statistic);
    }
  }
}

TEST_CASE("few rows find the same neighbours where the lists stay on the device",
          "[prepared][few]") {
  const gpu_test::device_table<int> y(gpu_test::tied_matrix<int>(9'857, 30, 5), 2);
  const gpu_test::test_stream stream;
  gpu::pair_options options{.exec = {.stream = stream.get()}};
  for (const index_t rows : {1, 9, 77, 128, 129}) {
    INFO(rows << " rows");
    const gpu_test::device_table<int> x(gpu_test::tied_matrix<int>(rows, 30, 6));
    check_few_on_device<gpu_test::spearman_call>({x, &y, options});
    check_few_on_device<gpu_test::pearson_call>({x, &y, options});
  }
  for (const index_t index : {0, 50, 99}) {
    INFO("part " << index);
    options.part = {.index = index, .of = 100};
    check_few_on_device<gpu_test::spearman_call>({.x = y, .options = options});
    check_few_on_device<gpu_test::pearson_call>({.x = y, .options = options});
  }
}
