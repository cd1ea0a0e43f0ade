#pragma once
// The inner loops of Kendall's tau on packed signs, compiled once per instruction set and chosen at
// run time.
//
// Layout. A row of m columns has a sign of x_j - x_i for all i < j, as two planes of bits, 64 to a
// word: whether x_j < x_i, and whether they differ. Rows in their role as columns lie in groups of
// eight, [group][word][2 planes][8 rows]; those in their role as rows one by one, [row][word][2
// planes].

#include <cstdint>

#include <gpu/index.hpp>

#include "base/round_up.hpp"

namespace gpu::cpu {

inline constexpr index_t sign_lanes = 8;
inline constexpr index_t sign_planes = 2;
/// Values that pack_signs may read behind those of a row.
inline constexpr index_t sign_value_padding = 64;

/// Words of a plane of a row.
[[nodiscard]] constexpr index_t sign_words(index_t cols) {
  return (cols * (cols - 1) / 2 + 63) / 64;
}

/// A piece of some words of a block of pairs.
struct sign_block {
  const std::uint64_t* columns =
      nullptr;               ///< The first group, from the first word of the piece on.
  index_t group_stride = 0;  ///< Words from one group to the next.
  index_t groups = 0;
  const std::uint64_t* rows = nullptr;  ///< [rows, words, 2]
  index_t row_count = 0;
  index_t words = 0;
  bool rows_are_tied = false;                   ///< Any of them.
  const std::uint8_t* group_is_tied = nullptr;  ///< [groups]: any row of it.
  std::int32_t* sums = nullptr;                 ///< [rows, 8 groups]
  index_t stride = 0;
};

struct sign_kernels {
  /// The two planes of a row of distinct or equal values, each of sign_words(cols) words, which are
  /// zeros before the call.
  void (*pack_signs)(const std::uint16_t* values, index_t cols, std::uint64_t* less,
                     std::uint64_t* differ) = nullptr;
  /// Adds to each sum what makes it S, where it began as follows: with the signs of the column that
  /// are not 0 where no row of the block has ties; else with those of the row where the column's
  /// group has none; else with 0.
  void (*add_sums)(const sign_block& block) = nullptr;
  /// Rows of more columns are faster by sorting.
  index_t most_cols = 0;
};

/// The best that this machine runs, or that GPU_SIMILARITY_CPU_LEVEL allows.
const sign_kernels& usable_sign_kernels();

extern const sign_kernels baseline_sign_kernels;
extern const sign_kernels avx2_sign_kernels;
extern const sign_kernels avx512_sign_kernels;

}  // namespace gpu::cpu
