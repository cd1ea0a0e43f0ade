#include "cuda/binary_matmul/binary_matmul.hpp"

#include "cuda_absent/absent.hpp"

namespace gpu::cuda {

template <class T>
void pack_bits(device_matrix_view<const T>, mutable_device_bit_matrix_view, T, const execution&) {
  throw_not_built();
}
template <class T>
void pack_bits(matrix_view<const T>, mutable_bit_matrix_view, T, const execution&) {
  throw_not_built();
}

#define GPU_SIMILARITY_INSTANTIATE_PACK_BITS(T)                                           \
  template void pack_bits(device_matrix_view<const T>, mutable_device_bit_matrix_view, T, \
                          const execution&);                                              \
  template void pack_bits(matrix_view<const T>, mutable_bit_matrix_view, T, const execution&);
GPU_SIMILARITY_INSTANTIATE_PACK_BITS(std::int8_t)
GPU_SIMILARITY_INSTANTIATE_PACK_BITS(std::int16_t)
GPU_SIMILARITY_INSTANTIATE_PACK_BITS(std::int32_t)
GPU_SIMILARITY_INSTANTIATE_PACK_BITS(std::uint8_t)
GPU_SIMILARITY_INSTANTIATE_PACK_BITS(std::uint16_t)
GPU_SIMILARITY_INSTANTIATE_PACK_BITS(float)
GPU_SIMILARITY_INSTANTIATE_PACK_BITS(double)
#undef GPU_SIMILARITY_INSTANTIATE_PACK_BITS

detail::binary_matmul_shape on_device_of(detail::binary_matmul_shape, const execution&) {
  throw_not_built();
}
std::size_t binary_matmul_workspace(index_t, index_t, index_t, binary_matmul_variant) {
  throw_not_built();
}
void binary_matmul(device_bit_matrix_view, device_bit_matrix_view, device_matrix_view<std::int32_t>,
                   binary_matmul_variant, const binary_matmul_options&) {
  throw_not_built();
}
void binary_matmul(bit_matrix_view, bit_matrix_view, matrix_view<std::int32_t>,
                   binary_matmul_variant, const binary_matmul_options&) {
  throw_not_built();
}

}  // namespace gpu::cuda
