#pragma once
// The rows of a table of bits, padded on the device as a product takes them, with their ones.

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include <gpu/bit_matrix.hpp>
#include <gpu/detail/any_view.hpp>

#include "cuda_runtime/device_buffer.hpp"
#include "kernels/binary_matmul/kernels.hpp"

namespace gpu::cuda {

/// Owns them. Ordered on the stream that made it.
class prepared_operand {
 public:
  /// No rows.
  prepared_operand() = default;
  /// Prepares rows of `cols` bits, whose words it uploads unless they are in device memory, and
  /// waits until the host has their ones.
  prepared_operand(const detail::any_table& words, index_t cols, kernels::bit_layout layout,
                   cudaStream_t stream);

  /// Device memory that it takes at most while it is made.
  static std::size_t bytes_of(const detail::any_table& words, index_t cols);

  [[nodiscard]] const kernels::prepared_bits& bits() const { return bits_; }
  /// How many bits of each row are 1.
  [[nodiscard]] const std::vector<std::int32_t>& ones() const { return ones_; }
  /// Rows from `begin` on, a multiple of a tile, of an operand laid out row by row.
  [[nodiscard]] kernels::prepared_bits rows(index_t begin, index_t end) const;

 private:
  kernels::prepared_bits bits_{};
  device_buffer<std::uint32_t> words_;
  device_buffer<std::int32_t> offsets_;
  std::vector<std::int32_t> ones_;
};

}  // namespace gpu::cuda
