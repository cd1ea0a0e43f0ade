#include "cuda/binary_matmul/binary_matmul.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>

#include <gpu/error.hpp>

#include "base/element_types.hpp"
#include "base/round_up.hpp"
#include "cuda_runtime/device_buffer.hpp"
#include "cuda_runtime/device_info.hpp"
#include "cuda_runtime/device_limits.hpp"
#include "cuda_runtime/scratch.hpp"
#include "cuda_runtime/stream.hpp"
#include "kernels/binary_matmul/kernels.hpp"

namespace gpu::cuda {
namespace {

using variant = binary_matmul_variant;

constexpr std::size_t word_bytes = sizeof(std::uint32_t);

/// What host overloads may take on the device, bytes.
std::size_t device_limit(const execution& exec) {
  if (exec.workspace_bytes != 0) return exec.workspace_bytes;
  std::size_t free = 0;
  std::size_t total = 0;
  GPU_SIMILARITY_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  return free / 10 * 9;
}

/// Rows of a block such that fixed + rows * per_row <= limit; throws where not one fits.
index_t rows_that_fit(index_t rows, std::size_t fixed, std::size_t per_row, std::size_t limit,
                      const char* what) {
  if (fixed + per_row > limit) {
    throw out_of_memory(fmt::format("execution.workspace_bytes: {} needs at least {} bytes on the "
                                    "device, {} may be used",
                                    what, fixed + per_row, limit),
                        fixed + per_row);
  }
  const auto fitting = static_cast<index_t>((limit - fixed) / std::max<std::size_t>(1, per_row));
  return std::clamp<index_t>(fitting, 1, std::max<index_t>(1, rows));
}

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

// A host matrix of bits copied to the device, rows without a gap.
device_buffer<std::uint32_t> upload(bit_matrix_view bits, cudaStream_t stream) {
  const auto words = static_cast<std::size_t>(bit_words(bits.cols()));
  device_buffer<std::uint32_t> out(words * static_cast<std::size_t>(bits.rows()), stream);
  if (out.size() > 0) {
    GPU_SIMILARITY_CUDA_CHECK(cudaMemcpy2DAsync(
        out.data(), words * word_bytes, bits.words(),
        static_cast<std::size_t>(bits.row_words()) * word_bytes, words * word_bytes,
        static_cast<std::size_t>(bits.rows()), cudaMemcpyHostToDevice, stream));
  }
  return out;
}

device_bit_matrix_view on_device(const device_buffer<std::uint32_t>& words, bit_matrix_view like) {
  return {words.data(), like.rows(), like.cols()};
}

bit_matrix_view row_block(bit_matrix_view bits, index_t first, index_t rows) {
  return {bits.row(first), rows, bits.cols(), bits.row_words()};
}

}  // namespace

int binary_matmul_capability(const execution& exec) {
  const device_limits& limits = limits_of(device_of(exec));
  return 10 * limits.compute_major + limits.compute_minor;
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
  const device_guard guard(device_of(exec));
  const stream work;
  const auto cols = static_cast<std::size_t>(data.cols());
  const auto words = static_cast<std::size_t>(bit_words(data.cols()));
  const index_t step = rows_that_fit(data.rows(), 0, cols * sizeof(T) + words * word_bytes,
                                     device_limit(exec), "packing one row");
  device_buffer<T> values(cols * static_cast<std::size_t>(step), work.get());
  device_buffer<std::uint32_t> packed(words * static_cast<std::size_t>(step), work.get());
  for (index_t first = 0; first < data.rows(); first += step) {
    const index_t rows = std::min(step, data.rows() - first);
    GPU_SIMILARITY_CUDA_CHECK(
        cudaMemcpy2DAsync(values.data(), cols * sizeof(T), data.row(first),
                          static_cast<std::size_t>(data.row_stride()) * sizeof(T), cols * sizeof(T),
                          static_cast<std::size_t>(rows), cudaMemcpyHostToDevice, work.get()));
    kernels::launch_pack_bits(device_matrix_view<const T>(values.data(), rows, data.cols()),
                              mutable_device_bit_matrix_view(packed.data(), rows, data.cols()),
                              threshold, work.get());
    GPU_SIMILARITY_CUDA_CHECK(
        cudaMemcpy2DAsync(bits.row(first), static_cast<std::size_t>(bits.row_words()) * word_bytes,
                          packed.data(), words * word_bytes, words * word_bytes,
                          static_cast<std::size_t>(rows), cudaMemcpyDeviceToHost, work.get()));
  }
  work.synchronize();
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
  const device_guard guard(device_of(options.exec));
  const stream work;
  const auto row_words = static_cast<std::size_t>(bit_words(a.cols()));
  const auto cols = static_cast<std::size_t>(out.cols());
  const std::size_t fixed = static_cast<std::size_t>(b.rows()) * row_words * word_bytes +
                            padded_bits(b.rows(), b.cols()).bytes() +
                            padded_bits(1, a.cols()).bytes();
  const std::size_t per_row =
      cols * sizeof(std::int32_t) + (2 * row_words + kernels::bit_chunk_words + 1) * word_bytes;
  const index_t step =
      rows_that_fit(a.rows(), fixed, per_row, device_limit(options.exec), "one row of the product");
  binary_matmul_options inner = options;
  inner.exec.stream = work.get();
  inner.workspace = {};
  const device_buffer<std::uint32_t> right = upload(b, work.get());
  device_buffer<std::int32_t> block(cols * static_cast<std::size_t>(step), work.get());
  for (index_t first = 0; first < a.rows(); first += step) {
    const index_t rows = std::min(step, a.rows() - first);
    const bit_matrix_view part = row_block(a, first, rows);
    const device_buffer<std::uint32_t> left = upload(part, work.get());
    binary_matmul(on_device(left, part), on_device(right, b),
                  device_matrix_view<std::int32_t>(block.data(), rows, out.cols()), which, inner);
    GPU_SIMILARITY_CUDA_CHECK(cudaMemcpy2DAsync(
        out.row(first), static_cast<std::size_t>(out.row_stride()) * sizeof(std::int32_t),
        block.data(), cols * sizeof(std::int32_t), cols * sizeof(std::int32_t),
        static_cast<std::size_t>(rows), cudaMemcpyDeviceToHost, work.get()));
  }
  work.synchronize();
}

}  // namespace gpu::cuda
