#include "kernels/mean_filter/far_window.cuh"
#include "kernels/mean_filter/kernels.hpp"

namespace gpu::kernels {
namespace {

template <std::size_t ElementBytes>
index_t block_sums_outputs(index_t window) {
  using policy = block_sums_policy<ElementBytes>;
  const block_sums_tile tile = window >= wide_from ? policy::wide : policy::narrow;
  return index_t{tile.outputs} * tile.threads;
}

}  // namespace

std::size_t mean_filter_workspace_bytes(const detail::filter_shape& shape,
                                        mean_filter_variant variant) {
  const std::size_t common = row_common_bytes(shape);
  if (variant != mean_filter_variant::multi_level) return common;
  const auto [output_tiles, tiles, supers] = count_levels(shape);
  return common +
         static_cast<std::size_t>(shape.rows * (tiles + supers)) * sizeof(counted_sum<exact_sum>);
}

index_t mean_filter_tile_outputs(const detail::filter_shape& shape, std::size_t element_bytes,
                                 mean_filter_variant variant) {
  switch (variant) {
    case mean_filter_variant::shared_memory:
      return window_threads * shared_outputs;
    case mean_filter_variant::block_sums:
      return element_bytes == 8 ? block_sums_outputs<8>(shape.window)
                                : block_sums_outputs<4>(shape.window);
    case mean_filter_variant::multi_level:
      return level_tile;
    default:
      return window_threads;
  }
}

}  // namespace gpu::kernels
