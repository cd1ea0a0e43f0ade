#pragma once
// Kendall's S by packed signs: bits that differ are counted.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cpu/pairs/signs/kendall_rows.hpp"
#include "cpu/pairs/signs/sign_matrix.hpp"

namespace gpu::cpu {

class packed_signs final : public kendall_rows {
 public:
  packed_signs(index_t rows, index_t cols);

  using store_scratch = sign_matrix::store_scratch;
  /// Rows may be stored side by side by several threads; `values` are below 2^16.
  void store(index_t i, const std::vector<std::uint32_t>& values, const row_ties& ties,
             store_scratch& scratch);
  /// To be called once all rows are there.
  void finish();

  [[nodiscard]] std::size_t kernel_bytes() const override;
  void statistics(const pair_task& task, const pair_tile& tile, pair_scratch& scratch,
                  double* out) const override;

 private:
  void take_row(const pair_task& task, index_t i, const pair_tile& tile, const std::int32_t* sums,
                double* out) const;

  sign_matrix signs_;
  std::vector<double> tied_pairs_;    // [rows]
  std::vector<double> tied_triples_;  // [rows]
};

std::size_t packed_signs_bytes(index_t cols);

}  // namespace gpu::cpu
