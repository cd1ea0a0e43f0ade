// The Spearman prologue on the CPU: integers, their square sums, and the zeroed padding.
#include "cpu/rank/centred_ranks.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "reference/rank_reference.hpp"
#include "support/catch.hpp"
#include "support/generators.hpp"

namespace {

// Whether u == 2 rank - (cols + 1), the sums are those of u^2, and the padding is 0.
template <class Integer, class T>
bool centred_ranks_are_right(gpu::matrix_view<const T> data, int threads) {
  const gpu::index_t padded = data.cols() + 5;
  gpu::matrix<Integer> u(data.rows(), padded);
  std::vector<std::int64_t> sums(static_cast<std::size_t>(data.rows()), -1);
  gpu::cpu::centred_ranks<T, Integer>(data, u.view(), sums.data(), threads);
  for (gpu::index_t i = 0; i < data.rows(); ++i) {
    const auto ranks =
        gpu_test::reference_ranks(data.row(i), data.cols(), gpu::tie_method::average);
    std::int64_t sum = 0;
    for (gpu::index_t j = 0; j < padded; ++j) {
      double expected = 0;
      if (j < data.cols()) {
        expected = 2 * ranks[static_cast<std::size_t>(j)] - static_cast<double>(data.cols() + 1);
      }
      if (static_cast<double>(u(i, j)) != expected) return false;
      sum += static_cast<std::int64_t>(expected * expected);
    }
    if (sums[static_cast<std::size_t>(i)] != sum) return false;
  }
  return true;
}

}  // namespace

TEMPLATE_TEST_CASE("Centred ranks are exact integers for every type and width", "[rank]",
                   std::int8_t, std::int16_t, std::int32_t, std::uint8_t, std::uint16_t, float,
                   double) {
  for (const gpu::index_t cols : {0, 1, 2, 3, 30, 31, 64, 65, 96, 97, 128}) {
    CAPTURE(cols);
    const auto tied = gpu_test::tied_matrix<TestType>(67, cols, 1);
    const auto spread = gpu_test::random_matrix<TestType>(67, cols, 2);
    CHECK(centred_ranks_are_right<std::int8_t>(std::as_const(tied).view(), 0));
    CHECK(centred_ranks_are_right<std::int8_t>(spread.view(), 1));
    CHECK(centred_ranks_are_right<std::int16_t>(spread.view(), 2));
    CHECK(centred_ranks_are_right<std::int32_t>(tied.view(), 3));
  }
  for (const gpu::index_t cols : {129, 257, 1000}) {
    CAPTURE(cols);
    const auto tied = gpu_test::tied_matrix<TestType>(5, cols, 3);
    const auto spread = gpu_test::random_matrix<TestType>(5, cols, 4);
    CHECK(centred_ranks_are_right<std::int16_t>(tied.view(), 0));
    CHECK(centred_ranks_are_right<std::int32_t>(spread.view(), 2));
  }
}

TEST_CASE("Centred ranks of rows within a larger matrix ignore what lies between", "[rank]") {
  const auto data = gpu_test::tied_matrix<int>(130, 40, 5);
  const gpu::matrix_view<const int> inner(data.data() + 3, 130, 30, 40);
  CHECK(centred_ranks_are_right<std::int8_t>(inner, 2));
}

TEST_CASE("Constant rows have ranks and square sums of zero", "[rank]") {
  gpu::matrix<float> data(2, 30);
  std::fill(data.data(), data.data() + 60, -2.5F);
  CHECK(centred_ranks_are_right<std::int8_t>(std::as_const(data).view(), 1));
}

TEMPLATE_TEST_CASE("Infinities are ordinary and zeros tie whatever their sign", "[rank]", float,
                   double) {
  constexpr TestType inf = std::numeric_limits<TestType>::infinity();
  gpu::matrix<TestType> data(1, 7);
  const TestType values[] = {inf, TestType(-0.0), -inf, 0, 3, -inf, TestType(-2)};
  std::copy(values, values + 7, data.data());
  gpu::matrix<std::int8_t> u(1, 7);
  std::int64_t sum = 0;
  gpu::cpu::centred_ranks<TestType, std::int8_t>(data.view(), u.view(), &sum, 1);
  const int expected[] = {6, 1, -5, 1, 4, -5, -2};
  for (int j = 0; j < 7; ++j) CHECK(int{u(0, j)} == expected[j]);
  CHECK(sum == 36 + 1 + 25 + 1 + 16 + 25 + 4);
}

TEST_CASE("A NaN ranks last", "[rank]") {
  gpu::matrix<double> data(1, 4);
  const double values[] = {std::nan(""), std::numeric_limits<double>::infinity(), 1, -std::nan("")};
  std::copy(values, values + 4, data.data());
  gpu::matrix<std::int8_t> u(1, 4);
  std::int64_t sum = 0;
  gpu::cpu::centred_ranks<double, std::int8_t>(data.view(), u.view(), &sum, 1);
  const int expected[] = {2, -1, -3, 2};
  for (int j = 0; j < 4; ++j) CHECK(int{u(0, j)} == expected[j]);
}
