#pragma once
// Operands of the binary multiply as the loops take them.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <gpu/bit_matrix.hpp>
#include <gpu/matrix_view.hpp>

#include "base/parallel.hpp"
#include "cpu/binary_matmul/count.hpp"
#include "cpu/platform/aligned_buffer.hpp"
#include "cpu/platform/large_pages.hpp"

namespace gpu::cpu {

/// A copy of the rows on cache lines, rows padded to multiples of `block`, with zeros past the last
/// column, and the term that each row adds to its results: constant + per_one * its ones.
class bit_operand {
 public:
  /// What a copy of so many rows takes, in whatever blocks.
  static std::size_t bytes_of(index_t rows, index_t cols) {
    constexpr index_t most_block = 32;
    const index_t padded = (rows + most_block - 1) / most_block * most_block;
    return static_cast<std::size_t>(padded) *
           (static_cast<std::size_t>(row_words_of(cols)) * sizeof(std::uint64_t) +
            sizeof(std::int32_t));
  }

  bit_operand(bit_matrix_view bits, index_t block, int per_one, int constant, int threads)
      : row_words_(row_words_of(bits.cols())),
        padded_rows_((bits.rows() + block - 1) / block * block),
        words_(static_cast<std::size_t>(padded_rows_ * row_words_)),
        offsets_(static_cast<std::size_t>(padded_rows_)) {
    detail::parallel_for(padded_rows_ / block, threads, [&](index_t index, int) {
      for (index_t i = index * block; i < (index + 1) * block; ++i) {
        offsets_[static_cast<std::size_t>(i)] = constant + per_one * copy_row(bits, i);
      }
    });
  }

  [[nodiscard]] index_t row_words() const { return row_words_; }
  [[nodiscard]] index_t padded_rows() const { return padded_rows_; }
  [[nodiscard]] bit_rows from(index_t row) const {
    return {words_.data() + row * row_words_, row_words_};
  }
  [[nodiscard]] std::int32_t offset(index_t row) const {
    return offsets_[static_cast<std::size_t>(row)];
  }
  [[nodiscard]] const std::int32_t* offsets(index_t row) const { return offsets_.data() + row; }

 private:
  static constexpr index_t line_words = 8;  // 64-bit words of a cache line
  static index_t row_words_of(index_t cols) {
    return (bit_words(cols) + 2 * line_words - 1) / (2 * line_words) * line_words;
  }

  // Returns the row's ones.
  std::int32_t copy_row(bit_matrix_view bits, index_t i) {
    std::uint64_t* out = words_.data() + i * row_words_;
    std::fill(out, out + row_words_, 0);
    if (i >= bits.rows() || bits.cols() == 0) return 0;
    const auto words = static_cast<std::size_t>(bit_words(bits.cols()));
    std::memcpy(out, bits.row(i), words * sizeof(std::uint32_t));
    if (const index_t used = bits.cols() % 64; used != 0) {
      out[bits.cols() / 64] &= (std::uint64_t{1} << used) - 1;
    }
    return kernels_.ones(out, row_words_);
  }

  const bit_kernels& kernels_ = usable_bit_kernels();
  index_t row_words_;
  index_t padded_rows_;
  aligned_buffer<std::uint64_t> words_;
  aligned_buffer<std::int32_t> offsets_;
};

/// How the result of a product is dealt out to threads, and in which panels of columns a thread
/// goes through its share.
struct product_shares {
  index_t rows;  ///< of a share, a multiple of the step
  index_t cols;  ///< of a share, all of them or a panel

  product_shares(matrix_view<std::int32_t> out, index_t step, index_t panel, int threads)
      : rows(step), cols(panel) {
    const index_t row_bytes = out.row_stride() * static_cast<index_t>(sizeof(std::int32_t));
    rows = std::max(step, rows_of_large_page(out.rows(), row_bytes, threads) / step * step);
    // Enough rows for all threads: whole rows, so that each has pages of its own.
    if (out.rows() >= 4 * threads * rows) cols = std::max(panel, out.cols());
  }

  /// body(row, end_row, col, end_col, thread) for every share of `out`, by `threads` threads.
  template <class Body>
  void for_each(matrix_view<std::int32_t> out, int threads, const Body& body) const {
    const index_t down = (out.rows() + rows - 1) / rows;
    const index_t across = (out.cols() + cols - 1) / cols;
    detail::parallel_for(down * across, threads, [&](index_t share, int thread) {
      const index_t row = share / across * rows;
      const index_t col = share % across * cols;
      body(row, std::min(out.rows(), row + rows), col, std::min(out.cols(), col + cols), thread);
    });
  }
};

}  // namespace gpu::cpu
