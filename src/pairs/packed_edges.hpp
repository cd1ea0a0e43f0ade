#pragma once
// Edges in half as many bytes, for the way from a device to the host.

#include <cstddef>
#include <cstdint>

namespace gpu::inline v0::detail {

/// Edges without p, and with both rows in one number.
struct packed_edges {
  const double* statistics = nullptr;     ///< [count]
  const std::uint32_t* places = nullptr;  ///< [count] (row - first_row) << col_bits | col
  std::size_t count = 0;
  std::uint32_t first_row = 0;
  int col_bits = 0;  ///< At most 32.

  [[nodiscard]] std::uint32_t row(std::size_t i) const {
    return static_cast<std::uint32_t>(std::uint64_t{places[i]} >> col_bits) + first_row;
  }
  [[nodiscard]] std::uint32_t col(std::size_t i) const { return places[i] & col_mask(); }
  [[nodiscard]] std::uint32_t col_mask() const {
    return static_cast<std::uint32_t>((std::uint64_t{1} << col_bits) - 1);
  }
};

}  // namespace gpu::inline v0::detail
