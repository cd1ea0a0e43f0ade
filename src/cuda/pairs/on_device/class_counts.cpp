// Counts ranked rows class by class, with the result in device memory, by the kernels of
// kernels/pairs/classes.
#include <algorithm>
#include <cmath>

#include "cuda/pairs/area_walk.hpp"
#include "cuda/pairs/hopper/class_counting.hpp"
#include "cuda/pairs/on_device/fast_counts.hpp"
#include "kernels/pairs/screen/kernels.hpp"

namespace gpu::cuda {
namespace {

// Places to provide for rows: a layout that needs more is of no use.
index_t most_places(index_t rows, bool binned) {
  constexpr index_t block = kernels::count_block_rows;
  const double growth = std::sqrt(most_class_growth(binned));
  const auto grown = static_cast<index_t>(std::ceil(growth * static_cast<double>(rows)));
  // Every class has at least one row.
  const index_t places = std::min(std::max(grown, always_padded_rows), rows * block);
  return (places + block - 1) / block * block;
}

}  // namespace

bool stream_class_counts::takes(const call_shape& shape) {
  return shape.fast_counts && shape.variant == pair_variant::hopper &&
         shape.format.tile == kernels::pair_tile_kind::tensor_int8 && !is_thin(shape.area);
}

stream_class_counts::stream_class_counts(const call_shape& shape, bool binned, arena& memory)
    : shape_(shape) {
  const index_t padded = most_places(shape.rows, binned);
  const auto places = static_cast<std::size_t>(padded);
  const auto blocks = static_cast<std::size_t>(padded / kernels::count_block_rows);
  const auto chunks = static_cast<std::size_t>(kernels::class_chunks(padded));
  const auto depth = static_cast<std::size_t>(kernels::count_depth(shape.format.cols));
  order_ = memory.take<std::uint32_t>(static_cast<std::size_t>(shape.rows));
  temporary_ = memory.take<std::byte>(
      std::max(kernels::screen_order_bytes(shape.rows), kernels::class_layout_bytes(shape.rows)));
  target_ = {.padded_rows = padded,
             .most_growth = most_class_growth(binned),
             .always_padded_rows = always_padded_rows,
             .slots = memory.take<std::uint32_t>(places),
             .square_sums = memory.take<int>(blocks),
             .panels = memory.take<kernels::count_panel>(blocks),
             .items_before = memory.take<index_t>(chunks + 1),
             .first_panel = memory.take<std::uint32_t>(chunks),
             .extents = memory.take<kernels::class_extents>(1),
             .is_of_use = memory.take<std::uint32_t>(1)};
  tiles_ = memory.take<std::uint8_t>(places * depth);
  packed_degree_ = memory.take<std::uint32_t>(places);
}

void stream_class_counts::run(const stream_rows& rows, const detail::keep_range& keep,
                              const kernels::bin_sink_args& binning, const count_totals& to,
                              cudaStream_t stream) const {
  const kernels::pair_operand all = rows.all(shape_.format.tile);
  const index_t cols = shape_.format.cols;
  const kernels::class_source source{.square_sums = all.square_sums,
                                     .order = order_,
                                     .rows = shape_.rows,
                                     .sides = sides_of(shape_.area, {}).rows};
  kernels::launch_screen_order(all.square_sums, shape_.rows, source.sides, largest_square_sum(cols),
                               order_, temporary_, stream);
  kernels::launch_class_layout(source, target_, temporary_, stream);
  const kernels::class_rows packed{.depth = kernels::count_depth(cols),
                                   .padded_rows = target_.padded_rows,
                                   .extents = target_.extents,
                                   .slots = target_.slots,
                                   .tiles = tiles_,
                                   .square_sums = target_.square_sums,
                                   .panels = target_.panels,
                                   .items_before = target_.items_before,
                                   .first_panel = target_.first_panel};
  kernels::launch_class_pack({.ranks = static_cast<const std::int8_t*>(all.values),
                              .stride = all.pitch,
                              .cols = cols,
                              .square_sums = all.square_sums},
                             packed, stream);
  GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(
      packed_degree_, 0, static_cast<std::size_t>(target_.padded_rows) * sizeof *packed_degree_,
      stream));
  count_class_items(packed, cols, keep, binning, 0, kernels::class_items(target_.padded_rows),
                    packed_degree_, shape_.multiprocessors, stream);
  kernels::launch_class_degrees(packed, packed_degree_, to.degree, to.ends, stream);
}

}  // namespace gpu::cuda
