#include "cuda/pairs/rows/row_memory.hpp"

#include "cuda_runtime/cuda_check.hpp"
#include "kernels/pairs/prepare/half_rows.hpp"
#include "kernels/pairs/prepare/kernels.hpp"
#include "kernels/pairs/products/multiply.hpp"

namespace gpu::cuda {
namespace {

using kernels::pair_tile_kind;

// What a row begins with that is `rows` behind the first; null of null.
template <class T>
T* behind(T* memory, index_t rows, std::size_t row_bytes) {
  if (memory == nullptr) return nullptr;
  return memory + rows * static_cast<index_t>(row_bytes / sizeof(T));
}

// The values of rows that begin `offset` behind the first.
const std::byte* values_of(const row_format& format, pair_tile_kind tile, index_t offset,
                           const row_memory& memory) {
  if (tile == pair_tile_kind::tensor_half) {
    return behind(memory.halves, offset, half_row_bytes(format));
  }
  if (takes_planes(tile)) return memory.products;  // of all rows
  return behind(memory.values, offset, format.row_bytes);
}

index_t unit_pitch(const row_format& format) {
  return kernels::unit_row_layout(format.cols).pitch();
}

kernels::half_plane_rows half_planes_of(const row_memory& memory) {
  return {memory.products, kernels::policy::half_plane_rows(memory.rows)};
}

}  // namespace

row_memory take_rows(const row_format& format, index_t rows, row_parts parts, arena& memory) {
  row_memory out{.rows = rows};
  out.square_sums = memory.take<std::int64_t>(rows);
  out.norms = memory.take<kernels::row_norm>(rows);
  const auto count = static_cast<std::size_t>(rows);
  if (parts.values) out.values = memory.take<std::byte>(count * format.row_bytes);
  if (parts.unit && format.unit_bytes != 0) {
    out.unit = memory.take<double>(count * format.unit_bytes / sizeof(double));
  }
  if (parts.rounding) out.rounding = memory.take<kernels::row_rounding>(rows);
  return out;
}

row_memory rows_from(const row_format& format, row_memory memory, index_t first) {
  memory.square_sums = behind(memory.square_sums, first, sizeof *memory.square_sums);
  memory.norms = behind(memory.norms, first, sizeof *memory.norms);
  memory.values = behind(memory.values, first, format.row_bytes);
  memory.unit = behind(memory.unit, first, format.unit_bytes);
  memory.rounding = behind(memory.rounding, first, sizeof *memory.rounding);
  return memory;
}

void copy_rows(const row_format& format, index_t rows, const row_memory& from, const row_memory& to,
               cudaStream_t stream) {
  const auto copy = [&](const auto* here, auto* there, std::size_t row_bytes) {
    if (here == nullptr || rows == 0) return;
    GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(
        there, here, static_cast<std::size_t>(rows) * row_bytes, cudaMemcpyDefault, stream));
  };
  copy(from.square_sums, to.square_sums, sizeof *from.square_sums);
  copy(from.norms, to.norms, sizeof *from.norms);
  copy(from.values, to.values, format.row_bytes);
  copy(from.unit, to.unit, format.unit_bytes);
  copy(from.rounding, to.rounding, sizeof *from.rounding);
}

std::size_t half_row_bytes(const row_format& format) {
  constexpr std::size_t bytes_of_half = 2;
  return static_cast<std::size_t>(kernels::half_pitch(unit_pitch(format))) * bytes_of_half;
}

std::size_t product_rows_bytes(const row_format& format, index_t rows) {
  return static_cast<std::size_t>(format.product_rows(rows)) * format.product_row_bytes();
}

index_t few_row_elements(const row_format& format, const detail::pair_area& area) {
  return area.rows.size() * unit_pitch(format);
}

kernels::product_memory ready_products(const kernels::few_rows& few, const detail::pair_area& area,
                                       detail::index_range rows, detail::index_range cols) {
  return {.sums = few.statistics,
          .first = (rows.begin - area.rows.begin) * few.pitch + cols.begin - area.cols.begin,
          .pitch = few.pitch,
          .parts = 1};
}

packed_rows place_of(const row_format& format, const row_memory& memory, index_t first,
                     std::byte* scratch) {
  return {.square_sums = memory.square_sums + first,
          .scratch = scratch,
          .values = behind(memory.values, first, format.row_bytes),
          .unit = behind(memory.unit, first, format.unit_bytes),
          .halves = half_planes_of(memory),
          .first = first,
          .few = memory.few};
}

kernels::pair_operand operand_of(const row_format& format, pair_tile_kind tile,
                                 detail::index_range rows, const row_memory& memory) {
  kernels::pair_operand out;
  const index_t offset = rows.begin - memory.first;
  const double* const unit = behind(memory.unit, offset, format.unit_bytes);
  // On rows made for tensor_float.
  const bool as_halves = tile == pair_tile_kind::tensor_half;
  const bool as_doubles = tile != format.tile && !as_halves && !takes_planes(tile);
  out.values = as_doubles ? reinterpret_cast<const std::byte*>(unit)
                          : values_of(format, tile, offset, memory);
  out.columns = as_doubles ? unit_pitch(format) : format.columns;
  out.limbs = format.limbs;
  out.centre = format.centre;
  out.pitch = as_doubles ? unit_pitch(format) : format.columns * format.limbs;
  if (tile == pair_tile_kind::tensor_float) out.pitch *= 2;  // two floats an element
  if (finishes_statistics(tile)) out.columns = format.cols;  // of which a packed row has more
  if (as_halves) out.pitch = kernels::half_pitch(unit_pitch(format));
  if (takes_planes(tile)) {
    out.columns = format.cols;
    out.plane_rows = tile == pair_tile_kind::products_half ? half_planes_of(memory).plane_rows
                                                           : format.product_rows(memory.rows);
  }
  out.norms = memory.norms + rows.begin;
  out.square_sums = memory.square_sums + rows.begin;
  out.unit_rows = unit;
  out.unit_pitch = unit_pitch(format);
  out.first = rows.begin;
  out.count = rows.size();
  return out;
}

kernels::screen_source screened_rows(const row_format& format, detail::index_range rows,
                                     const row_memory& memory) {
  kernels::screen_source out{.square_sums = memory.square_sums + rows.begin, .rows = rows.size()};
  if (memory.unit != nullptr) {
    out.pitch = unit_pitch(format);
    out.unit_rows = memory.unit + rows.begin * out.pitch;
  } else {
    out.pitch = format.columns;
    out.limb_count = format.limbs;
    out.limbs = reinterpret_cast<const std::int8_t*>(memory.values) +
                rows.begin * format.limbs * format.columns;
  }
  return out;
}

kernels::screen_ranks screened_ranks(const row_format& format, const row_memory& memory) {
  return {.ranks = reinterpret_cast<const std::int8_t*>(memory.values),
          .stride = format.columns * format.limbs,
          .cols = format.cols,
          .square_sums = memory.square_sums};
}

void measure_rounding(const row_format& format, detail::index_range rows, const row_memory& memory,
                      cudaStream_t stream) {
  kernels::launch_measure_rounding(screened_rows(format, rows, memory),
                                   memory.rounding + rows.begin, stream);
}

void split_unit_rows(const row_format& format, const row_memory& memory,
                     const kernels::norm_request& norms, cudaStream_t stream) {
  kernels::launch_split_floats(memory.unit, memory.rows, unit_pitch(format), format.columns,
                               reinterpret_cast<float*>(memory.values), norms, stream);
}

void halve_unit_rows(const row_format& format, const row_memory& memory, cudaStream_t stream) {
  kernels::launch_halve_rows(memory.unit, memory.rows, unit_pitch(format), memory.halves, stream);
}

void pack_product_rows(const row_format& format, const row_memory& memory, cudaStream_t stream) {
  const auto* const limbs = reinterpret_cast<const std::int8_t*>(memory.values);
  kernels::launch_pack_planes(limbs, memory.rows, format.limbs, format.columns, format.cols,
                              format.product_rows(memory.rows),
                              reinterpret_cast<std::int8_t*>(memory.products), stream);
}

void split_into_half_planes(const row_format& format, const row_memory& memory,
                            cudaStream_t stream) {
  kernels::launch_split_halves(memory.unit, memory.rows, format.cols, half_planes_of(memory),
                               stream);
  clear_half_planes(format, memory, stream);
}

void clear_half_planes(const row_format& format, const row_memory& memory, cudaStream_t stream) {
  kernels::launch_clear_half_rows(half_planes_of(memory), memory.rows, format.cols, stream);
}

}  // namespace gpu::cuda
