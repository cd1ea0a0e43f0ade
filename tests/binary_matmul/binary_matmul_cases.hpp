#pragma once
// Cases that every backend and variant of the binary multiply must pass.

#include <cstdint>
#include <random>
#include <vector>

#include <gpu/binary_matmul.hpp>

#include "reference/binary_matmul_reference.hpp"
#include "support/catch.hpp"

namespace gpu_test {

inline constexpr gpu::bit_product bit_products[] = {
    gpu::bit_product::xnor_dot, gpu::bit_product::hamming_distance, gpu::bit_product::and_count};

/// Random words, the bits past the last column and the words between rows included: they must not
/// matter.
struct bit_operand {
  bit_operand(gpu::index_t row_count, gpu::index_t col_count, gpu::index_t gap, std::uint64_t seed)
      : rows(row_count),
        cols(col_count),
        row_words(gpu::bit_words(col_count) + gap),
        words(static_cast<std::size_t>(row_count * row_words)) {
    std::mt19937 engine(static_cast<std::mt19937::result_type>(seed));
    for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(engine());
  }
  [[nodiscard]] gpu::bit_matrix_view view() const { return {words.data(), rows, cols, row_words}; }

  gpu::index_t rows;
  gpu::index_t cols;
  gpu::index_t row_words;
  std::vector<std::uint32_t> words;
};

struct bit_shape {
  gpu::index_t m;
  gpu::index_t n;
  gpu::index_t k;
};

/// Around every tile edge, and depths that are no multiple of 32, 64, 128, 256 or 1024.
inline constexpr bit_shape bit_shapes[] = {
    {1, 1, 1},       {3, 5, 31},      {4, 4, 32},     {7, 9, 33},      {63, 65, 63},
    {64, 64, 64},    {65, 63, 65},    {17, 33, 127},  {129, 127, 129}, {40, 40, 255},
    {193, 10, 257},  {10, 257, 1000}, {50, 70, 1023}, {30, 30, 1024},  {31, 29, 1025},
    {20, 300, 4133}, {1, 200, 70},    {200, 1, 70}};

/// `multiply(a, b, product)` returns [a.rows, b.rows] densely.
template <class Multiply>
void check_binary_matmul(const Multiply& multiply) {
  for (const bit_shape& shape : bit_shapes) {
    for (const gpu::index_t gap : {0, 3}) {
      const bit_operand a(shape.m, shape.k, gap, 11);
      const bit_operand b(shape.n, shape.k, 2 * gap, 12);
      for (const gpu::bit_product product : bit_products) {
        INFO(shape.m << " x " << shape.n << " x " << shape.k << ", gap " << gap << ", product "
                     << static_cast<int>(product));
        CHECK(multiply(a.view(), b.view(), product) ==
              reference_binary_matmul(a.view(), b.view(), product));
      }
    }
  }
}

/// The host overload with these options, as a function for check_binary_matmul.
inline auto on_host(const gpu::binary_matmul_options& options) {
  return [options](gpu::bit_matrix_view a, gpu::bit_matrix_view b, gpu::bit_product product) {
    gpu::binary_matmul_options with_product = options;
    with_product.product = product;
    const gpu::matrix<std::int32_t> out = gpu::binary_matmul(a, b, with_product);
    return std::vector<std::int32_t>(out.data(), out.data() + out.rows() * out.cols());
  };
}

/// Bits of every element type against the comparison itself.
template <class T>
void check_pack_bits(const gpu::execution& exec) {
  std::mt19937 engine(3);
  for (const gpu::index_t cols : {0, 1, 31, 32, 33, 100}) {
    gpu::matrix<T> values(5, cols);
    for (gpu::index_t i = 0; i < 5; ++i) {
      for (gpu::index_t j = 0; j < cols; ++j) {
        values(i, j) = static_cast<T>(static_cast<int>(engine() % 7) - 3);
      }
    }
    for (const T threshold : {T{}, T{2}}) {
      const gpu::bit_matrix bits = gpu::pack_bits(values.view(), threshold, exec);
      REQUIRE(bits.rows() == 5);
      REQUIRE(bits.cols() == cols);
      bool same = true;
      for (gpu::index_t i = 0; i < 5; ++i) {
        for (gpu::index_t j = 0; j < cols; ++j) {
          same = same && bits(i, j) == (values(i, j) >= threshold);
        }
        for (gpu::index_t j = cols; j < 32 * bits.row_words(); ++j) {
          same = same && !reference_bit(bits.view(), i, j);
        }
      }
      CHECK(same);
    }
  }
}

}  // namespace gpu_test
