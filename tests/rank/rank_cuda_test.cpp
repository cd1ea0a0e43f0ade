#include "rank/rank_cases.hpp"

namespace {
constexpr auto cuda = gpu::backend::cuda;
}

TEMPLATE_TEST_CASE("Ranks equal SciPy's", "[rank][cuda]", std::int8_t, std::int16_t, std::int32_t,
                   std::uint8_t, std::uint16_t, float, double) {
  gpu_test::check_scipy_literals<TestType>(cuda);
}

TEMPLATE_TEST_CASE("Infinities are ordinary and zeros tie", "[rank][cuda]", float, double) {
  gpu_test::check_special_values<TestType>(cuda);
}

TEMPLATE_TEST_CASE("Short rows", "[rank][cuda]", std::int8_t, std::int16_t, std::int32_t,
                   std::uint8_t, std::uint16_t, float, double) {
  gpu_test::check_short_rows<TestType>(cuda);
  gpu_test::check_mixed_rows<TestType>(cuda);
}

TEMPLATE_TEST_CASE("Middle rows", "[rank][cuda]", std::int8_t, std::int32_t, std::uint16_t, float,
                   double) {
  gpu_test::check_middle_rows<TestType>(cuda);
}

TEMPLATE_TEST_CASE("Long rows", "[rank][cuda]", std::int16_t, float, double) {
  gpu_test::check_long_rows<TestType>(
      cuda, {2048, 2049, 4095, 4096, 4097, 8191, 8192, 8193, 131'071, 131'072, 131'073});
}

TEST_CASE("Rows within a larger matrix", "[rank][cuda]") {
  gpu_test::check_strides(cuda);
}

TEST_CASE("Empty matrices", "[rank][cuda]") {
  gpu_test::check_empty_inputs(cuda);
}

TEMPLATE_TEST_CASE("NaN is named or propagated", "[rank][cuda]", float, double) {
  gpu_test::check_nan_policies<TestType>(cuda);
}

TEST_CASE("Variants that do not fit are refused", "[rank][cuda]") {
  gpu_test::check_refused_variants(cuda);
}

TEST_CASE("A workspace limit is kept, and refused where a row does not fit", "[rank][cuda]") {
  const auto data = gpu_test::tied_matrix<int>(1000, 200, 31);
  for (const auto variant : {gpu::rank_variant::block_sort, gpu::rank_variant::segmented_sort}) {
    for (const std::size_t limit : {std::size_t{100'000}, std::size_t{1'000'000}}) {
      const auto ranks = gpu::rank_rows(
          data.view(), {.variant = variant, .exec = {.target = cuda, .workspace_bytes = limit}});
      CHECK(gpu_test::same_ranks(
          ranks, gpu::rank_rows(data.view(), {.exec = {.target = gpu::backend::cpu}})));
    }
    CHECK_THROWS_AS(
        gpu::rank_rows(data.view(),
                       {.variant = variant, .exec = {.target = cuda, .workspace_bytes = 3000}}),
        gpu::out_of_memory);
  }
}

// Rows that one sort takes are parted by one pass over their numbers, by several, or not at all,
// and a grid counts 65535 of them.
TEST_CASE("Any number of rows is sorted at a time", "[rank][cuda]") {
  struct shape {
    gpu::index_t rows;
    gpu::index_t cols;
  };
  for (const shape& of : {shape{1, 200'000}, {2, 1}, {280, 70'000}, {700, 9000}, {70'000, 5}}) {
    // Runs of some 30 equal values, beside the zeros.
    const int largest = static_cast<int>(of.cols / 30) + 1;
    const auto data = gpu_test::tied_matrix<float>(of.rows, of.cols, 47, 0.2, largest);
    for (const auto ties : {gpu::tie_method::average, gpu::tie_method::min, gpu::tie_method::max,
                            gpu::tie_method::dense, gpu::tie_method::ordinal}) {
      CAPTURE(of.rows, of.cols, static_cast<int>(ties));
      const gpu::rank_options on_cpu{.ties = ties, .exec = {.target = gpu::backend::cpu}};
      const gpu::rank_options sorted{
          .ties = ties, .variant = gpu::rank_variant::segmented_sort, .exec = {.target = cuda}};
      CHECK(gpu_test::same_ranks(gpu::rank_rows(data.view(), sorted),
                                 gpu::rank_rows(data.view(), on_cpu)));
    }
  }
}
