#include "kernels/mean_filter/kernels.hpp"
#include "kernels/mean_filter/multi_level.cuh"

namespace gpu::kernels {

std::size_t mean_filter_workspace_bytes(const detail::filter_shape& shape,
                                        mean_filter_variant variant) {
  if (variant != mean_filter_variant::multi_level) return 0;
  return static_cast<std::size_t>(shape.rows * count_levels(shape).sums()) *
         sizeof(counted_sum<exact_sum>);
}

index_t mean_filter_tile_outputs(std::size_t element_bytes, mean_filter_variant variant) {
  switch (variant) {
    case mean_filter_variant::shared_memory:
      return window_threads * shared_outputs;
    case mean_filter_variant::block_sums:
      return chunk_threads * (element_bytes == 8 ? chunk_outputs<8> : chunk_outputs<4>);
    case mean_filter_variant::multi_level:
      return level_tile;
    default:
      return window_threads;
  }
}

}  // namespace gpu::kernels
