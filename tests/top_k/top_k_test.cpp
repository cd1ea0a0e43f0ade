// top_k on the CPU against a stable sort, and the promises of the interface.
#include <cstdint>
#include <limits>

#include <gpu/error.hpp>

#include "top_k/top_k_cases.hpp"

using gpu_test::check_distinct_vectors;
using gpu_test::check_rows;
using gpu_test::check_vectors;

namespace {

gpu::top_k_options on_cpu(int threads = 0) {
  gpu::top_k_options options;
  options.exec.target = gpu::backend::cpu;
  options.exec.cpu_threads = threads;
  return options;
}

}  // namespace

#define GPU_TEST_ELEMENTS \
  std::int8_t, std::int16_t, std::int32_t, std::uint8_t, std::uint16_t, float, double

TEMPLATE_TEST_CASE("top_k of a vector equals a stable sort", "[top_k]", GPU_TEST_ELEMENTS) {
  for (const auto variant :
       {gpu::top_k_variant::automatic, gpu::top_k_variant::threshold, gpu::top_k_variant::sort}) {
    check_vectors<TestType>(gpu::backend::cpu, variant, {1, 2, 63, 1000}, {1, 2, 20, 999, 1000});
  }
  check_vectors<TestType>(gpu::backend::cpu, gpu::top_k_variant::threshold, {70000}, {1, 20, 300});
}

TEMPLATE_TEST_CASE("top_k_distinct of a vector equals a stable sort", "[top_k]",
                   GPU_TEST_ELEMENTS) {
  for (const auto variant : {gpu::top_k_variant::threshold, gpu::top_k_variant::sort}) {
    check_distinct_vectors<TestType>(gpu::backend::cpu, variant, {1, 2, 63, 1000},
                                     {1, 2, 20, 1000});
    check_distinct_vectors<TestType>(gpu::backend::cpu, variant, {70000}, {1, 20, 300});
  }
}

TEMPLATE_TEST_CASE("top_k of rows equals a stable sort of each", "[top_k]", std::int8_t, double) {
  for (const bool distinct : {false, true}) {
    check_rows<TestType>(gpu::backend::cpu, gpu::top_k_variant::automatic, distinct, 1, 500, 20, 0);
    check_rows<TestType>(gpu::backend::cpu, gpu::top_k_variant::automatic, distinct, 40, 33, 8, 3);
    check_rows<TestType>(gpu::backend::cpu, gpu::top_k_variant::automatic, distinct, 7, 5, 9, 1);
  }
}

TEST_CASE("any number of threads gives the same top_k", "[top_k]") {
  const auto x = gpu_test::make_input<float>(gpu_test::input_kind::few_distinct, 300000);
  const auto one = gpu::top_k(x, 1000, on_cpu(1));
  const auto one_distinct = gpu::top_k_distinct(x, 4, on_cpu(1));
  for (const int threads : {2, 3, 7}) {
    CHECK(gpu::top_k(x, 1000, on_cpu(threads)).indices == one.indices);
    CHECK(gpu::top_k_distinct(x, 4, on_cpu(threads)).counts == one_distinct.counts);
  }
}

TEST_CASE("top_k sorts in parallel", "[top_k]") {
  const auto x = gpu_test::make_input<std::int16_t>(gpu_test::input_kind::random, 300000);
  auto options = on_cpu(4);
  options.variant = gpu::top_k_variant::sort;
  CHECK(gpu_test::top_k_is_right(x, 300000, options));
}

TEST_CASE("top_k sorts many entries in parts", "[top_k]") {
  const auto x = gpu_test::make_input<std::int16_t>(gpu_test::input_kind::random, 2'500'001);
  for (const int threads : {1, 3}) {
    CHECK(gpu_test::top_k_is_right(x, 2'500'001, on_cpu(threads)));
  }
}

TEST_CASE("top_k of an ascending vector without a useful sample", "[top_k]") {
  std::vector<std::int32_t> x(200000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::int32_t>(i);
  auto options = on_cpu(2);
  options.variant = gpu::top_k_variant::threshold;
  CHECK(gpu_test::top_k_is_right(x, 5000, options));
  CHECK(gpu_test::distinct_is_right(x, 5000, options));
}

TEST_CASE("the answers of pandas and NumPy", "[top_k]") {
  // pandas: Series([3, 2, 3, 2, 1]).nlargest(3) has the index 0, 2, 1.
  const std::vector<int> ties = {3, 2, 3, 2, 1};
  CHECK(gpu::top_k(ties, 3, on_cpu()).indices == std::vector<gpu::index_t>{0, 2, 1});
  // NumPy: unique([2., nan, -0., 0., nan, 2.], return_index, return_counts) reversed, with NaN
  // moved behind the numbers.
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> mixed = {2, nan, -0.0, 0.0, nan, 2};
  const auto distinct = gpu::top_k_distinct(mixed, 5, on_cpu());
  CHECK(distinct.indices == std::vector<gpu::index_t>{0, 2, 1});
  CHECK(distinct.counts == std::vector<gpu::index_t>{2, 2, 2});
  CHECK(std::signbit(distinct.values[1]));
  CHECK(std::isnan(distinct.values[2]));
  CHECK(distinct.clamped());
  const auto all = gpu::top_k(mixed, 6, on_cpu());
  CHECK(all.indices == std::vector<gpu::index_t>{0, 5, 2, 3, 1, 4});
}

TEST_CASE("top_k of nothing, and of more than there is", "[top_k]") {
  const std::vector<float> empty;
  const auto none = gpu::top_k(empty, 3, on_cpu());
  CHECK(none.values.empty());
  CHECK(none.clamped());
  CHECK(gpu::top_k_distinct(empty, 3, on_cpu()).values.empty());
  const gpu::matrix<float> narrow(3, 0);
  CHECK(gpu::top_k(narrow.view(), 2, on_cpu()).values.rows() == 3);
  CHECK(gpu::top_k_distinct(narrow.view(), 2, on_cpu()).found == std::vector<gpu::index_t>(3, 0));
  const std::vector<float> one = {5};
  const auto all = gpu::top_k(one, std::numeric_limits<gpu::index_t>::max(), on_cpu());
  CHECK(all.values == one);
  CHECK(all.requested == std::numeric_limits<gpu::index_t>::max());
  CHECK(all.clamped());
}

TEST_CASE("top_k refuses what it cannot do", "[top_k]") {
  const std::vector<float> x = {1, 2, 3};
  CHECK_THROWS_AS(gpu::top_k(x, 0, on_cpu()), gpu::invalid_argument);
  CHECK_THROWS_AS(gpu::top_k_distinct(x, -1, on_cpu()), gpu::invalid_argument);
  auto options = on_cpu();
  options.variant = gpu::top_k_variant::radix_select;
  CHECK_THROWS_AS(gpu::top_k(x, 1, options), gpu::unsupported);
  CHECK_THROWS_AS(gpu::top_k_distinct(x, 1, options), gpu::unsupported);
}

TEST_CASE("plan_top_k tells what would run", "[top_k]") {
  const auto few = gpu::plan_top_k<float>(1, 1000000, 20, on_cpu());
  CHECK(few.used == gpu::backend::cpu);
  CHECK(few.variant == gpu::top_k_variant::threshold);
  CHECK(few.entries == 20);
  CHECK(gpu::plan_top_k<float>(1, 100, 99, on_cpu()).variant == gpu::top_k_variant::sort);
  CHECK(gpu::plan_top_k_distinct<float>(5, 7, 99, on_cpu()).entries == 7);
}
