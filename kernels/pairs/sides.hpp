#pragma once
// Which rows of an input take part in the pairs of a call, and on which side.

#include <cstdint>

#include <gpu/index.hpp>

#include "base/host_device.hpp"

namespace gpu::kernels {

/// Every pair has its first row on the left side, and its second one on the right side or, where
/// `within` is set, behind the first on the left side too. Rows on neither side take no part.
/// All pairs of one table: every row is on the left side.
struct row_sides {
  index_t left_begin = 0;
  index_t left_end = 0;
  index_t right_begin = 0;
  index_t right_end = 0;
  bool within = true;
  /// Where rows are sorted by side: whether those without a statistic stay on theirs, at its begin,
  /// as padding; else they come before all others, as rows on neither side do.
  bool keeps_invalid = false;

  [[nodiscard]] GPU_SIMILARITY_HOST_DEVICE constexpr bool is_left(index_t row) const {
    return left_begin <= row && row < left_end;
  }
  [[nodiscard]] GPU_SIMILARITY_HOST_DEVICE constexpr bool is_right(index_t row) const {
    return right_begin <= row && row < right_end;
  }
  [[nodiscard]] GPU_SIMILARITY_HOST_DEVICE constexpr bool has_right() const {
    return right_begin < right_end;
  }
};

/// A packed position that no row stands at.
inline constexpr std::uint32_t no_packed_row = 0xffffffffU;

}  // namespace gpu::kernels
