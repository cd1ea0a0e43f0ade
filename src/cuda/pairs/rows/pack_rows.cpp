#include "cuda/pairs/rows/pack_rows.hpp"

#include <stdexcept>

#include "base/element_types.hpp"
#include "base/round_up.hpp"
#include "cuda_runtime/device_buffer.hpp"
#include "kernels/pairs/pairwise/kernels.hpp"
#include "kernels/pairs/prepare/kernels.hpp"
#include "kernels/pairs/prepare/transform_rows.hpp"
#include "kernels/pairs/signs/kernels.hpp"
#include "kernels/rank/kernels.hpp"

namespace gpu::cuda {
namespace {

using detail::measure_traits;
using kernels::pair_tile_kind;

template <class T, class Integer>
void pack_ranks(const row_format& format, device_matrix_view<const T> block, const packed_rows& to,
                cudaStream_t stream) {
  if (format.tile != pair_tile_kind::tensor_limbs) {
    const device_matrix_view<Integer> ranks(reinterpret_cast<Integer*>(to.values), block.rows(),
                                            format.columns);
    return kernels::launch_centred_ranks<T, Integer>(block, ranks, to.square_sums, stream);
  }
  const device_matrix_view<Integer> ranks(reinterpret_cast<Integer*>(to.scratch), block.rows(),
                                          round_up(format.cols, 8));
  kernels::launch_centred_ranks<T, Integer>(block, ranks, to.square_sums, stream);
  if constexpr (sizeof(Integer) > 1) {
    kernels::launch_split_limbs<Integer>(ranks, format.cols, format.limbs, format.columns,
                                         reinterpret_cast<std::int8_t*>(to.values), stream);
  }
}

// The rows of `block` as doubles, transformed: [rows, cols] at `out`.
template <class T>
device_matrix_view<const double> transform_rows(const measure_traits& what,
                                                device_matrix_view<const T> block, double* out,
                                                cudaStream_t stream) {
  kernels::launch_gather(block, nullptr, block.cols(), out, stream);
  switch (what.transform) {
    case detail::row_transform::none:
      break;
    case detail::row_transform::biweight:
      kernels::launch_biweight_rows(out, block.rows(), block.cols(), stream);
      break;
  }
  return {out, block.rows(), block.cols()};
}

}  // namespace

std::size_t scratch_row_bytes(const measure_traits& what, const row_format& format) {
  if (what.transform != detail::row_transform::none) {
    return static_cast<std::size_t>(format.cols) * sizeof(double);
  }
  if (format.tile != pair_tile_kind::tensor_limbs &&
      format.tile != pair_tile_kind::naive_spearman) {
    return 0;
  }
  const auto pitch = static_cast<std::size_t>(round_up(format.cols, 8));
  return pitch * (format.cols <= int16_rank_columns ? 2 : 4);
}

namespace {

// Rows of x become unit rows, those of y behind them statistics.
template <class T>
void pack_ready(const row_format& format, device_matrix_view<const T> block, const packed_rows& to,
                cudaStream_t stream) {
  const index_t of_y = to.first - to.few.count;
  if (of_y >= 0) {
    return kernels::launch_multiply_few_rows<T>(block, format.centre, to.few, of_y, to.square_sums,
                                                stream);
  }
  kernels::launch_unit_rows<T>(
      block, format.centre,
      to.few.unit_rows + to.first * kernels::unit_row_layout(format.cols).pitch(), to.square_sums,
      stream);
}

template <class T>
void pack_as_they_are(const row_format& format, device_matrix_view<const T> block,
                      const packed_rows& to, cudaStream_t stream) {
  switch (format.tile) {
    case pair_tile_kind::naive_spearman: {
      // The ranks themselves are only needed for their sums of squares.
      const device_matrix_view<std::int16_t> ranks(reinterpret_cast<std::int16_t*>(to.scratch),
                                                   block.rows(), round_up(format.cols, 8));
      kernels::launch_centred_ranks<T, std::int16_t>(block, ranks, to.square_sums, stream);
      kernels::launch_gather(block, nullptr, block.cols(), reinterpret_cast<double*>(to.values),
                             stream);
      kernels::launch_flag_nan_rows<T>(block, to.square_sums, stream);
      break;
    }
    case pair_tile_kind::naive_pearson: {
      device_buffer<double> rows(
          static_cast<std::size_t>(block.rows() * kernels::unit_row_layout(format.cols).pitch()),
          stream);
      kernels::launch_unit_rows<T>(block, format.centre, rows.data(), to.square_sums, stream);
      kernels::launch_gather(block, nullptr, block.cols(), reinterpret_cast<double*>(to.values),
                             stream);
      break;
    }
    case pair_tile_kind::pairwise_ranks:
      kernels::launch_pack_pairwise_ranks<T>(block, format.least_shared,
                                             reinterpret_cast<std::uint64_t*>(to.values),
                                             to.square_sums, stream);
      break;
    case pair_tile_kind::pairwise_values:
      kernels::launch_pack_pairwise_values<T>(block, format.least_shared, format.centre,
                                              reinterpret_cast<std::uint64_t*>(to.values),
                                              to.square_sums, stream);
      break;
    case pair_tile_kind::signs:
      kernels::launch_pack_signs<T>(block, to.values, to.square_sums, stream);
      break;
    case pair_tile_kind::shared_double:
      if (format.ready) return pack_ready<T>(format, block, to, stream);
      kernels::launch_unit_rows<T>(block, format.centre, reinterpret_cast<double*>(to.values),
                                   to.square_sums, stream);
      break;
    case pair_tile_kind::products_half:
      kernels::launch_half_rows<T>(block, format.centre, to.halves, to.first, to.square_sums,
                                   stream);
      break;
    case pair_tile_kind::tensor_float:
      kernels::launch_unit_rows<T>(block, format.centre, to.unit, to.square_sums, stream);
      break;
    case pair_tile_kind::shared_int8:
    case pair_tile_kind::tensor_int8:
    case pair_tile_kind::tensor_limbs:
      if (format.cols <= int8_rank_columns) {
        pack_ranks<T, std::int8_t>(format, block, to, stream);
      } else if (format.cols <= int16_rank_columns) {
        pack_ranks<T, std::int16_t>(format, block, to, stream);
      } else {
        pack_ranks<T, std::int32_t>(format, block, to, stream);
      }
      kernels::launch_flag_nan_rows<T>(block, to.square_sums, stream);
      break;
    case pair_tile_kind::tensor_half:
    case pair_tile_kind::tensor_double:
    case pair_tile_kind::products_double:
    case pair_tile_kind::products_limbs:
      throw std::logic_error("pack_rows: a tile whose rows are made from those of another");
  }
}

}  // namespace

template <class T>
void pack_rows(const measure_traits& what, const row_format& format,
               device_matrix_view<const T> block, const packed_rows& to, cudaStream_t stream) {
  if (what.transform == detail::row_transform::none) {
    return pack_as_they_are<T>(format, block, to, stream);
  }
  const auto rows = transform_rows<T>(what, block, reinterpret_cast<double*>(to.scratch), stream);
  pack_as_they_are<double>(format, rows, to, stream);
}

#define GPU_SIMILARITY_INSTANTIATE(T)                                  \
  template void pack_rows<T>(const measure_traits&, const row_format&, \
                             device_matrix_view<const T>, const packed_rows&, cudaStream_t);

GPU_SIMILARITY_FOR_EACH_ELEMENT_TYPE(GPU_SIMILARITY_INSTANTIATE)

}  // namespace gpu::cuda
