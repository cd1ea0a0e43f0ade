#pragma once
// Ranks whose sums of products fit 32 bits.

#include <memory>

#include "cpu/pairs/rows/ordinary_ranks.hpp"
#include "cpu/pairs/rows/pair_rows.hpp"

namespace gpu::cpu {

/// Rows by kernels (cpu_rank_form::bytes and short_sums); Integer is int8 or int16.
template <class Integer>
std::unique_ptr<pair_rows> make_packed_rank_rows(ordinary_ranks<Integer> ranks,
                                                 const row_layout& layout);

}  // namespace gpu::cpu
