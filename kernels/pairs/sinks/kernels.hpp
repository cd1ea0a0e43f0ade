#pragma once
// Host-callable launches of what follows a tile with a sink: candidates are decided and sorted, and
// pairs that estimates left undecided are counted. Asynchronous on `stream`.

#include <cuda_runtime_api.h>

#include <bit>
#include <cstddef>
#include <cstdint>

#include <gpu/index.hpp>

#include "base/keep_range.hpp"
#include "kernels/pairs/kernels.hpp"

namespace gpu::kernels {

/// The key of a pair as one number that sorts by (row, column): (row - first_row) << col_bits |
/// (col - first_col), `bits` wide, so that a sort looks at no more bits than there are.
struct edge_key_layout {
  std::uint32_t first_row = 0;
  std::uint32_t first_col = 0;
  int col_bits = 32;
  int bits = 64;

  /// Of the pairs of rows [first_row, end_row) with columns [first_col, first_col + count).
  static constexpr edge_key_layout of_rows(index_t first_row, index_t end_row, index_t first_col,
                                           index_t count) {
    const auto width = [](index_t values) {
      return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(values - 1)));
    };
    edge_key_layout out;
    out.first_row = static_cast<std::uint32_t>(first_row);
    out.first_col = static_cast<std::uint32_t>(first_col);
    out.col_bits = width(count);
    // One more bit, so that a dropped key, whose bits are all ones, sorts behind every pair.
    out.bits = out.col_bits + width(end_row - first_row) + 1;
    out.bits = out.bits < 64 ? out.bits : 64;
    return out;
  }
  [[nodiscard]] GPU_SIMILARITY_HOST_DEVICE constexpr std::uint64_t of(std::uint32_t row,
                                                                      std::uint32_t col) const {
    return std::uint64_t{row - first_row} << col_bits | (col - first_col);
  }
  [[nodiscard]] GPU_SIMILARITY_HOST_DEVICE constexpr std::uint32_t row_of(std::uint64_t key) const {
    return static_cast<std::uint32_t>(key >> col_bits) + first_row;
  }
  /// Counted from first_col.
  [[nodiscard]] GPU_SIMILARITY_HOST_DEVICE constexpr std::uint32_t col_of(std::uint64_t key) const {
    return static_cast<std::uint32_t>(key & ((std::uint64_t{1} << col_bits) - 1));
  }
  /// Sorts behind every pair.
  [[nodiscard]] GPU_SIMILARITY_HOST_DEVICE constexpr std::uint64_t dropped() const {
    return ~std::uint64_t{0} >> (64 - bits);
  }
};

/// What candidates are, and which of them are kept.
struct candidate_decision {
  pair_tile_kind tile;  ///< That found them.
  pair_operand rows;    ///< Covers every candidate, as row and as column.
  detail::pair_cut keep;
  edge_key_layout layout = {};
};

/// Turns products into statistics in place (double bits) and decides exactly: keys row << 32 | col
/// become those of the layout, or its dropped() where a candidate is not kept. Products of
/// tensor_float, tensor_half and products_half are computed anew in double from the unit rows.
struct finish_request {
  candidate_decision what;
  std::uint64_t* keys;
  std::uint64_t* values;
  std::uint64_t count;       ///< Candidates, or places for them.
  unsigned long long* kept;  ///< Increased by the number kept; null: nobody asks.
  /// In device memory, the candidates in these places where the host does not know it: the keys of
  /// the places behind become dropped(). Null: there are `count`.
  const unsigned long long* found = nullptr;
};
void launch_finish_candidates(const finish_request& request, cudaStream_t stream);

/// Decides the pairs of a queue by statistics from the unit rows of `rows`, which has all rows of
/// the input, and counts those that are kept, as count_sink_args does.
struct count_undecided_request {
  pair_operand rows;
  detail::keep_range keep;
  undecided_queue from;
  unsigned long long* kept;
  std::uint32_t* degree;
};
void launch_count_undecided(const count_undecided_request& request, cudaStream_t stream);

/// Scratch bytes that sort_candidates needs.
std::size_t sort_scratch_bytes(std::uint64_t count);
/// Sorts (keys, values) ascending by key, of which `bits` are looked at, between two pairs of
/// buffers, of which the first holds the input; returns which of the two, 0 or 1, holds the result.
int sort_candidates(void* scratch, std::size_t scratch_bytes, std::uint64_t* const (&keys)[2],
                    std::uint64_t* const (&values)[2], std::uint64_t count, int bits,
                    cudaStream_t stream);

}  // namespace gpu::kernels
