#include "cuda/binary_matmul/binary_matmul.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>

#include "base/element_types.hpp"
#include "base/round_up.hpp"
#include "cuda/transfer/host_staging.hpp"
#include "cuda_runtime/device_buffer.hpp"
#include "cuda_runtime/device_code.hpp"
#include "cuda_runtime/device_info.hpp"
#include "cuda_runtime/device_limits.hpp"
#include "cuda_runtime/scratch.hpp"
#include "cuda_runtime/stream.hpp"
#include "kernels/binary_matmul/kernels.hpp"

namespace gpu::cuda {
namespace {

using variant = binary_matmul_variant;

// Extents of an operand in padded form.
struct padded_bits {
  index_t rows;
  index_t padded_rows;
  index_t chunks;

  padded_bits(index_t row_count, index_t cols)
      : rows(row_count),
        padded_rows(round_up(row_count, kernels::bit_row_multiple)),
        chunks(std::max<index_t>(1, ceil_div(bit_words(cols), kernels::bit_chunk_words))) {}
  // Both are multiples of 256.
  [[nodiscard]] std::size_t word_bytes() const {
    return static_cast<std::size_t>(padded_rows * chunks) * kernels::bit_chunk_bytes;
  }
  [[nodiscard]] std::size_t offset_bytes() const {
    return static_cast<std::size_t>(padded_rows) * sizeof(std::int32_t);
  }
  [[nodiscard]] std::size_t bytes() const { return word_bytes() + offset_bytes(); }
  [[nodiscard]] kernels::prepared_bits at(std::byte* words, std::byte* offsets) const {
    return {.words = reinterpret_cast<std::uint32_t*>(words),
            .row_offsets = reinterpret_cast<std::int32_t*>(offsets),
            .rows = rows,
            .padded_rows = padded_rows,
            .chunks = chunks};
  }
};

void run_prepared(device_bit_matrix_view a, device_bit_matrix_view b,
                  device_matrix_view<std::int32_t> out, variant which,
                  const binary_matmul_options& options, int device, std::byte* scratch) {
  const cudaStream_t stream = options.exec.stream.get();
  const detail::bit_terms terms = detail::terms_of(options.product, a.cols());
  const padded_bits a_extents(a.rows(), a.cols());
  const padded_bits b_extents(b.rows(), b.cols());
  std::byte* const b_words = scratch + a_extents.word_bytes();
  std::byte* const offsets = b_words + b_extents.word_bytes();
  const kernels::prepared_bits left = a_extents.at(scratch, offsets);
  const kernels::prepared_bits right = b_extents.at(b_words, offsets + a_extents.offset_bytes());
  GPU_SIMILARITY_CUDA_CHECK(
      cudaMemsetAsync(offsets, 0, a_extents.offset_bytes() + b_extents.offset_bytes(), stream));
  kernels::launch_prepare_bits(
      {.bits = a, .constant = terms.constant, .out = left},
      {.bits = b, .constant = 0, .out = right},
      which == variant::hopper ? kernels::bit_layout::tiles : kernels::bit_layout::rows,
      terms.per_one, stream);
  switch (which) {
    case variant::hopper:
      return kernels::launch_binary_hopper(left, right, terms, out,
                                           limits_of(device).multiprocessors, stream);
    case variant::tensor:
      return kernels::launch_binary_tensor(left, right, terms, out, stream);
    default:
      return kernels::launch_binary_popcount_tiled(left, right, terms, out, stream);
  }
}

// The words of host bits, rows without a gap where they are copied.
matrix_view<const std::uint32_t> words_of(bit_matrix_view bits) {
  return {bits.words(), bits.rows(), bit_words(bits.cols()), bits.row_words()};
}

}  // namespace

detail::binary_matmul_shape on_device_of(detail::binary_matmul_shape shape, const execution& exec) {
  const int device = device_of(exec);
  const device_limits& limits = limits_of(device);
  const loaded_code& code = code_of(device);
  shape.compute_capability = 10 * limits.compute_major + limits.compute_minor;
  shape.code_capability = code.capability;
  shape.warpgroup_code = code.has_warpgroups;
  return shape;
}

template <class T>
void pack_bits(device_matrix_view<const T> data, mutable_device_bit_matrix_view bits, T threshold,
               const execution& exec) {
  const device_guard guard(device_of(exec));
  kernels::launch_pack_bits(data, bits, threshold, exec.stream.get());
}

template <class T>
void pack_bits(matrix_view<const T> data, mutable_bit_matrix_view bits, T threshold,
               const execution& exec) {
  if (data.empty()) return;
  struct batch_memory {
    T* values;
    std::uint32_t* packed;
  };
  const index_t words = bit_words(data.cols());
  const auto divide = [&](arena& memory, index_t rows) {
    return batch_memory{
        .values = memory.take<T>(static_cast<std::size_t>(rows * data.cols())),
        .packed = memory.take<std::uint32_t>(static_cast<std::size_t>(rows * words))};
  };
  const auto start = [&](const batch_memory& on, staged_rows rows, cudaStream_t stream) {
    upload_rows(on.values, data, rows, stream);
    kernels::launch_pack_bits(device_matrix_view<const T>(on.values, rows.count, data.cols()),
                              mutable_device_bit_matrix_view(on.packed, rows.count, data.cols()),
                              threshold, stream);
  };
  const auto finish = [&](const batch_memory& on, staged_rows rows, cudaStream_t stream) {
    download_rows<std::uint32_t>({bits.words(), bits.rows(), words, bits.row_words()}, on.packed,
                                 rows, stream);
  };
  const device_guard guard(device_of(exec));
  run_in_batches({.what = "pack_bits of one row", .rows = data.rows()}, exec, divide, start,
                 finish);
}

#define GPU_SIMILARITY_INSTANTIATE_PACK_BITS(T)                                           \
  template void pack_bits(device_matrix_view<const T>, mutable_device_bit_matrix_view, T, \
                          const execution&);                                              \
  template void pack_bits(matrix_view<const T>, mutable_bit_matrix_view, T, const execution&);
GPU_SIMILARITY_FOR_EACH_ELEMENT_TYPE(GPU_SIMILARITY_INSTANTIATE_PACK_BITS)

std::size_t binary_matmul_workspace(index_t m, index_t n, index_t k, variant which) {
  if (which == variant::popcount || which == variant::popcount_shared) return 0;
  return padded_bits(m, k).bytes() + padded_bits(n, k).bytes();
}

void binary_matmul(device_bit_matrix_view a, device_bit_matrix_view b,
                   device_matrix_view<std::int32_t> out, variant which,
                   const binary_matmul_options& options) {
  if (out.empty()) return;
  const int device = device_of(options.exec);
  const device_guard guard(device);
  const cudaStream_t stream = options.exec.stream.get();
  if (which == variant::popcount) {
    return kernels::launch_binary_popcount(a, b, options.product, out, stream);
  }
  if (which == variant::popcount_shared) {
    return kernels::launch_binary_popcount_shared(a, b, options.product, out, stream);
  }
  const scratch memory(options.workspace,
                       binary_matmul_workspace(a.rows(), b.rows(), a.cols(), which), stream);
  run_prepared(a, b, out, which, options, device, memory.data());
}

void binary_matmul(bit_matrix_view a, bit_matrix_view b, matrix_view<std::int32_t> out,
                   variant which, const binary_matmul_options& options) {
  if (out.empty()) return;
  struct batch_memory {
    std::uint32_t* left;
    std::int32_t* product;
    device_workspace scratch;
  };
  const device_guard guard(device_of(options.exec));
  const auto left_words = words_of(a);
  const auto right_words = words_of(b);
  const auto right_size = static_cast<std::size_t>(right_words.rows() * right_words.cols());
  const stream work;
  device_buffer<std::uint32_t> right;
  const auto divide = [&](arena& memory, index_t rows) {
    const std::size_t bytes = binary_matmul_workspace(rows, b.rows(), a.cols(), which);
    return batch_memory{
        .left = memory.take<std::uint32_t>(static_cast<std::size_t>(rows * left_words.cols())),
        .product = memory.take<std::int32_t>(static_cast<std::size_t>(rows * out.cols())),
        .scratch = take_scratch(memory, bytes)};
  };
  const auto start = [&](const batch_memory& on, staged_rows rows, cudaStream_t stream) {
    if (rows.first == 0) {  // every batch multiplies by it
      right = device_buffer<std::uint32_t>(right_size, work.get());
      upload_rows(right.data(), right_words, {0, b.rows()}, work.get());
      work.synchronize();
    }
    upload_rows(on.left, left_words, rows, stream);
    binary_matmul_options batch = options;
    batch.exec.stream = stream;
    batch.workspace = on.scratch;
    binary_matmul(device_bit_matrix_view(on.left, rows.count, a.cols()),
                  device_bit_matrix_view(right.data(), b.rows(), b.cols()),
                  device_matrix_view<std::int32_t>(on.product, rows.count, out.cols()), which,
                  batch);
  };
  const auto finish = [&](const batch_memory& on, staged_rows rows, cudaStream_t stream) {
    download_rows<std::int32_t>(out, on.product, rows, stream);
  };
  run_in_batches({.what = "binary_matmul of one row of a",
                  .rows = a.rows(),
                  .fixed_bytes = right_size * sizeof(std::uint32_t)},
                 options.exec, divide, start, finish);
}

}  // namespace gpu::cuda
