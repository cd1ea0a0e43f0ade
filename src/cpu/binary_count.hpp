#pragma once
// The inner loop of the binary multiply, compiled once per instruction set.

#include <cstdint>

#include <gpu/index.hpp>

namespace gpu::cpu {

/// Rows of bits on cache lines: `row_words` 64-bit words a row, a multiple of 8.
struct bit_rows {
  const std::uint64_t* words;
  index_t row_words;
};

/// Rows of a, and rows of b, that one call of the loop multiplies.
inline constexpr int bit_block = 4;

/// counts[i * bit_block + j] = popcount(row i of a & row j of b) for 4 rows of each.
using count_common_ones = void (*)(bit_rows a, bit_rows b, std::int32_t* counts);

void count_common_ones_baseline(bit_rows a, bit_rows b, std::int32_t* counts);
void count_common_ones_avx2(bit_rows a, bit_rows b, std::int32_t* counts);
/// Needs AVX512_VPOPCNTDQ.
void count_common_ones_avx512(bit_rows a, bit_rows b, std::int32_t* counts);

}  // namespace gpu::cpu
