#pragma once
// Ranking by counting: 64 rows at a time, one row per vector lane, every pair of columns compared.

#include <cstdint>

#include <gpu/index.hpp>
#include <gpu/rank.hpp>

#include "plan/rank_variants.hpp"

namespace gpu::cpu {

/// Rows of one block: one AVX-512 vector of bytes.
inline constexpr int counting_block_rows = 64;

/// Most columns of a row.
inline constexpr int counting_max_cols = detail::cpu_counting_max_cols;

/// Reads keys [cols, counting_block_rows] and writes as many counts. What is counted per element:
/// average: smaller minus greater elements of the row; min: smaller ones; max: greater ones;
/// dense: distinct smaller values; ordinal: smaller ones, and equal ones in columns before.
/// Both arrays are aligned to 64 bytes.
template <class Lane>
using counting_kernel = void (*)(tie_method ties, const Lane* keys, int cols, Lane* counts);

/// The loops of one instruction set, by the lane that holds the keys: narrower is faster.
struct counting_kernels {
  counting_kernel<std::int8_t> bytes;
  counting_kernel<std::int16_t> shorts;
  counting_kernel<std::int32_t> words;
  counting_kernel<std::int64_t> longs;

  /// Writes value ^ flip of each element, less that of its row's first, to out, rows `pitch` bytes
  /// apart: `pitch` is a multiple of 16, and what is written past the columns has no meaning.
  /// Returns false, with `out` of no meaning, where one does not fit a byte.
  bool (*narrow)(const std::int32_t* values, index_t stride, int rows, int cols, std::int32_t flip,
                 std::int8_t* out, index_t pitch);
  /// out = scale * count + offset; counts lie as narrow() leaves keys.
  void (*widen)(const std::int8_t* counts, index_t pitch, int rows, int cols, double scale,
                double offset, double* out, index_t stride);

  template <class Lane>
  [[nodiscard]] counting_kernel<Lane> of() const {
    if constexpr (sizeof(Lane) == 1) return bytes;
    if constexpr (sizeof(Lane) == 2) return shorts;
    if constexpr (sizeof(Lane) == 4) return words;
    if constexpr (sizeof(Lane) == 8) return longs;
  }
};

/// The kernels for usable_instruction_set().
const counting_kernels& usable_counting_kernels();

namespace baseline {
extern const counting_kernels kernels;
}
namespace avx2 {
extern const counting_kernels kernels;
}
namespace avx512 {
extern const counting_kernels kernels;
}

}  // namespace gpu::cpu
