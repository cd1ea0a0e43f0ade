#pragma once
// Unit rows split into two halves, as the products in single precision take them.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include <gpu/index.hpp>
#include <gpu/matrix_view.hpp>

#include "plan/products/product_policy.hpp"
#include "stats/unit_rows.hpp"

namespace gpu::kernels {

/// Where they lie: cells of 32 columns, each the same 128 bytes of all rows, see
/// common/half_tile.cuh. Elements are scaled by half_scale and zero behind the last column.
struct half_plane_rows {
  std::byte* data = nullptr;
  index_t plane_rows = 0;  ///< Rows of a cell, policy::half_plane_rows() of all rows.
};

/// Elements of a unit row are at most 1 in magnitude, so that their high halves do not overflow;
/// what the low halves leave of an element is below 2^-39.
inline constexpr double half_scale = 32768;

/// Scales rows of `data` to unit length and splits them, without the doubles in between: rows
/// [first, first + data.rows()) of `out`. square_sums[i] of row i of `data` as in launch_unit_rows.
/// Sums have an order of their own, so elements differ from those of launch_unit_rows by some
/// roundings of a double.
template <class T>
void launch_half_rows(device_matrix_view<const T> data, detail::row_centre centre,
                      const half_plane_rows& out, index_t first, std::int64_t* square_sums,
                      cudaStream_t stream);

/// Splits unit rows [rows, unit_row_layout(cols).pitch()].
void launch_split_halves(const double* unit_rows, index_t rows, index_t cols,
                         const half_plane_rows& out, cudaStream_t stream);

/// Zeros in rows [rows, out.plane_rows).
void launch_clear_half_rows(const half_plane_rows& out, index_t rows, index_t cols,
                            cudaStream_t stream);

}  // namespace gpu::kernels
