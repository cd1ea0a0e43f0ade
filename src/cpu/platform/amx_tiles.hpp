#pragma once
// The shapes of the eight tile registers. For files compiled with AMX alone.

#include <cstdint>

namespace gpu::cpu {

/// What the LDTILECFG instruction reads: palette 1, rows and bytes a row of each tile.
struct alignas(64) amx_shapes {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};

  void set(int tile, int row_count, int bytes) {
    rows[tile] = static_cast<std::uint8_t>(row_count);
    row_bytes[tile] = static_cast<std::uint16_t>(bytes);
  }

  /// Zeroes the tiles as well. The intrinsic of GCC 12 names too small an operand, so that the
  /// stores above would be dropped: the whole object is an input here.
  void load() const { asm volatile("ldtilecfg %0" : : "m"(*this) : "memory"); }
};
static_assert(sizeof(amx_shapes) == 64);

}  // namespace gpu::cpu
