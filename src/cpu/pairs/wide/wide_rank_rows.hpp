#pragma once
// Rows of so many ranks that sums of their products do not fit 32 bits.

#include <cstddef>
#include <memory>

#include "cpu/pairs/loops/kernels.hpp"
#include "cpu/pairs/rows/ordinary_ranks.hpp"
#include "cpu/pairs/rows/pair_rows.hpp"

namespace gpu::cpu {

/// Rows in the form cpu_rank_form::wide; Integer is int16 or int32.
template <class Integer>
std::unique_ptr<pair_rows> make_wide_rank_rows(ordinary_ranks<Integer> ranks,
                                               const row_layout& layout);
/// Bytes that a thread takes for statistics by products of doubles, of rows that may need them.
std::size_t wide_rank_scratch_bytes(index_t cols);

}  // namespace gpu::cpu
