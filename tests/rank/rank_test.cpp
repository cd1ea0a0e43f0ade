#include <thread>

#include "rank/rank_cases.hpp"

namespace {
constexpr auto cpu = gpu::backend::cpu;
}

TEMPLATE_TEST_CASE("Ranks equal SciPy's", "[rank]", std::int8_t, std::int16_t, std::int32_t,
                   std::uint8_t, std::uint16_t, float, double) {
  gpu_test::check_scipy_literals<TestType>(cpu);
}

TEMPLATE_TEST_CASE("Infinities are ordinary and zeros tie", "[rank]", float, double) {
  gpu_test::check_special_values<TestType>(cpu);
}

TEMPLATE_TEST_CASE("Short rows", "[rank]", std::int8_t, std::int16_t, std::int32_t, std::uint8_t,
                   std::uint16_t, float, double) {
  gpu_test::check_short_rows<TestType>(cpu);
  gpu_test::check_mixed_rows<TestType>(cpu);
}

TEMPLATE_TEST_CASE("Middle rows", "[rank]", std::int8_t, std::int32_t, std::uint16_t, float,
                   double) {
  gpu_test::check_middle_rows<TestType>(cpu);
}

TEMPLATE_TEST_CASE("Long rows", "[rank]", std::int16_t, float, double) {
  gpu_test::check_long_rows<TestType>(cpu, {8193, 100'000});
}

TEMPLATE_TEST_CASE("Rows of zeros", "[rank]", std::int8_t, std::int16_t, std::int32_t, std::uint8_t,
                   std::uint16_t, float, double) {
  gpu_test::check_rows_of_zeros<TestType>(cpu);
}

TEST_CASE("Rows of doubles that agree in their first bits", "[rank]") {
  gpu_test::check_rows_alike_in_first_bits(cpu);
}

TEST_CASE("Rows within a larger matrix", "[rank]") {
  gpu_test::check_strides(cpu);
}

TEST_CASE("Empty matrices", "[rank]") {
  gpu_test::check_empty_inputs(cpu);
}

TEMPLATE_TEST_CASE("NaN is named or propagated", "[rank]", float, double) {
  gpu_test::check_nan_policies<TestType>(cpu);
}

TEST_CASE("Variants that do not fit are refused", "[rank]") {
  gpu_test::check_refused_variants(cpu);
}

TEST_CASE("The plan says what runs", "[rank][plan]") {
  using gpu::rank_variant;
  const gpu::rank_plan narrow = gpu::plan_rank_rows<float>(10, 30, {.exec = {.target = cpu}});
  CHECK(narrow.used == cpu);
  CHECK(narrow.variant == rank_variant::counting);
  CHECK(narrow.workspace_bytes == 0);
  const gpu::rank_options sorting{.variant = rank_variant::sort, .exec = {.target = cpu}};
  CHECK(gpu::plan_rank_rows<int>(10, 30, sorting).variant == rank_variant::sort);
  CHECK(gpu::plan_rank_rows<double>(0, 0, {.exec = {.target = cpu}}).workspace_bytes == 0);
  CHECK(gpu::to_string(rank_variant::segmented_sort) == "segmented_sort");
  CHECK_THROWS_AS(gpu::plan_rank_rows<float>(-1, 30), gpu::invalid_argument);
  CHECK_THROWS_AS(gpu::plan_rank_rows<float>(1, gpu::index_t{1} << 31), gpu::invalid_argument);
  CHECK_THROWS_AS(gpu::plan_rank_rows<float>(
                      10, 30, {.variant = rank_variant::block_sort, .exec = {.target = cpu}}),
                  gpu::unsupported);
}

TEST_CASE("The number of threads does not change a rank", "[rank]") {
  const auto data = gpu_test::random_matrix<float>(1000, 30, 21);
  const auto one = gpu::rank_rows(data.view(), {.exec = {.target = cpu, .cpu_threads = 1}});
  const auto three = gpu::rank_rows(data.view(), {.exec = {.target = cpu, .cpu_threads = 3}});
  CHECK(gpu_test::same_ranks(one, three));
}

TEST_CASE("Several threads of the caller rank at once", "[rank]") {
  const auto data = gpu_test::tied_matrix<int>(500, 30, 22);
  const auto expected = gpu_test::reference_ranks(data.view(), gpu::tie_method::average);
  bool right[3] = {};
  {
    std::vector<std::jthread> callers;
    for (bool& mine : right) {
      callers.emplace_back([&] {
        const auto ranks = gpu::rank_rows(data.view(), {.exec = {.target = cpu, .cpu_threads = 2}});
        mine = gpu_test::same_ranks(ranks, expected);
      });
    }
  }
  for (const bool mine : right) CHECK(mine);
}
