#pragma once
// Rows in the layout of cpu/pair_kernels.hpp, with the exact decision left to the measure.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cpu/aligned_buffer.hpp"
#include "cpu/pair_kernels.hpp"
#include "cpu/pair_rows.hpp"

namespace gpu::cpu {

/// All rows as interleaved columns.
class packed_columns {
 public:
  packed_columns() = default;
  /// Room for `rows` rows of `cols` values; every byte is set as a column of zeros is.
  packed_columns(packing how, index_t rows, index_t cols);

  /// Stores values of type int8, int16 or float, as `how` says. Rows may be stored side by side by
  /// several threads.
  template <class T>
  void store_row(index_t row, const T* values);

  [[nodiscard]] index_t cols() const { return cols_; }
  [[nodiscard]] index_t steps() const { return steps_; }
  /// The group that column `col` starts; `col` is a multiple of group_lanes.
  [[nodiscard]] const std::uint8_t* group_of(index_t col) const {
    return data_.data() + col / group_lanes * group_bytes();
  }
  /// Copies rows [begin, end) as broadcast steps, padded with zero rows to row_padding.
  void copy_row_steps(index_t begin, index_t end, std::uint8_t* out) const;

 private:
  [[nodiscard]] index_t group_bytes() const { return steps_ * group_lanes * step_bytes; }
  [[nodiscard]] std::size_t offset(index_t row, index_t step) const {
    return static_cast<std::size_t>(row / group_lanes * group_bytes() +
                                    (step * group_lanes + row % group_lanes) * step_bytes);
  }

  packing how_ = packing::float32;
  index_t cols_ = 0;
  index_t steps_ = 0;
  aligned_buffer<std::uint8_t> data_;
};

/// pair_rows by kernels: sums of products filter, the measure decides what the filter cannot.
class packed_rows : public pair_rows {
 public:
  [[nodiscard]] std::size_t kernel_bytes() const override;
  void matches(const pair_tile& tile, const detail::keep_range& keep, pair_scratch& scratch,
               std::vector<pair_hit>& out) const override;
  std::uint64_t count(const pair_tile& tile, const detail::keep_range& keep, pair_scratch& scratch,
                      std::uint32_t* row_degree, std::uint32_t* col_degree) const override;

  /// The statistic of a pair whose sum of products the kernel gave as `raw`.
  [[nodiscard]] virtual double exact(index_t row, index_t col, std::int32_t raw) const = 0;

 protected:
  packed_rows(const pair_kernels& kernels, packing how);

  /// Sets the number of rows and their scales: the filter compares the sum of a pair with
  /// cut * scale * scale, and is unsure within `relative_band` of the largest such product.
  void set_scales(std::vector<float> scales, double relative_band, bool band_grows_with_cut);

  /// A tile for `sums`: rows and columns alone.
  [[nodiscard]] kernel_tile tile_of(const pair_tile& tile, pair_scratch& scratch) const;
  [[nodiscard]] std::int32_t* sums_of(pair_scratch& scratch) const;
  [[nodiscard]] const dot_kernels& dots() const { return *dots_; }
  [[nodiscard]] const pair_kernels& kernels() const { return kernels_; }

  packed_columns columns_;

 private:
  struct filter;
  [[nodiscard]] bool make_filter(const detail::keep_range& keep, filter& out) const;
  [[nodiscard]] bool is_rare(double cut) const;
  std::uint64_t count_by_search(const pair_tile& tile, const detail::keep_range& keep,
                                const filter& how, pair_scratch& scratch, std::uint32_t* row_degree,
                                std::uint32_t* col_degree) const;
  [[nodiscard]] kernel_tile filter_tile(const pair_tile& tile, const filter& how,
                                        pair_scratch& scratch) const;

  const pair_kernels& kernels_;
  const dot_kernels* dots_;
  std::vector<float> scales_;  // padded
  double relative_band_ = 0;
  bool band_grows_with_cut_ = false;
  double largest_scale_ = 0;
};

}  // namespace gpu::cpu
