#include "cuda/pairs/programs/unit_counter.hpp"

#include <algorithm>

#include "cuda/pairs/rows/area_walk.hpp"
#include "cuda/pairs/rows/memory_sizes.hpp"
#include "cuda_runtime/cuda_check.hpp"
#include "pairs/area.hpp"
#include "plan/short_jobs.hpp"

namespace gpu::cuda {
namespace {

// What the list and the floats may be rounded up by.
constexpr std::size_t rounding_bytes = 512;

index_t elements_of(const call_shape& shape) {
  return kernels::unit_row_layout(shape.format.cols).pitch();
}

std::size_t floats_of(const call_shape& shape) {
  return static_cast<std::size_t>(shape.rows * kernels::unit_float_pitch(elements_of(shape)));
}

// The shape of the packed rows of both sides of an area.
kernels::unit_count_rows packed_rows_of(const detail::pair_area& area, index_t elements) {
  constexpr index_t unit = kernels::neighbor_row_multiple;
  const kernels::row_sides sides = sides_of(area, {}).rows;
  const auto rows = [&](index_t begin, index_t end) {
    return kernels::neighbor_rows{.depth = kernels::unit_depth(elements),
                                  .rows = end - begin,
                                  .padded_rows = (end - begin + unit - 1) / unit * unit,
                                  .tiles = nullptr,
                                  .first = begin};
  };
  return {.left = rows(sides.left_begin, sides.left_end),
          .right = rows(sides.right_begin, sides.right_end),
          .within = sides.within};
}

// Items of a launch for each multiprocessor: a launch ends when its last item does, and the list of
// undecided pairs is that of a launch.
index_t items_of_launch(index_t elements) {
  return kernels::unit_rows_are_corrected(elements) ? 8 : 1;
}

}  // namespace

bool unit_counter::takes(const call_shape& shape) {
  const auto pairs = static_cast<double>(detail::pairs_in(shape.area));
  return shape.has_room && shape.has_warpgroup_products &&
         shape.format.tile == kernels::pair_tile_kind::tensor_float &&
         elements_of(shape) <= kernels::unit_count_most_elements && !is_thin(shape.area) &&
         (shape.is_never_short || !detail::is_short_for_packing(pairs, shape.machine));
}

unit_memory unit_counter::wanted_memory(const call_shape& shape) {
  const std::uint64_t share =
      detail::pairs_in(shape.area) / memory_sizes::pairs_per_undecided_product;
  return {
      .undecided = memory_sizes::least_undecided + std::min(memory_sizes::most_undecided, share),
      .floats = !kernels::unit_rows_are_corrected(elements_of(shape))};
}

unit_memory unit_counter::fitting_memory(const call_shape& shape, std::size_t bytes) {
  const std::size_t needed = unit_counter::bytes(shape, least_memory) + rounding_bytes;
  std::size_t left = bytes > needed ? bytes - needed : 0;
  unit_memory out = wanted_memory(shape);
  const std::size_t float_bytes = floats_of(shape) * sizeof(float);
  out.floats = out.floats && float_bytes <= left / 2;
  if (out.floats) left -= float_bytes;
  out.undecided = std::min(out.undecided,
                           memory_sizes::least_undecided + left / sizeof(kernels::undecided_pairs));
  return out;
}

std::size_t unit_counter::bytes(const call_shape& shape, const unit_memory& use) {
  return bytes_taken([&](arena& memory) { return unit_counter(shape, use, memory); });
}

unit_counter::unit_counter(const call_shape& shape, const unit_memory& use, arena& memory)
    : multiprocessors_(shape.multiprocessors) {
  work_.packed = packed_rows_of(shape.area, elements_of(shape));
  work_.capacity = use.undecided;
  const index_t places = work_.packed.padded_rows();
  work_.degree = memory.take<std::uint32_t>(places);
  work_.undecided = memory.take<kernels::undecided_pairs>(work_.capacity);
  work_.found = memory.take<unsigned long long>(1);
  cut_ = memory.take<kernels::unit_cut>(1);
  auto* const tiles = memory.take<std::uint8_t>(places * work_.packed.left.depth);
  floats_ = use.floats ? memory.take<float>(floats_of(shape)) : nullptr;
  work_.cut = cut_;
  work_.floats = floats_;
  if (tiles == nullptr) return;
  // One behind the other.
  work_.packed.left.tiles = tiles;
  work_.packed.right.tiles = tiles + work_.packed.left.padded_rows * work_.packed.left.depth;
}

void unit_counter::pack(const kernels::pair_operand& source, const detail::keep_range& keep,
                        cudaStream_t stream) const {
  kernels::launch_unit_pack(source, work_.packed.left, stream);
  kernels::launch_unit_pack(source, work_.packed.right, stream);
  kernels::launch_unit_cut(source, keep, cut_, stream);
  if (floats_ != nullptr) kernels::launch_unit_floats(source, floats_, stream);
  const auto places = static_cast<std::size_t>(work_.packed.padded_rows());
  GPU_SIMILARITY_CUDA_CHECK(
      cudaMemsetAsync(work_.degree, 0, places * sizeof *work_.degree, stream));
  GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(work_.found, 0, sizeof *work_.found, stream));
}

void unit_counter::run(const kernels::pair_operand& source, const detail::keep_range& keep,
                       index_t first, index_t last, cudaStream_t stream) const {
  kernels::unit_count work = work_;
  work.symmetric = kernels::estimate_cut(keep, 0).middle == 0;
  const index_t step = multiprocessors_ * items_of_launch(source.unit_pitch);
  for (index_t begin = first; begin < last; begin += step) {
    kernels::launch_unit_count(source, work, begin, std::min(begin + step, last), multiprocessors_,
                               stream);
  }
}

void unit_counter::finish(const count_totals& to, cudaStream_t stream) const {
  kernels::launch_unit_degrees(work_, to.degree, to.ends, stream);
}

}  // namespace gpu::cuda
