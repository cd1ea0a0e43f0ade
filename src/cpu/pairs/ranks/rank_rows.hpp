#pragma once
// Rows of ranks that are searched, in the form that their length asks for.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cpu/pairs/rows/ordinary_ranks.hpp"
#include "cpu/pairs/rows/pair_rows.hpp"

namespace gpu::cpu {

/// Ranks with what their searches compare: sums of squares as Square, and lengths.
template <class Integer, class Square>
struct searched_ranks : ordinary_ranks<Integer> {
  std::vector<Square> squares;  // rounded as rho_of rounds them
  std::vector<double> lengths;

  explicit searched_ranks(ordinary_ranks<Integer> ranks)
      : ordinary_ranks<Integer>(std::move(ranks)),
        squares(this->square_sums.begin(), this->square_sums.end()),
        lengths(this->square_sums.size()) {
    std::transform(this->square_sums.begin(), this->square_sums.end(), lengths.begin(),
                   [](std::int64_t sum) { return std::sqrt(static_cast<double>(sum)); });
  }
};

/// Rows in the forms cpu_row_form::bytes and short_sums; Integer is int8 or int16.
template <class Integer>
std::unique_ptr<pair_rows> make_packed_rank_rows(ordinary_ranks<Integer> ranks,
                                                 const row_layout& layout);
/// Rows in the form cpu_row_form::wide; Integer is int16 or int32.
template <class Integer>
std::unique_ptr<pair_rows> make_wide_rank_rows(ordinary_ranks<Integer> ranks,
                                               const row_layout& layout);
/// Bytes that a thread takes for statistics by products of doubles, of wide rows that may need
/// them.
std::size_t wide_rank_scratch_bytes(index_t cols);

}  // namespace gpu::cpu
