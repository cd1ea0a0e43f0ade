#pragma once
// Tuning of the binary matrix multiply.

#include <gpu/index.hpp>

namespace gpu::kernels {

/// Bytes of depth that one pipeline stage holds of a row; prepared rows are padded to it.
inline constexpr int bit_chunk_bytes = 128;
inline constexpr int bit_chunk_words = bit_chunk_bytes / 4;
/// Prepared rows are padded to this, a multiple of every tile below.
inline constexpr index_t bit_row_multiple = 768;

/// popcount_tiled: results of a block, and of one of its 256 threads. 64 x 64 keeps four blocks on
/// a multiprocessor; POPC, not shared memory, is the limit from 4 x 4 results a thread on.
inline constexpr int popcount_tile = 64;
inline constexpr int popcount_thread_tile = 4;

/// tensor: results of a block of 8 warps, 64 x 32 a warp; 2 stages.
inline constexpr int tensor_tile = 128;

/// hopper: 3 warpgroups of 64 rows by 256 columns; 4 stages of (192 + 256) * 64 bytes.
struct bit_hopper_policy {
  static constexpr int warpgroups = 3;
  static constexpr int tile_rows = warpgroups * 64;
  static constexpr int tile_cols = 256;
  static constexpr int stages = 4;
  /// Bytes of depth of a stage.
  static constexpr int depth_bytes = 64;
  /// Row tiles that are walked together, so that their operands stay in L2.
  static constexpr int row_group = 11;
  /// Depth that one pass may count in 16 bits.
  static constexpr index_t most_pass_bits = 65024;
};

}  // namespace gpu::kernels
