// Counts unit rows by half-precision products, with the result in device memory, by the kernels of
// kernels/pairs/unit_counts.
#include "cuda/pairs/area_walk.hpp"
#include "cuda/pairs/hopper/unit_packing.hpp"
#include "cuda/pairs/on_device/fast_counts.hpp"
#include "pairs/area.hpp"

namespace gpu::cuda {

bool stream_unit_counts::takes(const call_shape& shape) {
  return shape.fast_counts && shape.has_warpgroup_products &&
         shape.format.tile == kernels::pair_tile_kind::tensor_float &&
         kernels::unit_row_layout(shape.format.cols).pitch() <= kernels::unit_count_most_elements &&
         !is_thin(shape.area);
}

stream_unit_counts::stream_unit_counts(const call_shape& shape, arena& memory) : shape_(shape) {
  const index_t elements = kernels::unit_row_layout(shape.format.cols).pitch();
  work_.packed = unit_rows_of(shape.area, elements);
  work_.capacity = undecided_wanted(detail::pairs_in(shape.area));
  work_.degree = memory.take<std::uint32_t>(static_cast<std::size_t>(work_.packed.padded_rows()));
  work_.undecided = memory.take<kernels::undecided_pairs>(work_.capacity);
  work_.found = memory.take<unsigned long long>(1);
  cut_ = memory.take<kernels::unit_cut>(1);
  tiles_ = memory.take<std::uint8_t>(unit_tile_bytes(work_.packed));
  if (kernels::unit_rows_are_corrected(elements)) return;
  floats_ = memory.take<float>(
      static_cast<std::size_t>(shape.rows * kernels::unit_float_pitch(elements)));
}

void stream_unit_counts::run(const stream_rows& rows, const detail::keep_range& keep,
                             const count_totals& to, cudaStream_t stream) const {
  const kernels::pair_operand source = rows.all(shape_.format.tile);
  kernels::unit_count work = work_;
  pack_unit_rows(source, tiles_, work.packed, stream);
  kernels::launch_unit_cut(source, keep, cut_, stream);
  if (floats_ != nullptr) kernels::launch_unit_floats(source, floats_, stream);
  work.floats = floats_;
  work.cut = cut_;
  work.symmetric = kernels::estimate_cut(keep, 0).middle == 0;
  const auto places = static_cast<std::size_t>(work.packed.padded_rows());
  GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(work.degree, 0, places * sizeof *work.degree, stream));
  GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(work.found, 0, sizeof *work.found, stream));
  count_unit_items(source, work, 0, kernels::unit_count_items(work.packed), shape_.multiprocessors,
                   stream);
  kernels::launch_unit_degrees(work, to.degree, to.ends, stream);
}

}  // namespace gpu::cuda
