#pragma once
// scale_unit_row of stats/unit_rows.hpp, to the same bits, in a shape that vectorises.

#include <gpu/index.hpp>

#include "cpu/pairs/loops/kernels.hpp"
#include "stats/unit_rows.hpp"

namespace gpu::cpu {

/// Scales row[0 .. cols) in place; what follows up to the next multiple of 8 are zeros.
detail::row_kind make_unit_row(const pair_kernels& kernels, detail::row_centre centre, double* row,
                               index_t cols);

}  // namespace gpu::cpu
