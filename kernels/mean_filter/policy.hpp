#pragma once
// Launch shapes of the mean filter kernels, as data.

#include <cstddef>

#include <gpu/index.hpp>

namespace gpu::kernels {

/// Threads of the kernels that read windows one by one, and outputs of each thread.
inline constexpr int window_threads = 256;
inline constexpr int shared_outputs = 4;

/// Outputs of one thread of register_window: enough loads in flight to cover the latency of
/// memory. Wide windows keep fewer, for their registers.
constexpr int register_outputs(std::size_t element_bytes, int window) {
  if (window > 9) return 2;
  return element_bytes == 8 ? 4 : 8;
}

/// block_sums: outputs of one thread (odd, so that threads' chunks start in different banks of
/// shared memory) and threads of a block. Tiles are wider for wider windows, for their halo;
/// windows below `outputs` take fewer. Chosen by sweeps on an H200 over 10M doubles and 2^28 floats
/// (windows 5, 17, 101, 1001, 4097; 7 to 25 outputs, 128 to 384 threads). Windows from march_from
/// on take blocks that march (march.cuh) where their ring fits; that limit and their tiles are from
/// sweeps on an H100 (windows 23 to 4097; 9 to 25 outputs, 64 to 256 threads). march_wide is for
/// windows longer than a tile of march that fit one of its own tiles: the ring then has three slots
/// instead of four, and two blocks share a multiprocessor (82 to 89 % of a copy instead of 79 to 81
/// for doubles at 3001).
struct block_sums_tile {
  int outputs;
  int threads;
};
template <std::size_t ElementBytes>
struct block_sums_policy {
  static constexpr block_sums_tile narrow{17, 128};
  static constexpr block_sums_tile middle{17, 256};
  static constexpr block_sums_tile wide{17, 128};
  static constexpr block_sums_tile march{17, 256};
  static constexpr block_sums_tile march_wide{17, 256};
  static constexpr index_t march_from = 512;
  static constexpr index_t middle_from = 512;
  static constexpr index_t wide_from = 2500;
};
template <>
struct block_sums_policy<8> {
  static constexpr block_sums_tile narrow{9, 128};
  static constexpr block_sums_tile middle{15, 128};
  static constexpr block_sums_tile wide{11, 256};
  static constexpr block_sums_tile march{9, 256};
  static constexpr block_sums_tile march_wide{13, 256};
  static constexpr index_t march_from = 512;
  static constexpr index_t middle_from = 512;
  static constexpr index_t wide_from = 2000;
};

/// Two tiles in flight where both fit: four such blocks fill a multiprocessor's shared memory.
inline constexpr std::size_t two_buffer_bytes = 52 * 1024;

/// multi_level: outputs of one thread, threads of a block, block sums under one super sum.
inline constexpr int level_outputs = 9;
inline constexpr int level_threads = 256;
inline constexpr index_t level_tile = level_outputs * level_threads;
inline constexpr index_t level_fan = 256;

}  // namespace gpu::kernels
