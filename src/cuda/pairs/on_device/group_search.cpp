// Best partners in the caller's device memory, by the maxima of groups of rows: see
// kernels/pairs/neighbors.
#include <algorithm>

#include "cuda/pairs/engine.hpp"
#include "cuda/pairs/neighbor_query.hpp"
#include "cuda/pairs/on_device/sinks.hpp"

namespace gpu::cuda {
namespace {

using kernels::pair_tile_kind;

// Half of what a call with a host result may take, because it is part of the scratch of every call.
constexpr std::size_t most_maxima_bytes = std::size_t{512} << 20;
constexpr index_t unit = kernels::neighbor_row_multiple;

kernels::neighbor_rows packed_rows_of(detail::index_range rows, const call_shape& shape,
                                      std::uint8_t* tiles) {
  const bool values = shape.format.tile == pair_tile_kind::tensor_float;
  const index_t elements =
      values ? kernels::unit_row_layout(shape.format.cols).pitch() : shape.format.cols;
  return {.depth = kernels::neighbor_depth(elements),
          .rows = rows.size(),
          .padded_rows = (rows.size() + unit - 1) / unit * unit,
          .tiles = tiles,
          .first = rows.begin};
}
std::size_t bytes_of(const kernels::neighbor_rows& packed) {
  return static_cast<std::size_t>(packed.padded_rows * packed.depth);
}

template <class T>
void copy_rows(const T* from, device_matrix_view<T> to, index_t first, index_t rows,
               cudaStream_t stream) {
  const std::size_t row_bytes = static_cast<std::size_t>(to.cols()) * sizeof(T);
  GPU_SIMILARITY_CUDA_CHECK(cudaMemcpy2DAsync(
      to.row(first), static_cast<std::size_t>(to.row_stride()) * sizeof(T), from, row_bytes,
      row_bytes, static_cast<std::size_t>(rows), cudaMemcpyDeviceToDevice, stream));
}

}  // namespace

bool stream_group_search::takes(const call_shape& shape, const device_top_k_sink& sink) {
  const pair_tile_kind tile = shape.format.tile;
  return (tile == pair_tile_kind::tensor_int8 || tile == pair_tile_kind::tensor_float) &&
         shape.format.cols <= kernels::neighbor_most_columns &&
         sink.index.cols() <= kernels::neighbor_most_listed;
}

stream_group_search::stream_group_search(const call_shape& shape, const device_top_k_sink& sink,
                                         arena& memory)
    : shape_(shape), sink_(sink) {
  const kernels::neighbor_rows right = packed_rows_of(shape.area.cols, shape, nullptr);
  const kernels::neighbor_rows left = packed_rows_of(shape.area.rows, shape, nullptr);
  const bool one_table = shape.area.rows == shape.area.cols;
  pitch_ = maxima_pitch(kernels::neighbor_groups(right));
  const auto unit_bytes = static_cast<std::size_t>(unit * pitch_) * sizeof(std::uint16_t);
  const auto fitting =
      static_cast<index_t>(most_maxima_bytes / std::max<std::size_t>(unit_bytes, 1));
  block_rows_ = std::min(std::max<index_t>(fitting, 1) * unit, left.padded_rows);
  tiles_ = memory.take<std::uint8_t>(bytes_of(right) + (one_table ? 0 : bytes_of(left)));
  maxima_ = memory.take<std::uint16_t>(static_cast<std::size_t>(block_rows_ * pitch_));
  const index_t k = sink.index.cols();
  const auto entries = static_cast<std::size_t>(block_rows_ * k);
  index_ = memory.take<std::uint32_t>(sink.index.row_stride() == k ? 0 : entries);
  statistic_ = memory.take<double>(sink.statistic.row_stride() == k ? 0 : entries);
}

void stream_group_search::run(const stream_rows& rows, const detail::keep_range& keep,
                              cudaStream_t stream) const {
  const index_t k = sink_.index.cols();
  const pair_tile_kind tile = shape_.format.tile;
  const kernels::pair_operand source = rows.all(tile);
  const bool one_table = shape_.area.rows == shape_.area.cols;
  const kernels::neighbor_rows right = packed_rows_of(shape_.area.cols, shape_, tiles_);
  kernels::neighbor_rows left =
      packed_rows_of(shape_.area.rows, shape_, one_table ? tiles_ : tiles_ + bytes_of(right));
  kernels::launch_neighbor_pack(source, right, stream);
  if (!one_table) kernels::launch_neighbor_pack(source, left, stream);
  const kernels::neighbor_query query = make_query({.keep = keep, .k = k, .order = sink_.order});
  // Spearman's tensor variant is the one without warpgroups; Pearson has but the one name for both.
  const bool by_warpgroups =
      shape_.has_warpgroup_products &&
      (tile == pair_tile_kind::tensor_float || shape_.variant == pair_variant::hopper);
  const bool dense_index = sink_.index.row_stride() == k;
  const bool dense_statistic = sink_.statistic.row_stride() == k;
  for (index_t first = 0; first < left.rows; first += block_rows_) {
    const kernels::neighbor_block block{.left = left,
                                        .first = first,
                                        .count = std::min(block_rows_, left.padded_rows - first),
                                        .maxima = maxima_,
                                        .pitch = pitch_};
    if (by_warpgroups) {
      kernels::launch_neighbor_maxima(right, block, query.key, shape_.multiprocessors, stream);
    } else {
      kernels::launch_neighbor_maxima_mma(right, block, query.key, stream);
    }
    kernels::launch_neighbor_choice(
        source, right, block, query,
        {.index = dense_index ? sink_.index.row(first) : index_,
         .statistic = dense_statistic ? sink_.statistic.row(first) : statistic_,
         .count = sink_.count.data() + first},
        stream);
    const index_t there = std::min(block_rows_, left.rows - first);
    if (!dense_index) copy_rows(index_, sink_.index, first, there, stream);
    if (!dense_statistic) copy_rows(statistic_, sink_.statistic, first, there, stream);
  }
}

}  // namespace gpu::cuda
