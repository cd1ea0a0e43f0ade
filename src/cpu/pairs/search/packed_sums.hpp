#pragma once
// The filter by sums of products in the layout of cpu/pairs/loops/kernels.hpp: exact sums of ranks,
// or rounded ones of floats.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cpu/pairs/search/packed_columns.hpp"
#include "cpu/pairs/search/pair_filter.hpp"

namespace gpu::cpu {

/// What kernels compare the sum of a pair with: cut * scale of the row * scale of the column. What
/// is within `relative_band` of the largest such product they leave to the measure.
class row_scales {
 public:
  /// Of rows that no kernel compares.
  row_scales() = default;
  row_scales(std::vector<float> of_rows, double relative_band, bool band_grows_with_cut);

  [[nodiscard]] float of(index_t row) const { return scales_[static_cast<std::size_t>(row)]; }
  /// From row `first` on; padded to groups.
  [[nodiscard]] const float* from(index_t first) const { return scales_.data() + first; }
  [[nodiscard]] float band_of(double cut) const;

 private:
  std::vector<float> scales_;
  double relative_band_ = 0;
  bool band_grows_with_cut_ = false;
  double largest_ = 0;
};

class packed_sums final : public pair_filter {
 public:
  /// Of `rows` rows, which are stored next.
  packed_sums(const pair_kernels& kernels, packing how, index_t rows, index_t cols,
              const row_scales& scales);
  /// As packed_columns::store_row.
  template <class T>
  void store_row(index_t row, const T* values) {
    columns_.store_row(row, values);
  }
  /// Bytes of pair_scratch::kernel.
  static std::size_t scratch_bytes(const pair_kernels& kernels, packing how, index_t cols);

  [[nodiscard]] double error() const override { return 0; }
  void search(const pair_tile& tile, const pair_cut& cut, pair_scratch& scratch,
              const exact_test& test) const override {
    dots_.search(cut_tile(tile, cut, scratch), test);
  }
  void above(const pair_tile& tile, const double* bars, bool by_magnitude, pair_scratch& scratch,
             const exact_test& test) const override;
  std::uint64_t count(const pair_tile& tile, const pair_cut& cut, pair_scratch& scratch,
                      const exact_test& test, std::uint32_t* row_degree,
                      std::uint32_t* col_degree) const override {
    return dots_.count(cut_tile(tile, cut, scratch), test, row_degree, col_degree);
  }
  /// All sums of a block, rows pair_policy::block_cols apart.
  const std::int32_t* sums(const kernel_tile& block, pair_scratch& scratch) const;
  /// A tile for `sums`, and one with what is compared with a cut.
  [[nodiscard]] kernel_tile tile_of(const pair_tile& tile, pair_scratch& scratch) const;
  [[nodiscard]] kernel_tile cut_tile(const pair_tile& tile, const pair_cut& cut,
                                     pair_scratch& scratch) const;

 private:
  template <class CutOf>
  [[nodiscard]] kernel_tile compared(const pair_tile& tile, pair_scratch& scratch, float weakest,
                                     const CutOf& cut_of) const;

  const dot_kernels& dots_;
  const row_scales& scales_;
  packed_columns columns_;
};

}  // namespace gpu::cpu
