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
/// shared memory) and threads of a block; wider blocks for wide windows, for their halo.
template <std::size_t ElementBytes>
struct block_sums_policy {
  static constexpr int outputs = ElementBytes == 8 ? 15 : 17;
  static constexpr int threads = 128;
  static constexpr int short_outputs = 5;  ///< For windows below `outputs`.
  static constexpr index_t wide_from = ElementBytes == 8 ? 2000 : 3000;
  static constexpr int wide_outputs = ElementBytes == 8 ? 11 : 17;
  static constexpr int wide_threads = 256;
};
/// Two tiles in flight where both fit: four such blocks fill a multiprocessor's shared memory.
inline constexpr std::size_t two_buffer_bytes = 52 * 1024;

/// multi_level: outputs of one thread, threads of a block, block sums under one super sum.
inline constexpr int level_outputs = 9;
inline constexpr int level_threads = 256;
inline constexpr index_t level_tile = level_outputs * level_threads;
inline constexpr index_t level_fan = 256;

}  // namespace gpu::kernels
