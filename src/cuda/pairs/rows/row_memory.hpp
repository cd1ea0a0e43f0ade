#pragma once
// Where the prepared rows of an input lie in device memory, and what is made of them there. A host
// result keeps that memory between its steps (device_rows), a device result takes it from the
// scratch of its call (stream_rows).

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "cuda/pairs/rows/pack_rows.hpp"
#include "cuda/pairs/rows/row_format.hpp"
#include "cuda_runtime/arena.hpp"
#include "cuda_runtime/index_range.hpp"
#include "kernels/pairs/kernels.hpp"
#include "kernels/pairs/prepare/kernels.hpp"
#include "kernels/pairs/screen/kernels.hpp"
#include "pairs/area.hpp"

namespace gpu::cuda {

/// Prepared rows of one format. What the format does not have, or has not yet, is null.
struct row_memory {
  index_t rows = 0;   ///< Of the input.
  index_t first = 0;  ///< The row that `values` begin with: 0, or that of a block.
  std::int64_t* square_sums = nullptr;        ///< [rows]
  kernels::row_norm* norms = nullptr;         ///< [rows]
  std::byte* values = nullptr;                ///< [rows], format.row_bytes each.
  double* unit = nullptr;                     ///< [rows], format.unit_bytes each.
  std::byte* halves = nullptr;                ///< [rows], half_row_bytes() each.
  std::byte* products = nullptr;              ///< Rows as products take them.
  kernels::row_rounding* rounding = nullptr;  ///< [rows], of a format that is rounded.
  kernels::few_rows few = {};                 ///< Of a format that is ready.
};

/// What of row_memory rows need besides norms and square sums.
struct row_parts {
  bool values = false;
  bool unit = false;
  bool rounding = false;
};
/// Takes the memory of `rows` rows. Halves and products come later, where they are wanted.
row_memory take_rows(const row_format& format, index_t rows, row_parts parts, arena& memory);
/// The rows from `first` on, which may lie before the first.
row_memory rows_from(const row_format& format, row_memory memory, index_t first);
/// Copies `rows` rows, as far as `from` has them.
void copy_rows(const row_format& format, index_t rows, const row_memory& from, const row_memory& to,
               cudaStream_t stream);

/// Bytes of a row as tensor_half takes it.
std::size_t half_row_bytes(const row_format& format);
/// Bytes of the rows as products take them.
std::size_t product_rows_bytes(const row_format& format, index_t rows);

/// Doubles of the unit rows of x, of a format that is ready.
index_t few_row_elements(const row_format& format, const detail::pair_area& area);
/// A panel's statistics that are ready, of rows from `rows.begin` on with columns from `cols.begin`
/// on.
kernels::product_memory ready_products(const kernels::few_rows& few, const detail::pair_area& area,
                                       detail::index_range rows, detail::index_range cols);

/// Where pack_rows writes a block that begins with row `first`, by `scratch` memory.
packed_rows place_of(const row_format& format, const row_memory& memory, index_t first,
                     std::byte* scratch);

/// Rows [rows.begin, rows.end) as `tile` takes them, the format's own or one that decides, or
/// shared_double, tensor_half or products_half on rows made for tensor_float.
kernels::pair_operand operand_of(const row_format& format, kernels::pair_tile_kind tile,
                                 detail::index_range rows, const row_memory& memory);

/// Rows as the screen of rounded rows takes them, of a format that is rounded.
kernels::screen_source screened_rows(const row_format& format, detail::index_range rows,
                                     const row_memory& memory);
/// Every row as the screen of exact ranks takes it, of ranks of 8 bits.
kernels::screen_ranks screened_ranks(const row_format& format, const row_memory& memory);
/// Measures how rows of a format that is rounded are rounded.
void measure_rounding(const row_format& format, detail::index_range rows, const row_memory& memory,
                      cudaStream_t stream);

/// Makes the values of tensor_float of the unit rows.
void split_unit_rows(const row_format& format, const row_memory& memory,
                     const kernels::norm_request& norms, cudaStream_t stream);
/// Makes the halves of tensor_half of the unit rows.
void halve_unit_rows(const row_format& format, const row_memory& memory, cudaStream_t stream);
/// Makes the rows that products of limbs take.
void pack_product_rows(const row_format& format, const row_memory& memory, cudaStream_t stream);
/// Those of products of halves, from the unit rows.
void split_into_half_planes(const row_format& format, const row_memory& memory,
                            cudaStream_t stream);
/// The zeros that their planes have behind the rows, where pack_rows wrote these.
void clear_half_planes(const row_format& format, const row_memory& memory, cudaStream_t stream);

}  // namespace gpu::cuda
