#pragma once
// Host-callable launches that fold rows of equal ranks into patterns. Asynchronous on `stream`.
//
// Rows are hashed (64 bits) and sorted by hash, stably, so that equal rows are next to each other
// and ascend. Each row is compared with its neighbour byte by byte. Where different rows have equal
// hashes, `collisions` is not 0, and the caller starts again with another seed.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include <gpu/index.hpp>

#include "kernels/pairs/kernels.hpp"

namespace gpu::kernels {

/// Packed ranks to fold; rows whose square sum is not positive have no statistic and no pattern.
struct fold_source {
  const std::byte* values = nullptr;          // [rows, row_bytes], 16-byte aligned
  index_t row_bytes = 0;                      // a multiple of 16
  const std::int64_t* square_sums = nullptr;  // [rows]
  index_t rows = 0;                           // at least 1
  index_t border = 0;  // rows before it have no patterns with those from it on
};

/// What finding patterns leaves behind; device memory of the caller, [rows] each.
struct fold_places {
  std::uint32_t* order;     // rows by hash
  std::uint32_t* heads;     // place in `order` of the first row of the same pattern, by place
  std::uint32_t* is_first;  // by row: 1 for the first row of a pattern, else 0
  std::uint32_t* number;    // by row: patterns that begin before it
};
struct fold_counters {
  std::uint32_t patterns;
  std::uint32_t collisions;
};

/// Bytes of temporary memory for launch_find_patterns.
std::size_t fold_scratch_bytes(index_t rows);

/// Fills `places` and `*counters`; pattern numbers are right where collisions is 0.
void launch_find_patterns(const fold_source& source, std::uint64_t seed, const fold_places& places,
                          fold_counters* counters, void* scratch, std::size_t scratch_bytes,
                          cudaStream_t stream);

/// What is made of the patterns.
struct fold_result {
  std::uint32_t* pattern_of;  // [rows]; ~0: no pattern
  std::uint32_t* begin;       // [patterns], into members
  std::uint32_t* members;     // [rows that have a statistic]
  std::byte* values;          // [patterns, row_bytes]
  std::int64_t* square_sums;  // [patterns]
};
/// `scratch` as above, `patterns` as counted.
void launch_fold_rows(const fold_source& source, const fold_places& places, index_t patterns,
                      const fold_result& result, void* scratch, std::size_t scratch_bytes,
                      cudaStream_t stream);

}  // namespace gpu::kernels
