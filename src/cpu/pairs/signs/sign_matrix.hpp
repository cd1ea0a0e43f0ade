#pragma once
// Rows as packed signs, and the sums of their products: Kendall's S.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <gpu/index.hpp>

#include "cpu/pairs/rows/pair_rows.hpp"
#include "cpu/pairs/signs/sign_kernels.hpp"
#include "cpu/platform/aligned_buffer.hpp"

namespace gpu::cpu {

class sign_matrix {
 public:
  sign_matrix(index_t rows, index_t cols);

  /// Memory of a thread that stores rows, for any number of them.
  struct store_scratch {
    std::vector<std::uint16_t> padded;
    std::vector<std::uint64_t> planes;
  };
  /// Rows may be stored side by side by several threads; `values` are below 2^16. Where `missing`
  /// is not empty, its ones are the columns without a value, and all signs with them are 0.
  void store(index_t i, const std::vector<std::uint32_t>& values, store_scratch& scratch,
             const std::vector<std::uint32_t>& missing = {});
  /// To be called once all rows are there.
  void finish();

  /// Signs of each row that are not 0; those up to the end of the last group of sign_lanes rows
  /// can be read.
  [[nodiscard]] const std::int32_t* others() const { return others_.data(); }
  /// S of the pairs of a tile of at most block_rows x block_cols, block_cols apart, in `memory` of
  /// sign_scratch_bytes().
  [[nodiscard]] const std::int32_t* sums(const pair_tile& tile, std::byte* memory) const;

 private:
  [[nodiscard]] std::uint64_t* place_of(index_t row, index_t word) {
    return planes_.data() + word_of(row, word);
  }
  [[nodiscard]] std::size_t word_of(index_t row, index_t word) const;
  void begin_sums(const pair_tile& tile, bool rows_have_zeros, std::int32_t* sums) const;
  void copy_rows(const pair_tile& tile, index_t first_word, index_t words,
                 std::uint64_t* out) const;
  [[nodiscard]] bool has_zeros(index_t row) const {
    return others_[static_cast<std::size_t>(row)] < cols_ * (cols_ - 1) / 2;
  }
  [[nodiscard]] bool any_has_zeros(const pair_tile& tile) const;

  index_t rows_;
  index_t cols_;
  index_t words_;                              // of a plane
  aligned_buffer<std::uint64_t> planes_;       // as sign_kernels.hpp has columns
  std::vector<std::uint8_t> group_has_zeros_;  // [groups]
  std::vector<std::int32_t> others_;           // [rows padded]
};

/// Bytes of a row of so many columns; of `memory`, and of store_scratch.
std::size_t sign_row_bytes(index_t cols);
std::size_t sign_scratch_bytes(index_t cols);
std::size_t sign_packing_bytes(index_t cols);

}  // namespace gpu::cpu
