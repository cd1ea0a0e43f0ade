#pragma once
// A packed row of ranks, and its ranks among the columns that a partner has too.

#include "kernels/pairs/kernels.hpp"
#include "kernels/pairs/pairwise/kernels.hpp"

namespace gpu::kernels {

struct rank_row {
  const std::uint32_t* present;  // bits
  const std::uint16_t* order;
  const std::uint16_t* below;
  const std::uint16_t* up_to;

  __device__ rank_row(const pair_operand& from, index_t row) {
    const pairwise_rank_layout layout{from.columns};
    const auto* const words = static_cast<const std::uint64_t*>(from.values) + row * from.pitch;
    present = reinterpret_cast<const std::uint32_t*>(words);
    order = reinterpret_cast<const std::uint16_t*>(words + layout.order());
    below = reinterpret_cast<const std::uint16_t*>(words + layout.below());
    up_to = reinterpret_cast<const std::uint16_t*>(words + layout.up_to());
  }
  [[nodiscard]] __device__ bool has(unsigned col) const {
    return (present[col / 32] >> (col % 32) & 1) != 0;
  }
};

// The places of a row, in the order of its values, whose columns the partner has.
struct shared_places {
  std::uint32_t* bits;    // [words]
  std::uint32_t* before;  // [words]: set bits of the words before

  __device__ int mark(const rank_row& row, const rank_row& partner, int cols, int words) const {
    const int lane = static_cast<int>(threadIdx.x % 32);
    int total = 0;
    for (int w = 0; w < words; ++w) {
      const int place = w * 32 + lane;
      const unsigned col = place < cols ? row.order[place] : no_column;
      const bool shared = col != no_column && partner.has(col);
      const unsigned word = __ballot_sync(0xffffffffu, shared);
      if (lane == 0) {
        bits[w] = word;
        before[w] = static_cast<std::uint32_t>(total);
      }
      total += __popc(word);
    }
    // A place behind the last.
    if (lane == 0) {
      bits[words] = 0;
      before[words] = static_cast<std::uint32_t>(total);
    }
    return total;
  }
  [[nodiscard]] __device__ int count_before(unsigned place) const {
    const unsigned within = bits[place / 32] & ((1u << (place % 32)) - 1);
    return static_cast<int>(before[place / 32]) + __popc(within);
  }
  // The centred rank of a value with so many values below it, and below it or equal.
  [[nodiscard]] __device__ int rank(unsigned below, unsigned up_to, int total) const {
    return count_before(below) + count_before(up_to) - total;
  }
};

}  // namespace gpu::kernels
