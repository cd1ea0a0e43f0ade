#pragma once
// Rows of so many ranks that sums of their products do not fit 32 bits.

#include <cstddef>
#include <memory>

#include "cpu/pairs/loops/kernels.hpp"
#include "cpu/pairs/rows/pair_rows.hpp"
#include "cpu/pairs/rows/ranked_source.hpp"

namespace gpu::cpu {

/// Rows by exact sums of blocks (cpu_rank_form::products).
std::unique_ptr<pair_rows> make_product_rank_rows(ordinary_ranks<std::int16_t> ranks,
                                                  const row_layout& layout);
/// Bytes that a thread takes for the statistics of rows by rounded blocks.
std::size_t rounded_rank_scratch_bytes();
/// Rows by rounded blocks (cpu_rank_form::rounded); Integer is int16 or int32.
template <class Integer>
std::unique_ptr<pair_rows> make_rounded_rank_rows(ordinary_ranks<Integer> ranks,
                                                  const row_layout& layout);

}  // namespace gpu::cpu
