#pragma once
// Kendall's S by packed signs: bits that differ are counted.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cpu/pairs/signs/kendall_rows.hpp"
#include "cpu/platform/aligned_buffer.hpp"

namespace gpu::cpu {

class packed_signs final : public kendall_rows {
 public:
  packed_signs(index_t rows, index_t cols);

  /// Rows may be stored side by side by several threads; `values` are below 2^16.
  void store(index_t i, const std::vector<std::uint32_t>& values, const row_ties& ties);
  /// To be called once all rows are there.
  void finish();

  [[nodiscard]] std::size_t kernel_bytes() const override;
  void statistics(const pair_task& task, const pair_tile& tile, pair_scratch& scratch,
                  double* out) const override;

 private:
  [[nodiscard]] std::uint64_t* place_of(index_t row, index_t word) {
    return planes_.data() + word_of(row, word);
  }
  [[nodiscard]] std::size_t word_of(index_t row, index_t word) const;
  void begin_sums(const pair_tile& tile, std::int32_t* sums) const;
  void copy_rows(const pair_tile& tile, index_t first_word, index_t words,
                 std::uint64_t* out) const;
  void take_row(const pair_task& task, index_t i, const pair_tile& tile, const std::int32_t* sums,
                double* out) const;
  [[nodiscard]] bool any_is_tied(const pair_tile& tile) const;

  index_t words_;                            // of a plane
  aligned_buffer<std::uint64_t> planes_;     // as sign_kernels.hpp has columns
  std::vector<std::uint8_t> group_is_tied_;  // [groups]
  std::vector<std::int32_t> untied_;         // [rows padded]
  std::vector<double> tied_pairs_;           // [rows]
  std::vector<double> tied_triples_;         // [rows]
};

std::size_t packed_signs_bytes(index_t cols);
std::size_t packed_signs_scratch_bytes(index_t cols);

}  // namespace gpu::cpu
