// Where the pieces of packed rows with missing values stand: none overlaps another, and each has
// room for all columns. And what is written of their pairs.

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "kernels/pairs/pairwise/kernels.hpp"
#include "support/catch.hpp"

using gpu::index_t;

namespace {

constexpr index_t piece = 8;  // bytes

// Bytes [begin, end) of a row.
struct bytes {
  index_t begin;
  index_t end;
};

// Something that begins at a piece, and takes so many bytes.
bytes part(index_t at, index_t size) {
  return {at * piece, at * piece + size};
}

// Whether the parts stand in this order, and nothing is between two of them but what fills up a
// piece, and behind the last but what fills up `fill` pieces.
bool stand_together(std::initializer_list<bytes> parts, index_t pitch, index_t fill) {
  index_t end = 0;
  for (const bytes& one : parts) {
    if (one.begin < end || one.begin - end >= piece) return false;
    end = one.end;
  }
  return pitch * piece >= end && pitch * piece - end < fill * piece && pitch % fill == 0;
}

index_t mask_bytes(index_t cols) {
  index_t bits = 0;
  while (bits < cols) bits += 64;  // whole pieces
  return bits / 8;
}

}  // namespace

TEST_CASE("Pieces of packed rows with missing values stand together", "[missing]") {
  std::vector<index_t> all;
  for (index_t cols = 1; cols <= 260; ++cols) all.push_back(cols);
  all.insert(all.end(), {4095, 4096, 65'533, 65'534});
  for (const index_t cols : all) {
    INFO(cols << " columns");
    CHECK(gpu::kernels::mask_words(cols) * piece == mask_bytes(cols));
    CHECK(gpu::kernels::column_places(cols) >= cols);
    const index_t numbers = gpu::kernels::column_places(cols) * 2;
    const gpu::kernels::pairwise_rank_layout ranks{cols};
    CHECK(stand_together({part(0, mask_bytes(cols)), part(ranks.order(), numbers),
                          part(ranks.below(), numbers), part(ranks.up_to(), numbers)},
                         ranks.pitch(), 1));
    const gpu::kernels::pairwise_value_layout values{cols};
    CHECK(stand_together(
        {part(0, 8 * cols), part(values.raw(), 8 * cols), part(values.mask(), mask_bytes(cols))},
        values.pitch(), 2));
  }
}

TEST_CASE("Only cuts of statistics drop pairs with missing values", "[missing]") {
  const gpu::detail::keep_range cut{.at_least = 0.5, .at_most = -0.5};
  const gpu::stats::p_table table{};
  CHECK_FALSE(gpu::kernels::pairwise_decision{}.writes_p());
  CHECK_FALSE(gpu::kernels::pairwise_decision{}.drops_pairs());
  CHECK_FALSE(gpu::kernels::pairwise_decision{.cuts = &cut}.writes_p());
  CHECK(gpu::kernels::pairwise_decision{.cuts = &cut}.drops_pairs());
  CHECK(gpu::kernels::pairwise_decision{.tables = &table}.writes_p());
  CHECK_FALSE(gpu::kernels::pairwise_decision{.tables = &table}.drops_pairs());
}
