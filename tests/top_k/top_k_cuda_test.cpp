// Every CUDA variant of top_k against a stable sort.
#include <cstdint>

#include <gpu/error.hpp>

#include "top_k/top_k_cases.hpp"

using gpu_test::check_distinct_vectors;
using gpu_test::check_rows;
using gpu_test::check_vectors;

namespace {

constexpr gpu::backend on_cuda = gpu::backend::cuda;

}  // namespace

#define GPU_TEST_ELEMENTS \
  std::int8_t, std::int16_t, std::int32_t, std::uint8_t, std::uint16_t, float, double

TEMPLATE_TEST_CASE("CUDA top_k by threshold", "[top_k]", GPU_TEST_ELEMENTS) {
  check_vectors<TestType>(on_cuda, gpu::top_k_variant::threshold, {1, 2, 1000, 8193},
                          {1, 20, 4096});
  check_vectors<TestType>(on_cuda, gpu::top_k_variant::threshold, {70001}, {1, 20, 300, 4096});
}

TEMPLATE_TEST_CASE("CUDA top_k by radix_select", "[top_k]", GPU_TEST_ELEMENTS) {
  check_vectors<TestType>(on_cuda, gpu::top_k_variant::radix_select, {1, 2, 1000, 20001},
                          {1, 20, 999, 5000, 9999, 20001});
}

TEMPLATE_TEST_CASE("CUDA top_k by two_pass_insert", "[top_k]", GPU_TEST_ELEMENTS) {
  check_vectors<TestType>(on_cuda, gpu::top_k_variant::two_pass_insert, {1, 2, 1000, 20001},
                          {1, 20, 32});
}

TEMPLATE_TEST_CASE("CUDA top_k by block_rows and warp_rows of one row", "[top_k]",
                   GPU_TEST_ELEMENTS) {
  check_vectors<TestType>(on_cuda, gpu::top_k_variant::block_rows, {1, 31, 1000, 9001},
                          {1, 20, 128, 129, 2048});
  check_vectors<TestType>(on_cuda, gpu::top_k_variant::warp_rows, {1, 2, 31, 32, 33, 65, 500, 1024},
                          {1, 5, 20, 32, 33, 1000, 1024});
}

TEMPLATE_TEST_CASE("CUDA top_k_distinct", "[top_k]", GPU_TEST_ELEMENTS) {
  check_distinct_vectors<TestType>(on_cuda, gpu::top_k_variant::threshold, {1, 2, 1000, 70001},
                                   {1, 20, 64, 128});
  check_distinct_vectors<TestType>(on_cuda, gpu::top_k_variant::sort, {1, 2, 1000, 20001, 70001},
                                   {1, 20, 300, 5000, 20001});
}

TEMPLATE_TEST_CASE("CUDA top_k of rows by every variant", "[top_k]", std::int8_t, std::int32_t,
                   double) {
  using variant = gpu::top_k_variant;
  for (const auto each : {variant::threshold, variant::radix_select, variant::two_pass_insert,
                          variant::block_rows, variant::warp_rows}) {
    check_rows<TestType>(on_cuda, each, false, 7, 300, 9, 3);
    check_rows<TestType>(on_cuda, each, false, 3, 5, 9, 1);
  }
  check_rows<TestType>(on_cuda, variant::threshold, false, 3, 20000, 100, 1);
  check_rows<TestType>(on_cuda, variant::radix_select, false, 3, 20000, 9000, 1);
  check_rows<TestType>(on_cuda, variant::radix_select, false, 700, 900, 400, 0);
  check_rows<TestType>(on_cuda, variant::warp_rows, false, 150, 30, 8, 0);
  check_rows<TestType>(on_cuda, variant::automatic, true, 7, 300, 9, 3);
  check_rows<TestType>(on_cuda, variant::automatic, true, 3, 20000, 20, 1);
  check_rows<TestType>(on_cuda, variant::automatic, true, 700, 900, 400, 0);
}

// On their own, so that compute-sanitizer can watch this kernel alone.
TEMPLATE_TEST_CASE("CUDA top_k of rows staged in shared memory", "[top_k][staged]", std::int8_t,
                   std::int32_t, float, double) {
  check_rows<TestType>(on_cuda, gpu::top_k_variant::block_rows, false, 5, 10000, 32, 0);
}

TEST_CASE("CUDA and CPU give the same top_k of a larger vector", "[top_k]") {
  using variant = gpu::top_k_variant;
  for (const auto kind : gpu_test::every_input) {
    const auto x = gpu_test::make_input<float>(kind, 3000001, 5);
    for (const gpu::index_t k : {20, 256, 2048, 30000}) {
      gpu::top_k_options cpu;
      cpu.exec.target = gpu::backend::cpu;
      gpu::top_k_options cuda;
      cuda.exec.target = on_cuda;
      const auto expected = gpu::top_k(x, k, cpu);
      for (const auto each : {variant::automatic, variant::threshold, variant::radix_select}) {
        if (each == variant::threshold && k > 4096) continue;
        cuda.variant = each;
        INFO(gpu_test::describe(kind, x.size(), k, cuda));
        CHECK(gpu::top_k(x, k, cuda).indices == expected.indices);
      }
      cuda.variant = variant::automatic;
      const auto expected_distinct = gpu::top_k_distinct(x, k, cpu);
      const auto distinct = gpu::top_k_distinct(x, k, cuda);
      INFO(gpu_test::describe(kind, x.size(), k, cuda));
      CHECK(distinct.indices == expected_distinct.indices);
      CHECK(distinct.counts == expected_distinct.counts);
    }
  }
}

TEST_CASE("CUDA top_k refuses what a variant cannot do", "[top_k]") {
  const std::vector<float> x(5000, 1.0f);
  gpu::top_k_options options;
  options.exec.target = on_cuda;
  options.variant = gpu::top_k_variant::two_pass_insert;
  CHECK_THROWS_AS(gpu::top_k(x, 33, options), gpu::unsupported);
  options.variant = gpu::top_k_variant::threshold;
  CHECK_THROWS_AS(gpu::top_k(x, 4097, options), gpu::unsupported);
  options.variant = gpu::top_k_variant::warp_rows;
  CHECK_THROWS_AS(gpu::top_k(x, 1, options), gpu::unsupported);
  for (const auto plain : {gpu::top_k_variant::radix_select, gpu::top_k_variant::two_pass_insert}) {
    options.variant = plain;
    CHECK_THROWS_AS(gpu::top_k_distinct(x, 1, options), gpu::unsupported);
  }
}
