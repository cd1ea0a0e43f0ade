// Every CUDA variant against the oracle, through the host and the device overload.
#include <algorithm>

#include <gpu/error.hpp>
#include <gpu/execution.hpp>

#include "binary_matmul/binary_matmul_cases.hpp"
#include "support/device_memory.hpp"
#include "support/device_offers.hpp"

namespace {

using gpu::binary_matmul_variant;
using gpu_test::bit_operand;
using gpu_test::device_array;

const gpu::execution on_cuda{.target = gpu::backend::cuda};

std::vector<binary_matmul_variant> offered_variants() {
  std::vector<binary_matmul_variant> offered;
  for (const auto variant :
       {binary_matmul_variant::popcount, binary_matmul_variant::popcount_shared,
        binary_matmul_variant::popcount_tiled, binary_matmul_variant::tensor,
        binary_matmul_variant::hopper}) {
    if (gpu_test::applies(variant)) offered.push_back(variant);
  }
  return offered;
}

// The device overload, its result in a matrix whose rows are one element longer.
auto on_device(binary_matmul_variant variant, gpu::index_t gap) {
  return [variant, gap](gpu::bit_matrix_view a, gpu::bit_matrix_view b, gpu::bit_product product) {
    const auto words = [](gpu::bit_matrix_view x) {
      return static_cast<std::size_t>(x.rows() * x.row_words());
    };
    const device_array<std::uint32_t> left(a.words(), words(a));
    const device_array<std::uint32_t> right(b.words(), words(b));
    const gpu::index_t stride = b.rows() + gap;
    const device_array<std::int32_t> out(static_cast<std::size_t>(a.rows() * stride));
    out.set_bytes(0x55);
    const gpu_test::test_stream stream;
    gpu::binary_matmul_options options{.product = product, .variant = variant};
    options.exec.stream = stream.get();
    gpu::binary_matmul(
        gpu::device_bit_matrix_view(left.data(), a.rows(), a.cols(), a.row_words()),
        gpu::device_bit_matrix_view(right.data(), b.rows(), b.cols(), b.row_words()),
        gpu::device_matrix_view<std::int32_t>(out.data(), a.rows(), b.rows(), stride), options);
    stream.synchronize();
    std::vector<std::int32_t> padded(out.size());
    out.copy_to(padded.data());
    std::vector<std::int32_t> dense;
    for (gpu::index_t i = 0; i < a.rows(); ++i) {
      const auto row = padded.begin() + i * stride;
      dense.insert(dense.end(), row, row + b.rows());
      for (gpu::index_t j = b.rows(); j < stride; ++j) CHECK(row[j] == 0x55555555);
    }
    return dense;
  };
}

}  // namespace

TEST_CASE("Every variant's products equal the oracle", "[binary_matmul][cuda]") {
  for (const binary_matmul_variant variant : offered_variants()) {
    INFO(gpu::to_string(variant));
    gpu_test::check_binary_matmul(gpu_test::on_host({.variant = variant, .exec = on_cuda}));
    gpu_test::check_binary_matmul(on_device(variant, 1));
  }
  gpu_test::check_binary_matmul(gpu_test::on_host({.exec = on_cuda}));
}

TEST_CASE("Every variant agrees where the tiles of all of them repeat", "[binary_matmul][cuda]") {
  const bit_operand a(1000, 3000, 1, 7);
  const bit_operand b(1500, 3000, 0, 8);
  const auto expected = gpu_test::on_host({.exec = {.target = gpu::backend::cpu}})(
      a.view(), b.view(), gpu::bit_product::xnor_dot);
  for (const binary_matmul_variant variant : offered_variants()) {
    INFO(gpu::to_string(variant));
    CHECK(on_device(variant, 0)(a.view(), b.view(), gpu::bit_product::xnor_dot) == expected);
  }
}

TEMPLATE_TEST_CASE("The device packs bits as the CPU does", "[binary_matmul][cuda]", std::int8_t,
                   std::int16_t, std::int32_t, std::uint8_t, std::uint16_t, float, double) {
  gpu_test::check_pack_bits<TestType>(on_cuda);
  gpu::execution little = on_cuda;
  little.workspace_bytes = 2048;
  gpu_test::check_pack_bits<TestType>(little);
}

TEST_CASE("A limit on device memory cuts the product into rows", "[binary_matmul][cuda]") {
  gpu::binary_matmul_options options{.exec = on_cuda};
  options.exec.workspace_bytes = 1 << 20;
  const bit_operand a(2000, 100, 0, 7);
  const bit_operand b(300, 100, 0, 8);
  const auto multiply = gpu_test::on_host(options);
  CHECK(multiply(a.view(), b.view(), gpu::bit_product::and_count) ==
        gpu_test::reference_binary_matmul(a.view(), b.view(), gpu::bit_product::and_count));
  options.exec.workspace_bytes = 1000;
  CHECK_THROWS_AS(gpu::binary_matmul(a.view(), b.view(), options), gpu::out_of_memory);
}

TEST_CASE("Device operands that do not fit are refused", "[binary_matmul][cuda]") {
  const device_array<std::uint32_t> words(64);
  const device_array<std::int32_t> out(64);
  const gpu::device_bit_matrix_view a(words.data(), 2, 64);
  const gpu::device_matrix_view<std::int32_t> wrong(out.data(), 2, 3);
  const gpu::device_matrix_view<std::int32_t> right(out.data(), 2, 2);
  CHECK_THROWS_AS(gpu::binary_matmul(a, a, wrong), gpu::invalid_argument);
  CHECK_THROWS_AS(gpu::binary_matmul(a, a, right, {.exec = {.target = gpu::backend::cpu}}),
                  gpu::invalid_argument);
}

TEST_CASE("The caller's workspace is used and checked", "[binary_matmul][cuda][plan]") {
  const bit_operand a(300, 500, 0, 7);
  const bit_operand b(200, 500, 0, 8);
  const auto expected =
      gpu_test::reference_binary_matmul(a.view(), b.view(), gpu::bit_product::xnor_dot);
  const device_array<std::uint32_t> left(a.words.data(), a.words.size());
  const device_array<std::uint32_t> right(b.words.data(), b.words.size());
  const device_array<std::int32_t> out(300 * 200);
  for (const binary_matmul_variant variant : offered_variants()) {
    INFO(gpu::to_string(variant));
    gpu::binary_matmul_options options{.variant = variant, .exec = on_cuda};
    const gpu::binary_matmul_plan plan = gpu::plan_binary_matmul(300, 200, 500, options);
    CHECK(plan.variant == variant);
    CHECK(plan.result_bytes == 300 * 200 * 4);
    const device_array<std::byte> workspace(plan.workspace_bytes + 256);
    const gpu_test::test_stream stream;
    options.exec.stream = stream.get();
    const auto multiply = [&](std::byte* memory, std::size_t bytes) {
      options.workspace = {memory, static_cast<gpu::index_t>(bytes)};
      gpu::binary_matmul(gpu::device_bit_matrix_view(left.data(), 300, 500),
                         gpu::device_bit_matrix_view(right.data(), 200, 500),
                         gpu::device_matrix_view<std::int32_t>(out.data(), 300, 200), options);
    };
    multiply(workspace.data(), plan.workspace_bytes);
    stream.synchronize();
    std::vector<std::int32_t> values(out.size());
    out.copy_to(values.data());
    CHECK(values == expected);
    if (plan.workspace_bytes == 0) continue;
    CHECK_THROWS_AS(multiply(workspace.data(), plan.workspace_bytes - 1), gpu::invalid_argument);
    CHECK_THROWS_AS(multiply(workspace.data() + 8, plan.workspace_bytes), gpu::invalid_argument);
  }
}

TEST_CASE("Depth that is cut into passes adds up", "[binary_matmul][cuda]") {
  // Too few tiles for the device, and more bits than a 16-bit count holds.
  bit_operand a(7, 140000, 1, 7);
  bit_operand b(260, 140000, 0, 8);
  std::fill_n(a.words.begin(), 3 * a.row_words, ~0U);  // so counts of a pass come to its limit
  std::fill_n(b.words.begin(), 5 * b.row_words, ~0U);
  for (const auto product : {gpu::bit_product::xnor_dot, gpu::bit_product::and_count}) {
    const auto expected = gpu_test::reference_binary_matmul(a.view(), b.view(), product);
    for (const binary_matmul_variant variant : offered_variants()) {
      INFO(gpu::to_string(variant));
      CHECK(on_device(variant, 1)(a.view(), b.view(), product) == expected);
    }
  }
}
