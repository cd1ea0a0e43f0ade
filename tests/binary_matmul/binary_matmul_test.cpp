#include <cmath>
#include <limits>

#include <gpu/error.hpp>

#include "binary_matmul/binary_matmul_cases.hpp"
#include "support/generators.hpp"

namespace {

const gpu::execution on_cpu{.target = gpu::backend::cpu};

}  // namespace

TEST_CASE("Products of bits equal the oracle", "[binary_matmul]") {
  gpu_test::check_binary_matmul(gpu_test::on_host({.exec = on_cpu}));
}

TEST_CASE("Blocks of rows, columns and bits join without a seam on the CPU", "[binary_matmul]") {
  gpu::binary_matmul_options two{.exec = on_cpu};
  two.exec.cpu_threads = 2;
  for (const gpu_test::bit_shape shape :
       {gpu_test::bit_shape{33, 580, 300}, {300, 40, 900}, {40, 70, 16500}, {64, 32, 8192}}) {
    const gpu_test::bit_operand a(shape.m, shape.k, 1, 21);
    const gpu_test::bit_operand b(shape.n, shape.k, 0, 22);
    for (const gpu::bit_product product : gpu_test::bit_products) {
      INFO(shape.m << " x " << shape.n << " x " << shape.k);
      CHECK(gpu_test::on_host(two)(a.view(), b.view(), product) ==
            gpu_test::reference_binary_matmul(a.view(), b.view(), product));
    }
  }
}

TEST_CASE("Rows without a column are packed and multiplied in no time", "[binary_matmul]") {
  constexpr gpu::index_t rows = gpu::index_t{1} << 59;
  const gpu::matrix_view<const float> tall(nullptr, rows, 0);
  const gpu::bit_matrix bits = gpu::pack_bits(tall, 0.0F, on_cpu);
  CHECK(bits.view().rows() == rows);
  CHECK(gpu::binary_matmul(bits.view(), gpu::bit_matrix(0, 0).view(), {.exec = on_cpu}).rows() ==
        rows);
}

TEST_CASE("One thread and several give the same products", "[binary_matmul]") {
  const gpu_test::bit_operand a(100, 300, 0, 1);
  const gpu_test::bit_operand b(90, 300, 0, 2);
  gpu::binary_matmul_options one{.exec = on_cpu};
  one.exec.cpu_threads = 1;
  gpu::binary_matmul_options three{.exec = on_cpu};
  three.exec.cpu_threads = 3;
  CHECK(gpu_test::on_host(one)(a.view(), b.view(), gpu::bit_product::xnor_dot) ==
        gpu_test::on_host(three)(a.view(), b.view(), gpu::bit_product::xnor_dot));
}

TEMPLATE_TEST_CASE("Values are packed by their comparison with the threshold", "[binary_matmul]",
                   std::int8_t, std::int16_t, std::int32_t, std::uint8_t, std::uint16_t, float,
                   double) {
  gpu_test::check_pack_bits<TestType>(on_cpu);
}

TEST_CASE("Zero counts as positive and NaN as negative", "[binary_matmul]") {
  const float values[] = {0.0F, -0.0F, std::numeric_limits<float>::quiet_NaN(), -1.0F,
                          std::numeric_limits<float>::infinity()};
  const gpu::bit_matrix bits = gpu::pack_bits(gpu::matrix_view<const float>(values, 1, 5));
  CHECK(bits.words()[0] == 0b10011U);
}

TEST_CASE("Signs multiply as the numbers +1 and -1 do", "[binary_matmul]") {
  const auto x = gpu_test::random_matrix<float>(20, 77, 5);
  const auto y = gpu_test::random_matrix<float>(30, 77, 6);
  const auto out = gpu::binary_matmul(gpu::pack_bits(x.view()).view(),
                                      gpu::pack_bits(y.view()).view(), {.exec = on_cpu});
  for (gpu::index_t i = 0; i < 20; ++i) {
    for (gpu::index_t j = 0; j < 30; ++j) {
      double dot = 0;
      for (gpu::index_t k = 0; k < 77; ++k) {
        dot += std::copysign(1.0, static_cast<double>(x(i, k))) *
               std::copysign(1.0, static_cast<double>(y(j, k)));
      }
      CHECK(out(i, j) == static_cast<int>(dot));
    }
  }
}

TEST_CASE("Empty operands give empty or zero products", "[binary_matmul]") {
  const gpu::bit_matrix none(0, 40);
  const gpu::bit_matrix some(3, 0);
  CHECK(gpu::binary_matmul(none.view(), none.view(), {.exec = on_cpu}).rows() == 0);
  const auto zeros = gpu::binary_matmul(some.view(), some.view(), {.exec = on_cpu});
  REQUIRE(zeros.cols() == 3);
  for (gpu::index_t i = 0; i < 9; ++i) CHECK(zeros.data()[i] == 0);
}

TEST_CASE("Operands that do not fit together are refused", "[binary_matmul]") {
  const gpu::bit_matrix a(2, 40);
  const gpu::bit_matrix b(2, 41);
  CHECK_THROWS_AS(gpu::binary_matmul(a.view(), b.view()), gpu::invalid_argument);
  std::uint32_t words[4] = {};
  CHECK_THROWS_AS(gpu::bit_matrix_view(words, 2, 64, 1), gpu::invalid_argument);
  CHECK_THROWS_AS(gpu::bit_matrix_view(words, -1, 64), gpu::invalid_argument);
  CHECK_THROWS_AS(gpu::bit_matrix_view(nullptr, 1, 1), gpu::invalid_argument);
  gpu::binary_matmul_options tiled{.variant = gpu::binary_matmul_variant::popcount_tiled,
                                   .exec = on_cpu};
  CHECK_THROWS_AS(gpu::binary_matmul(a.view(), a.view(), tiled), gpu::unsupported);
}
