// Counts that stay in device memory: by classes, by products, and by tiles where neither is taken.
#include <cstdint>
#include <limits>

#include <gpu/plan.hpp>

#include "pairs/device_results.hpp"
#include "support/device_offers.hpp"

namespace {

using gpu_test::device_array;
using gpu_test::device_call;
using gpu_test::device_table;
using gpu_test::pearson_call;
using gpu_test::spearman_call;

// Compares counts on the device with those of the host result.
template <class Call, class T>
void check_counts(const gpu::matrix<T>& data, const gpu::pair_filter& keep,
                  gpu::pair_options options = {}, const device_table<T>* y = nullptr) {
  INFO(Call::name << ", " << data.rows() << " x " << data.cols() << ", max_p " << keep.max_p
                  << ", tail " << static_cast<int>(keep.side));
  const device_table<T> table(data);
  const gpu_test::test_stream stream;
  options.exec.stream = stream.get();
  const device_call<Call, device_table<T>> call{.x = table, .y = y, .options = options};
  for (const gpu::index_t bins : {0, 64}) {
    const gpu::count_sink sink{.keep = keep, .histogram_bins = bins};
    const auto wanted = call.run(sink);
    const auto got = call.counts(sink);
    CHECK(wanted.kept > 0);
    CHECK(got.degree == wanted.degree);
    CHECK(got.y_degree == wanted.y_degree);
    CHECK(got.histogram == wanted.histogram);
    REQUIRE(got.totals.size() == 3);
    CHECK(got.totals[1] == wanted.kept);
  }
}

}  // namespace

TEST_CASE("Device counts of tables of a few classes and of many", "[pairs][device]") {
  const gpu::pair_filter keep{.max_p = 0.05};
  // Without ties: one class, many chunks of it.
  const auto smooth = gpu_test::random_matrix<float>(70'000, 30, 35);
  check_counts<spearman_call>(smooth, keep);
  check_counts<spearman_call>(smooth, {.max_p = 0.02, .side = gpu::tail::greater});
  check_counts<spearman_call>(smooth, {.max_p = 0.5, .min_abs = 0.2, .side = gpu::tail::less});
  check_counts<spearman_call>(smooth, keep, {.part = {.index = 1, .of = 3}});
  // Few values: classes of one row to thousands of rows.
  check_counts<spearman_call>(gpu_test::tied_matrix<int>(70'000, 12, 36, 0.5, 3), keep,
                              {.fold = gpu::row_folding::never});
  // So many classes that the layout is of no use.
  check_counts<spearman_call>(gpu_test::tied_matrix<int>(9000, 30, 37), keep);
  check_counts<spearman_call>(gpu_test::tied_matrix<int>(9000, 100, 38), keep);
  check_counts<spearman_call>(gpu_test::random_matrix<float>(9000, 100, 39), keep);
  check_counts<spearman_call>(gpu_test::tied_matrix<int>(9000, 30, 40), {});
}

TEST_CASE("Device counts of x against y and of unit rows", "[pairs][device]") {
  const gpu::pair_filter keep{.max_p = 0.05};
  const auto x = gpu_test::random_matrix<float>(3000, 30, 41);
  const auto y = gpu_test::random_matrix<float>(40'000, 30, 42);
  const device_table<float> right(y);
  check_counts<spearman_call>(x, keep, {}, &right);
  check_counts<pearson_call>(x, keep, {}, &right);
  check_counts<pearson_call>(x, {.max_p = 0.3, .min_abs = 0.1, .side = gpu::tail::greater}, {},
                             &right);
  check_counts<pearson_call>(y, keep);
  check_counts<pearson_call>(y, keep, {.part = {.index = 0, .of = 2}});
  check_counts<pearson_call>(x, {});
  auto holes = gpu_test::random_matrix<float>(3000, 30, 41);
  holes(5, 5) = std::numeric_limits<float>::quiet_NaN();
  for (gpu::index_t k = 0; k < 30; ++k) holes(77, k) = 3;
  check_counts<spearman_call>(holes, keep, {.nans = gpu::nan_policy::propagate});
  check_counts<pearson_call>(holes, keep, {.nans = gpu::nan_policy::propagate});
  // Without the memory of the faster kernels the tiles count; where these need code that the build
  // lacks, the tiles are all there is.
  if (!gpu_test::cuda_must_offer(gpu::pair_variant::hopper)) return;
  const device_table<float> table(y);
  const device_array<std::uint32_t> degree(40'000);
  const gpu::device_count_sink sink{.degree = {degree.data(), 40'000}, .keep = keep};
  const auto plan = gpu::plan_all_pairs(gpu::measure::spearman, table.view(), {}, sink);
  const gpu::pair_options tight{.exec = {.workspace_bytes = plan.workspace_bytes - 1}};
  const auto less = gpu::plan_all_pairs(gpu::measure::spearman, table.view(), tight, sink);
  CHECK(less.workspace_bytes < plan.workspace_bytes);
  check_counts<spearman_call>(y, keep, {.exec = {.workspace_bytes = less.workspace_bytes + 4096}});
}
