#pragma once
// The inner loops of the binary multiply, compiled once per instruction set.

#include <cstdint>

#include <gpu/index.hpp>

namespace gpu::cpu {

/// Rows of bits on cache lines: `row_words` 64-bit words a row, a multiple of 8.
struct bit_rows {
  const std::uint64_t* words;
  index_t row_words;
};

/// Rows of a, and rows of b, whose products stay in registers; one call takes so many rows of a and
/// a multiple of so many of b.
inline constexpr int bit_block = 4;

/// What makes a product of a count: scale * count + offset of the row of a + of the row of b.
struct product_terms {
  std::int32_t scale;
  const std::int32_t* row_offsets;
  const std::int32_t* col_offsets;
};

/// The loops of one instruction set.
struct bit_kernels {
  /// out[i * stride + j] = the product by `terms` of popcount(row i of a & row j of b), for 4 rows
  /// of a and `cols` of b.
  void (*multiply)(bit_rows a, bit_rows b, index_t cols, const product_terms& terms,
                   std::int32_t* out, index_t stride);
  /// Ones among `count` words, a multiple of 8 on cache lines.
  std::int32_t (*ones)(const std::uint64_t* words, index_t count);
};

/// The kernels for usable_instruction_set().
const bit_kernels& usable_bit_kernels();

extern const bit_kernels baseline_bit_kernels;
extern const bit_kernels avx2_bit_kernels;
/// Needs AVX512_VPOPCNTDQ.
extern const bit_kernels avx512_bit_kernels;

}  // namespace gpu::cpu
