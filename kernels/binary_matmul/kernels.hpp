#pragma once
// Host-callable launches of the binary matrix multiply. Asynchronous on `stream`.

#include <cuda_runtime_api.h>

#include <cstdint>

#include <gpu/binary_matmul.hpp>
#include <gpu/bit_matrix.hpp>
#include <gpu/index.hpp>

#include "base/bit_terms.hpp"
#include "plan/binary_matmul_policy.hpp"

namespace gpu::kernels {

/// Packs values into bits, 1 where value >= threshold; bits past the last column are 0.
template <class T>
void launch_pack_bits(device_matrix_view<const T> data, mutable_device_bit_matrix_view bits,
                      T threshold, cudaStream_t stream);

/// Which order the words of prepared rows stand in.
enum class bit_layout {
  rows,  ///< row after row
  tiles  ///< [64 bytes of depth][rows / 8][4 pieces of 16 bytes][8 rows][16 bytes]
};

/// An operand copied into padded form: bits past the last column, and padding, are 0.
struct prepared_bits {
  std::uint32_t* words;  ///< [padded_rows, chunks * 32]
  std::int32_t*
      row_offsets;  ///< [padded_rows]: what row i adds to its results, see base/bit_terms.hpp
  index_t rows;
  index_t padded_rows;  ///< multiple of bit_row_multiple
  index_t chunks;       ///< of 32 words
};

/// What becomes of one operand; `constant` is added to every row's offset.
struct bit_preparation {
  device_bit_matrix_view bits;
  int constant;
  prepared_bits out;
};

/// Prepares both operands of a product, of equal depth. Offsets are added to what `out` holds.
void launch_prepare_bits(const bit_preparation& left, const bit_preparation& right,
                         bit_layout layout, int per_one, cudaStream_t stream);

/// Straight from the operands, one thread a result.
void launch_binary_popcount(device_bit_matrix_view a, device_bit_matrix_view b, bit_product product,
                            device_matrix_view<std::int32_t> out, cudaStream_t stream);
/// The same with the row of a in shared memory. Rows up to 48 KiB.
void launch_binary_popcount_shared(device_bit_matrix_view a, device_bit_matrix_view b,
                                   bit_product product, device_matrix_view<std::int32_t> out,
                                   cudaStream_t stream);
/// From operands prepared as rows.
void launch_binary_popcount_tiled(const prepared_bits& a, const prepared_bits& b,
                                  const detail::bit_terms& terms,
                                  device_matrix_view<std::int32_t> out, cudaStream_t stream);
/// From operands prepared as rows; sm_80.
void launch_binary_tensor(const prepared_bits& a, const prepared_bits& b,
                          const detail::bit_terms& terms, device_matrix_view<std::int32_t> out,
                          cudaStream_t stream);
/// From operands prepared as tiles; compute capability 9.0.
void launch_binary_hopper(const prepared_bits& a, const prepared_bits& b,
                          const detail::bit_terms& terms, device_matrix_view<std::int32_t> out,
                          int multiprocessors, cudaStream_t stream);

}  // namespace gpu::kernels
