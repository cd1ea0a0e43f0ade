#pragma once
// Launch shapes of the mean filter kernels, as data.

#include <cstddef>

#include <gpu/index.hpp>

#include "plan/mean_filter_variants.hpp"

namespace gpu::kernels {

/// Threads of the kernels that read windows one by one, and outputs of each thread.
inline constexpr int window_threads = 256;
inline constexpr int shared_outputs = 4;

/// block_sums and multi_level: threads of a block, and outputs of one thread. These are odd, so
/// that threads' chunks start in different banks of shared memory. From a sweep on an H200 and an
/// H100 (7 to 25 outputs, 64 to 384 threads).
inline constexpr int chunk_threads = 128;
template <std::size_t ElementBytes>
inline constexpr int chunk_outputs = ElementBytes == 8 ? 9 : 17;
/// Two tiles in flight where both fit: four such blocks fill a multiprocessor's shared memory.
inline constexpr std::size_t two_buffer_bytes = 52 * 1024;

/// multi_level: outputs of one thread, places under one tile sum, tile sums under one super sum.
inline constexpr int level_outputs = 9;
inline constexpr index_t level_tile = level_outputs * chunk_threads;
static_assert(level_tile == detail::min_multi_level_window);
inline constexpr index_t level_fan = 256;

}  // namespace gpu::kernels
