#pragma once
// All rows in the column layout of cpu/pairs/loops/kernels.hpp.

#include <cstddef>
#include <cstdint>

#include "cpu/pairs/loops/kernels.hpp"
#include "cpu/pairs/rows/pair_search.hpp"
#include "cpu/platform/aligned_buffer.hpp"

namespace gpu::cpu {

/// All rows as interleaved columns.
class packed_columns {
 public:
  packed_columns() = default;
  /// Room for `rows` rows of `cols` values; every byte is set as a column of zeros is. Steps beyond
  /// `chunk` come in multiples of it, unless it is 0.
  packed_columns(packing how, index_t rows, index_t cols, index_t chunk);

  /// Stores values of type int8, int16 or float, as `how` says. Rows may be stored side by side by
  /// several threads.
  template <class T>
  void store_row(index_t row, const T* values);

  [[nodiscard]] bool is_empty() const { return data_.size() == 0; }
  [[nodiscard]] index_t steps() const { return steps_; }
  /// What every byte of a column is larger by than the value.
  [[nodiscard]] int offset() const { return offset_; }
  /// A tile whose first column starts a group. Its rows are copied to `row_steps` as broadcast
  /// steps, padded with zero rows to row_padding.
  [[nodiscard]] packed_tile tile(const pair_tile& of, std::uint8_t* row_steps) const;

  /// Steps that rows of `cols` values take.
  static index_t steps_of(packing how, index_t cols, index_t chunk);

 private:
  void copy_row_steps(index_t begin, index_t end, std::uint8_t* out) const;
  [[nodiscard]] index_t group_bytes() const { return steps_ * group_lanes * column_bytes_; }
  [[nodiscard]] std::size_t place_of(index_t row, index_t step) const {
    return static_cast<std::size_t>(row / group_lanes * group_bytes() +
                                    (step * group_lanes + row % group_lanes) * column_bytes_);
  }

  template <index_t Bytes, class T>
  void store_steps(index_t row, const T* values);
  // Steps of a row from `first` on hold no values.
  void fill_steps(index_t row, index_t first);

  std::uint8_t offset_ = 0;  // added to every byte
  index_t column_bytes_ = step_bytes;
  index_t cols_ = 0;
  index_t steps_ = 0;
  aligned_buffer<std::uint8_t> data_;
};

}  // namespace gpu::cpu
