#include "cuda/tanimoto/prepared_operand.hpp"

#include <algorithm>

#include "base/round_up.hpp"
#include "cuda/transfer/host_staging.hpp"
#include "pairs/tables.hpp"
#include "tanimoto/search.hpp"

namespace gpu::cuda {
namespace {

index_t padded_rows_of(index_t rows) {
  return round_up(rows, kernels::bit_row_multiple);
}

index_t chunks_of(index_t cols) {
  return std::max<index_t>(1, ceil_div(bit_words(cols), kernels::bit_chunk_words));
}

std::size_t padded_words(index_t rows, index_t cols) {
  return static_cast<std::size_t>(padded_rows_of(rows) * chunks_of(cols)) *
         kernels::bit_chunk_words;
}

}  // namespace

std::size_t prepared_operand::bytes_of(const detail::any_table& words, index_t cols) {
  const index_t rows = detail::rows_of(words);
  const auto uploaded =
      detail::is_on_device(words) ? 0 : static_cast<std::size_t>(rows * bit_words(cols));
  return (uploaded + padded_words(rows, cols)) * sizeof(std::uint32_t) +
         static_cast<std::size_t>(padded_rows_of(rows)) * sizeof(std::int32_t);
}

prepared_operand::prepared_operand(const detail::any_table& words, index_t cols,
                                   kernels::bit_layout layout, cudaStream_t stream)
    : words_(padded_words(detail::rows_of(words), cols), stream),
      offsets_(zeroed<std::int32_t>(
          static_cast<std::size_t>(padded_rows_of(detail::rows_of(words))), stream)),
      ones_(static_cast<std::size_t>(detail::rows_of(words))) {
  const index_t rows = detail::rows_of(words);
  bits_ = {.words = words_.data(),
           .row_offsets = offsets_.data(),
           .rows = rows,
           .padded_rows = padded_rows_of(rows),
           .chunks = chunks_of(cols)};
  if (rows == 0) return;
  const bool is_there = detail::is_on_device(words);
  const index_t row_words = bit_words(cols);
  const device_buffer<std::uint32_t> uploaded(
      is_there ? 0 : static_cast<std::size_t>(rows * row_words), stream);
  if (!is_there && row_words > 0) {
    const bit_matrix_view bits = tanimoto::bits_of<memory_space::host>(words, cols);
    upload_rows<std::uint32_t>(uploaded.data(), {bits.words(), rows, row_words, bits.row_words()},
                               {0, rows}, stream);
  }
  kernels::launch_prepare_bits(
      {.bits = is_there ? tanimoto::bits_of<memory_space::device>(words, cols)
                        : device_bit_matrix_view(uploaded.data(), rows, cols, row_words),
       .constant = 0,
       .out = bits_},
      {.bits = {},
       .constant = 0,
       .out = {.words = nullptr,
               .row_offsets = nullptr,
               .rows = 0,
               .padded_rows = 0,
               .chunks = bits_.chunks}},
      layout, 1, stream);
  GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(ones_.data(), offsets_.data(),
                                            ones_.size() * sizeof(std::int32_t),
                                            cudaMemcpyDeviceToHost, stream));
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream));
}

kernels::prepared_bits prepared_operand::rows(index_t begin, index_t end) const {
  kernels::prepared_bits out = bits_;
  out.words += begin * bits_.chunks * kernels::bit_chunk_words;
  out.row_offsets += begin;
  out.rows = end - begin;
  out.padded_rows -= begin;
  return out;
}

}  // namespace gpu::cuda
