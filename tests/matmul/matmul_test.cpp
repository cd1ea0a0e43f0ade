#include <gpu/matmul.hpp>

#include <cmath>
#include <cstdint>

#include <gpu/error.hpp>
#include <gpu/execution.hpp>

#include "matmul/matmul_cases.hpp"

namespace {

const gpu::execution on_cpu{.target = gpu::backend::cpu};

const auto multiply = [](auto a, auto b, auto c, const gpu::matmul_options& options) {
  gpu::matmul(a, b, c, options);
};

const auto cpu_variants = {gpu::matmul_variant::automatic, gpu::matmul_variant::naive};

}  // namespace

TEMPLATE_TEST_CASE("CPU products stay within the error bound", "[matmul]", float, double) {
  for (const auto variant : cpu_variants) {
    gpu_test::check_edge_shapes<TestType>(multiply, {.variant = variant, .exec = on_cpu});
    gpu_test::check_product<TestType>(multiply, {301, 257, 600},
                                      {.variant = variant, .exec = on_cpu});
  }
}

// Products of more than 2^32 multiplies a thread are made part by part.
TEST_CASE("CPU products in parts", "[matmul]") {
  const gpu::execution one{.target = gpu::backend::cpu, .cpu_threads = 1};
  using enum gpu::transposition;
  gpu_test::check_product<float>(multiply, {2100, 1500, 2000}, {.exec = one}, 3);
  gpu_test::check_product<float>(multiply, {300, 257, 90000},
                                 {.a = transpose, .b = transpose, .exec = one}, 1);
  // A part of C is added to as the whole is.
  const auto a = gpu_test::random_matrix<float>(2100, 2000, 1);
  const auto b = gpu_test::random_matrix<float>(2000, 1500, 2);
  const gpu::matrix<float> product = gpu::matmul(a, b, {.exec = one});
  gpu::matrix<float> sum = gpu::matmul(a, b, {.exec = one});
  gpu::matmul(a, b, sum, {.beta = 1, .exec = one});
  std::int64_t wrong = 0;
  for (gpu::index_t i = 0; i < 2100; ++i) {
    for (gpu::index_t j = 0; j < 1500; ++j) {
      wrong += std::fabs(sum(i, j) - 2 * product(i, j)) > 1e-3f ? 1 : 0;
    }
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("CPU products of empty extents are empty or zero", "[matmul]", float, double) {
  for (const auto variant : cpu_variants) {
    gpu_test::check_empty_extents<TestType>(multiply, {.variant = variant, .exec = on_cpu});
  }
}

TEMPLATE_TEST_CASE("CPU products follow IEEE for Inf, NaN and subnormals", "[matmul]", float,
                   double) {
  for (const auto variant : cpu_variants) {
    gpu_test::check_special_values<TestType>(multiply, {.variant = variant, .exec = on_cpu});
    gpu_test::check_scaled_rows<TestType>(multiply, {.variant = variant, .exec = on_cpu});
  }
}

TEMPLATE_TEST_CASE("CPU products are scaled and added to C", "[matmul]", float, double) {
  for (const auto variant : cpu_variants) {
    gpu_test::check_scaled_products<TestType>(multiply, {.variant = variant, .exec = on_cpu});
  }
}

TEST_CASE("A new product has nothing to be added to", "[matmul]") {
  const gpu::matrix<float> a(2, 2);
  CHECK_NOTHROW(gpu::matmul(a, a, {.alpha = 2, .exec = on_cpu}));
  CHECK_THROWS_AS(gpu::matmul(a, a, {.beta = 1, .exec = on_cpu}), gpu::invalid_argument);
}

TEST_CASE("A product by hand", "[matmul]") {
  const float a[] = {1, 2, 3, 4, 5, 6};
  const float b[] = {7, 8, 9, 10, 11, 12};
  const gpu::matrix<float> c =
      gpu::matmul(gpu::matrix_view(a, 2, 3), gpu::matrix_view(b, 3, 2), {.exec = on_cpu});
  CHECK(c(0, 0) == 58);
  CHECK(c(0, 1) == 64);
  CHECK(c(1, 0) == 139);
  CHECK(c(1, 1) == 154);
  const gpu::matrix<float> gram = gpu::matmul(gpu::matrix_view(a, 2, 3), gpu::matrix_view(a, 2, 3),
                                              {.b = gpu::transposition::transpose, .exec = on_cpu});
  CHECK(gram(0, 1) == 32);
  gpu::matrix<float> sum(2, 2);
  sum(0, 0) = 100;
  sum(1, 1) = -1;
  gpu::matmul(gpu::matrix_view(a, 2, 3), gpu::matrix_view(b, 3, 2), sum,
              {.alpha = 0.5, .beta = 3, .exec = on_cpu});
  CHECK(sum(0, 0) == 329);
  CHECK(sum(0, 1) == 32);
  CHECK(sum(1, 1) == 74);
}

TEST_CASE("The number of CPU threads does not leave the error bound", "[matmul]") {
  for (const int threads : {1, 2, 3}) {
    gpu::execution exec = on_cpu;
    exec.cpu_threads = threads;
    for (const auto variant : cpu_variants) {
      gpu_test::check_product<double>(multiply, {150, 90, 200}, {.variant = variant, .exec = exec});
    }
  }
}

TEST_CASE("Operands that do not fit are refused before any work", "[matmul]") {
  std::vector<float> data(64);
  const gpu::matrix_view<float> a(data.data(), 2, 3);
  const gpu::matrix_view<float> b(data.data() + 8, 3, 4);
  const gpu::matrix_view<float> c(data.data() + 32, 2, 4);
  CHECK_THROWS_AS(gpu::matmul(a, a, {.exec = on_cpu}), gpu::invalid_argument);
  CHECK_THROWS_AS(gpu::matmul(a, b, {.a = gpu::transposition::transpose, .exec = on_cpu}),
                  gpu::invalid_argument);
  CHECK_THROWS_AS(gpu::matmul(a, b, a, {.exec = on_cpu}), gpu::invalid_argument);
  CHECK_THROWS_AS(
      gpu::matmul(a, b, gpu::matrix_view<float>(data.data() + 10, 2, 4), {.exec = on_cpu}),
      gpu::invalid_argument);
  CHECK_NOTHROW(gpu::matmul(a, b, c, {.exec = on_cpu}));
  gpu::execution negative = on_cpu;
  negative.cpu_threads = -1;
  CHECK_THROWS_AS(gpu::matmul(a, b, c, {.exec = negative}), gpu::invalid_argument);
}

TEST_CASE("A variant of the other backend is refused", "[matmul]") {
  std::vector<float> data(64);
  const gpu::matrix_view<float> a(data.data(), 2, 3);
  const gpu::matrix_view<float> b(data.data() + 8, 3, 4);
  for (const auto variant : {gpu::matmul_variant::pitched, gpu::matmul_variant::shared_tiled,
                             gpu::matmul_variant::register_tiled, gpu::matmul_variant::tensor}) {
    CHECK_THROWS_AS(gpu::matmul(a, b, {.variant = variant, .exec = on_cpu}), gpu::unsupported);
  }
}

TEST_CASE("The plan of a CPU product", "[matmul][plan]") {
  const gpu::matmul_plan plan = gpu::plan_matmul<double>(100, 50, 7, {.exec = on_cpu});
  CHECK(plan.used == gpu::backend::cpu);
  CHECK(plan.result_bytes == 100 * 50 * sizeof(double));
  CHECK(plan.workspace_bytes == 0);
  CHECK_THROWS_AS(gpu::plan_matmul<float>(-1, 2, 3, {.exec = on_cpu}), gpu::invalid_argument);
}
