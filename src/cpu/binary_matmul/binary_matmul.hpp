#pragma once
// Packing and multiplying bits on the CPU.

#include <gpu/binary_matmul.hpp>

namespace gpu::cpu {

template <class T>
void pack_bits(matrix_view<const T> data, mutable_bit_matrix_view bits, T threshold, int threads);

void binary_matmul(bit_matrix_view a, bit_matrix_view b, matrix_view<std::int32_t> out,
                   bit_product product, const execution& exec);

}  // namespace gpu::cpu
