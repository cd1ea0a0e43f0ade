#pragma once
// Rows that are prepared on the caller's stream, in the call's scratch memory. Nothing here waits,
// and what is launched depends on extents alone.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>

#include "cuda/pairs/programs/call_shape.hpp"
#include "cuda/pairs/programs/screen_search.hpp"
#include "cuda/pairs/rows/row_format.hpp"
#include "cuda/pairs/rows/row_memory.hpp"
#include "cuda_runtime/arena.hpp"
#include "kernels/pairs/on_device/kernels.hpp"
#include "kernels/pairs/prepare/kernels.hpp"
#include "pairs/on_device.hpp"

namespace gpu::cuda {

/// Of a call on the current device, whose statistics may be `ready` with its rows. Throws
/// gpu::unsupported where its variant is not offered.
call_shape shape_of(const detail::device_pair_call& call, bool may_be_ready);

/// What a sink needs beside the rows.
enum class row_extra {
  none,
  dense,         ///< None: statistics that are computed while rows are prepared are the result.
  dense_floats,  ///< The same, else split_floats.
  split_floats,  ///< The values of tensor_float, where that tile decides pairs.
  screens,       ///< These, and how rows are rounded for a screen.
  estimates      ///< These, or the planes of products_half.
};

/// The tile that decides the pairs of a sink. A screen that comes first leaves it rows with many
/// pairs that are kept, whose statistics are wanted in double.
inline kernels::pair_tile_kind deciding_tile_of(const row_format& format, row_extra extra) {
  const bool is_behind_screen =
      extra == row_extra::screens && format.rounded && format.double_products;
  return is_behind_screen ? format.exact_tile() : format.deciding_tile();
}

class stream_rows {
 public:
  /// Takes its memory.
  stream_rows(const call_shape& shape, row_extra extra, arena& memory);

  /// Ranks or scales, and packs, the rows of x with those of y behind them; and sets what the sink
  /// wants so to zero.
  void prepare(const detail::pair_tables& tables, const kernels::zeroed_words& zeros,
               cudaStream_t stream) const;
  /// Where statistics go that are computed while rows are prepared, of row_extra::dense.
  void write_to(device_matrix_view<double> out) {
    memory_.few.statistics = out.data();
    memory_.few.pitch = out.row_stride();
  }
  void write_to(device_matrix_view<float> out) {
    memory_.few.floats = out.data();
    memory_.few.pitch = out.row_stride();
  }
  /// The others, row by row.
  [[nodiscard]] const double* statistics() const { return memory_.few.statistics; }
  /// Rows as `tile` takes them.
  [[nodiscard]] kernels::pair_operand operand(detail::index_range rows,
                                              kernels::pair_tile_kind tile) const;
  [[nodiscard]] kernels::pair_operand all(kernels::pair_tile_kind tile) const {
    return operand({0, shape_.rows}, tile);
  }
  /// What a screen draws from, of row_extra::screens.
  [[nodiscard]] screen_origin screened(kernels::screen_operand operand) const;
  [[nodiscard]] const std::int64_t* square_sums() const { return memory_.square_sums; }
  /// What the tile signs writes of a pair, from now on: tau, before that.
  void decide_by(const stats::kendall_decision& decision) { tied_ = decision; }

  /// Launches a tile with its sink over the pairs of `rows` with the area's columns in `region`.
  template <class Sink>
  void launch(const tile_step<Sink>& step, detail::index_range rows, kernels::pair_region region,
              cudaStream_t stream) const {
    for_each_panel(rows, region, step.tile,
                   [&](const kernels::pair_panel& panel) { step.launch(panel, stream); });
  }

 private:
  void for_each_panel(detail::index_range rows, kernels::pair_region region,
                      kernels::pair_tile_kind tile,
                      const std::function<void(const kernels::pair_panel&)>& launch) const;
  // Rows as products take them: those of products_half where these are made beside unit rows.
  [[nodiscard]] row_format product_format() const;
  void prepare_table(const device_table_view& table, index_t first, cudaStream_t stream) const;

  const call_shape& shape_;
  bool halves_too_;
  bool splits_;
  index_t block_rows_;  // that are prepared by one launch
  row_memory memory_;
  std::byte* scratch_;   // of a block
  std::byte* gathered_;  // its rows, where they are not read in place
  kernels::product_memory products_;
  stats::kendall_decision tied_;
};

}  // namespace gpu::cuda
