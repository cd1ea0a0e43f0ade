#include <bit>
#include <cstdint>

#include "rank/rank_cases.hpp"

namespace {

constexpr auto cuda = gpu::backend::cuda;

/// A finite value whose bytes are those of `bits`, below 0x7f in the highest; of a double, twice.
template <class T>
T value_of_bits(std::uint32_t bits) {
  if constexpr (sizeof(T) == 8) return std::bit_cast<T>(std::uint64_t{bits} << 32 | bits);
  if constexpr (sizeof(T) == 4) return std::bit_cast<T>(bits);
}

}  // namespace

TEMPLATE_TEST_CASE("Ranks equal SciPy's", "[rank][cuda]", std::int8_t, std::int16_t, std::int32_t,
                   std::uint8_t, std::uint16_t, float, double) {
  gpu_test::check_scipy_literals<TestType>(cuda);
}

TEMPLATE_TEST_CASE("Infinities are ordinary and zeros tie", "[rank][cuda]", float, double) {
  gpu_test::check_special_values<TestType>(cuda);
}

// A pass of the segmented sort is left out for a row whose keys all have the same digit there. So
// many rows keep a device busy that puts their ranks in order in shared memory.
TEMPLATE_TEST_CASE("Rows whose keys differ in some of their bytes alone", "[rank][cuda]",
                   std::int32_t, float, double) {
  constexpr std::uint32_t masks[] = {0,          0x000000ff, 0x0000ff00, 0x00ff0000, 0x7f000000,
                                     0x00ff00ff, 0x7f00ff00, 0x7f0000ff, 0x00ffff00, 0x7fffffff};
  constexpr gpu::index_t cols = 9000;
  gpu::matrix<TestType> data(14 * std::size(masks), cols);
  for (gpu::index_t i = 0; i < data.rows(); ++i) {
    for (gpu::index_t j = 0; j < cols; ++j) {
      // Below 0x7f in the highest byte: no NaN, and no infinity.
      const std::uint32_t bits =
          static_cast<std::uint32_t>(j * 7 + i) * 2654435761U & masks[i % 10];
      data(i, j) = value_of_bits<TestType>(bits % 0x7f000000U);
    }
  }
  gpu_test::check_against_reference<TestType>(cuda, std::as_const(data).view());
}

TEMPLATE_TEST_CASE("NaN, zeros of both signs and equal values in long rows", "[rank][cuda]", float,
                   double) {
  for (const gpu::index_t cols : {8193, 40'000}) {
    auto data = gpu_test::tied_matrix<TestType>(cols < 10'000 ? 150 : 4, cols, 51, 0.3, 500);
    for (gpu::index_t j = 0; j < cols; j += 3) {
      if (data(0, j) == 0) data(0, j) = TestType(-0.0);
    }
    data(1, cols - 1) = std::numeric_limits<TestType>::quiet_NaN();
    data(2, 0) = -std::numeric_limits<TestType>::quiet_NaN();
    std::fill(data.data() + 3 * cols, data.data() + 4 * cols, TestType(-2.5));
    gpu_test::check_against_reference<TestType>(cuda, std::as_const(data).view(),
                                                gpu::nan_policy::propagate);
  }
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
                       {.variant = variant, .exec = {.target = cuda, .workspace_bytes = 2000}}),
        gpu::out_of_memory);
  }
}

// One row, rows of one tile and of many, and more rows than the second dimension of a grid counts.
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
