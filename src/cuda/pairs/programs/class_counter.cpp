#include "cuda/pairs/programs/class_counter.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "cuda/pairs/rows/area_walk.hpp"
#include "cuda_runtime/copies.hpp"
#include "cuda_runtime/cuda_check.hpp"
#include "kernels/pairs/screen/kernels.hpp"
#include "pairs/area.hpp"
#include "plan/short_jobs.hpp"
#include "stats/rank_squares.hpp"

namespace gpu::cuda {
namespace {

// Largest factor by which padding the classes to whole blocks may multiply the pairs: the tensor
// tiles decide pairs at a fifth of the rate of the counting kernel, and bin them at a thirtieth.
// It does not apply up to `always_padded_rows`, where every count is short.
constexpr double most_class_growth(bool binned) {
  return binned ? 16 : 4;
}
constexpr index_t always_padded_rows = 32768;

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

bool class_counter::takes(const call_shape& shape, bool binned) {
  const auto pairs = static_cast<double>(detail::pairs_in(shape.area));
  return shape.has_room && shape.variant == pair_variant::hopper &&
         shape.format.tile == kernels::pair_tile_kind::tensor_int8 && !is_thin(shape.area) &&
         (binned ? kernels::counts_bins(shape.format.cols)
                 : shape.is_never_short ||
                       !detail::is_short_for_classes(pairs, shape.format.cols, shape.machine));
}

bool class_counter::takes(const detail::keep_range& keep) {
  return keep.at_least > 0 && keep.at_most < 0;
}

class_counter::class_counter(const call_shape& shape, bool binned, arena& memory) : shape_(shape) {
  const index_t places = most_places(shape.rows, binned);
  const index_t blocks = places / kernels::count_block_rows;
  const index_t chunks = kernels::class_chunks(places);
  order_ = memory.take<std::uint32_t>(shape.rows);
  temporary_ = memory.take<std::byte>(
      std::max(kernels::screen_order_bytes(shape.rows), kernels::class_layout_bytes(shape.rows)));
  packed_ = {.depth = kernels::count_depth(shape.format.cols),
             .padded_rows = places,
             .extents = memory.take<kernels::class_extents>(1),
             .slots = memory.take<std::uint32_t>(places),
             .tiles = nullptr,
             .square_sums = memory.take<int>(blocks),
             .panels = memory.take<kernels::count_panel>(blocks),
             .items_before = memory.take<index_t>(chunks + 1),
             .first_panel = memory.take<std::uint32_t>(chunks)};
  use_ = {.most_growth = most_class_growth(binned),
          .always_padded_rows = always_padded_rows,
          .is_of_use = memory.take<std::uint32_t>(1)};
}

void class_counter::take_places(index_t places, arena& memory) {
  packed_.padded_rows = places;
  packed_.tiles = memory.take<std::uint8_t>(places * packed_.depth);
  packed_degree_ = memory.take<std::uint32_t>(places);
}

class_counter::extents class_counter::most() const {
  return {.places = packed_.padded_rows, .items = kernels::class_items(packed_.padded_rows)};
}

class_counter::extents class_counter::read(cudaStream_t stream) const {
  const kernels::class_extents found = read_back(packed_.extents, stream);
  return {.places = index_t{found.blocks} * kernels::count_block_rows, .items = found.items};
}

void class_counter::lay_out(const kernels::pair_operand& source, cudaStream_t stream) const {
  const kernels::class_source rows{.square_sums = source.square_sums,
                                   .order = order_,
                                   .rows = shape_.rows,
                                   .sides = sides_of(shape_.area, {}).rows};
  kernels::launch_screen_order(source.square_sums, shape_.rows, rows.sides,
                               stats::untied_rank_squares(shape_.format.cols), order_, temporary_,
                               stream);
  kernels::launch_class_layout(rows, packed_, use_, temporary_, stream);
}

void class_counter::pack(const kernels::pair_operand& source, cudaStream_t stream) const {
  kernels::launch_class_pack({.ranks = static_cast<const std::int8_t*>(source.values),
                              .stride = source.pitch,
                              .cols = shape_.format.cols,
                              .square_sums = source.square_sums},
                             packed_, stream);
  const auto places = static_cast<std::size_t>(packed_.padded_rows);
  GPU_SIMILARITY_CUDA_CHECK(
      cudaMemsetAsync(packed_degree_, 0, places * sizeof *packed_degree_, stream));
}

void class_counter::run(const detail::keep_range& keep, const kernels::bin_sink_args& binning,
                        index_t first, index_t last, cudaStream_t stream) const {
  // A block counts each sum with 32 bits, so a launch with bins has no more items than these can
  // count where all pairs have the same sum.
  constexpr std::int64_t item_pairs = std::int64_t{kernels::count_panel_blocks} *
                                      kernels::count_chunk_blocks * kernels::count_block_rows *
                                      kernels::count_block_rows;
  constexpr index_t most_binned_items = std::numeric_limits<std::uint32_t>::max() / item_pairs;
  static_assert(most_binned_items > 0);
  const index_t step =
      binning.bins == nullptr ? last - first : most_binned_items * shape_.multiprocessors;
  for (index_t begin = first; begin < last; begin += step) {
    kernels::launch_class_count(packed_, shape_.format.cols, keep.at_least, keep.at_most, binning,
                                begin, std::min(begin + step, last), packed_degree_,
                                shape_.multiprocessors, stream);
  }
}

void class_counter::finish(const count_totals& to, cudaStream_t stream) const {
  kernels::launch_class_degrees(packed_, packed_degree_, to.degree, to.ends, stream);
}

}  // namespace gpu::cuda
