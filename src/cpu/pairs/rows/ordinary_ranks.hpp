#pragma once
// Ranks of the rows that have a statistic, where they stand, with their sums of squares.

#include <algorithm>
#include <cstdint>
#include <vector>

#include <gpu/index.hpp>

#include "cpu/platform/aligned_buffer.hpp"

namespace gpu::cpu {

template <class Integer>
struct ordinary_ranks {
  index_t stride = 0;
  aligned_buffer<Integer> values;
  std::vector<std::int64_t> square_sums;

  ordinary_ranks(index_t places, index_t cols)
      : stride(cols),
        values(static_cast<std::size_t>(places * cols)),
        square_sums(static_cast<std::size_t>(places)) {}
  void resize(index_t places) { square_sums.resize(static_cast<std::size_t>(places)); }

  [[nodiscard]] index_t size() const { return static_cast<index_t>(square_sums.size()); }
  [[nodiscard]] Integer* row(index_t i) { return values.data() + i * stride; }
  [[nodiscard]] const Integer* row(index_t i) const { return values.data() + i * stride; }
  [[nodiscard]] std::int64_t square_sum(index_t i) const {
    return square_sums[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] bool has_statistic(index_t i) const { return square_sum(i) != 0; }
  /// Row `from` to row `to` as well.
  void copy_row(index_t from, index_t to) {
    std::copy_n(row(from), stride, row(to));
    square_sums[static_cast<std::size_t>(to)] = square_sum(from);
  }
};

}  // namespace gpu::cpu
