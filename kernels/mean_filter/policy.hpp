#pragma once
// Launch shapes of the mean filter kernels, as data.

#include <cstddef>

#include <gpu/index.hpp>

namespace gpu::kernels {

/// Threads of the kernels that read windows one by one, and outputs of each thread.
inline constexpr int window_threads = 256;
inline constexpr int shared_outputs = 4;

/// block_sums: outputs of one thread (odd, so that threads' chunks start in different banks of
/// shared memory) and threads of a block. Windows from wide_from on take blocks that march
/// (march.cuh) where their ring fits the device, else wide tiles, for their halo; windows below
/// `outputs` take fewer. march_wide is for windows longer than a tile of march that fit one of its
/// own tiles: the ring then has three slots instead of four, and two blocks share a multiprocessor
/// (82 to 89 % of a copy instead of 79 to 81 for doubles at 3001). From sweeps on an H200 and an
/// H100 (windows 5 to 4097; 7 to 25 outputs, 64 to 384 threads).
struct block_sums_tile {
  int outputs;
  int threads;
};
template <std::size_t ElementBytes>
struct block_sums_policy {
  static constexpr block_sums_tile narrow{17, 128};
  static constexpr block_sums_tile wide{17, 128};
  static constexpr block_sums_tile march{17, 256};
  static constexpr block_sums_tile march_wide{17, 256};
};
template <>
struct block_sums_policy<8> {
  static constexpr block_sums_tile narrow{9, 128};
  static constexpr block_sums_tile wide{11, 256};
  static constexpr block_sums_tile march{9, 256};
  static constexpr block_sums_tile march_wide{13, 256};
};
inline constexpr index_t wide_from = 512;

/// Two tiles in flight where both fit: four such blocks fill a multiprocessor's shared memory.
inline constexpr std::size_t two_buffer_bytes = 52 * 1024;

/// multi_level: outputs of one thread, threads of a block, block sums under one super sum.
inline constexpr int level_outputs = 9;
inline constexpr int level_threads = 256;
inline constexpr index_t level_tile = level_outputs * level_threads;
inline constexpr index_t level_fan = 256;

}  // namespace gpu::kernels
