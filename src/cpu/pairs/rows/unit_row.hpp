#pragma once
// scale_pearson_row of stats/pearson_order.hpp, to the same bits, in a shape that vectorises.

#include <gpu/index.hpp>

#include "cpu/pairs/loops/kernels.hpp"
#include "stats/pearson_order.hpp"

namespace gpu::cpu {

/// Scales row[0 .. cols) in place; what follows up to `stride`, a multiple of 8, are zeros.
detail::row_kind make_unit_row(const pair_kernels& kernels, double* row, index_t cols,
                               index_t stride);

}  // namespace gpu::cpu
