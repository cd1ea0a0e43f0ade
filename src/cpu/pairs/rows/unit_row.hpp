#pragma once
// scale_unit_row of stats/unit_rows.hpp, to the same bits, in a shape that vectorises.

#include <gpu/index.hpp>

#include "base/round_up.hpp"
#include "cpu/pairs/loops/kernels.hpp"
#include "stats/unit_rows.hpp"

namespace gpu::cpu {

/// Elements of a unit row of `cols` columns: zeros fill its last step of partial sums.
constexpr index_t unit_row_stride(index_t cols) {
  return round_up(cols, index_t{detail::partial_sums});
}

/// Makes a unit row of `values` [cols], which may be `row` itself, in row[0 .. cols), and zeros up
/// to unit_row_stride(cols).
template <class T>
detail::row_kind make_unit_row(const pair_kernels& kernels, detail::row_centre centre,
                               const T* values, double* row, index_t cols);

}  // namespace gpu::cpu
