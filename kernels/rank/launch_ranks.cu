// Type-erases views and options, and launches the kernel of the variant that was chosen.
#include "base/element_types.hpp"
#include "kernels/common/launch.cuh"
#include "kernels/rank/kernels.hpp"
#include "kernels/rank/launches.cuh"
#include "plan/rank_policy.hpp"
#include "plan/rank_variants.hpp"

namespace gpu::kernels {
namespace {

template <class T>
rank_source source_of(device_matrix_view<const T> data, rank_order order) {
  constexpr int key_bits = static_cast<int>(sizeof(T)) * 8;
  constexpr std::uint64_t key_mask = detail::nan_key<T>;
  return {.data = data.data(),
          .rows = data.rows(),
          .stride = data.row_stride(),
          .cols = static_cast<int>(data.cols()),
          .tag = tag_of<T>(),
          .key_bits = key_bits,
          .flip = order == rank_order::descending ? key_mask : 0};
}

template <class Integer>
constexpr target_tag target_tag_of() {
  if constexpr (sizeof(Integer) == 1) return target_tag::i8;
  if constexpr (sizeof(Integer) == 2) return target_tag::i16;
  if constexpr (sizeof(Integer) == 4) return target_tag::i32;
}

// The packed kernel counts signs, which is what average ranks are. It always ascends; descending
// counts are the same with the other sign, and integer targets always ascend.
void launch_average_counting(rank_source source, rank_target target, cudaStream_t stream) {
  static_assert(rank_packed_cols.back() == rank_counting_max_cols);
  if (source.flip != 0) target.scale = -target.scale;
  source.flip = 0;
  launch_count_packed(source, target, stream);
}

void launch(const rank_source& source, const rank_target& target, const rank_request& request,
            cudaStream_t stream) {
  if (source.rows == 0) return;
  switch (request.variant) {
    case rank_variant::counting:
      if (request.ties == tie_method::average && source.cols > 0) {
        return launch_average_counting(source, target, stream);
      }
      return launch_count_warp(source, target, request.ties, stream);
    case rank_variant::block_sort:
      return source.tag == element_tag::f64
                 ? launch_block_sort_64(source, target, request.ties, stream)
                 : launch_block_sort_32(source, target, request.ties, stream);
    default:
      return launch_segmented_sort(source, target, request, stream);
  }
}

}  // namespace

template <class T, class Integer>
void launch_centred_ranks(device_matrix_view<const T> data, device_matrix_view<Integer> ranks,
                          std::int64_t* square_sums, cudaStream_t stream) {
  const rank_target target{.data = ranks.data(),
                           .stride = ranks.row_stride(),
                           .cols = ranks.cols(),
                           .tag = target_tag_of<Integer>(),
                           .scale = 1,
                           .offset = 0,
                           .square_sums = square_sums};
  rank_request request;
  request.variant =
      detail::choose_rank_variant(rank_variant::automatic, backend::cuda, data.cols(), sizeof(T));
  launch(source_of(data, rank_order::ascending), target, request, stream);
}

template <class T>
std::size_t rank_workspace_bytes(index_t rows, index_t cols, const rank_request& request) {
  if (request.variant != rank_variant::segmented_sort || rows == 0) return 0;
  rank_source source = source_of(device_matrix_view<const T>(), request.order);
  source.rows = rows;
  source.cols = static_cast<int>(cols);
  return segmented_sort_bytes(source, request);
}

template <class T>
void launch_ranks(device_matrix_view<const T> data, device_matrix_view<double> ranks,
                  const rank_request& request, cudaStream_t stream) {
  const detail::rank_scale scale = detail::scale_of_counts(request.ties, data.cols());
  const rank_target target{.data = ranks.data(),
                           .stride = ranks.row_stride(),
                           .cols = ranks.cols(),
                           .tag = target_tag::f64,
                           .scale = scale.scale,
                           .offset = scale.offset,
                           .square_sums = nullptr};
  launch(source_of(data, request.order), target, request, stream);
}

#define GPU_SIMILARITY_INSTANTIATE(T)                                                              \
  template void launch_centred_ranks<T, std::int8_t>(                                              \
      device_matrix_view<const T>, device_matrix_view<std::int8_t>, std::int64_t*, cudaStream_t);  \
  template void launch_centred_ranks<T, std::int16_t>(                                             \
      device_matrix_view<const T>, device_matrix_view<std::int16_t>, std::int64_t*, cudaStream_t); \
  template void launch_centred_ranks<T, std::int32_t>(                                             \
      device_matrix_view<const T>, device_matrix_view<std::int32_t>, std::int64_t*, cudaStream_t); \
  template std::size_t rank_workspace_bytes<T>(index_t, index_t, const rank_request&);             \
  template void launch_ranks<T>(device_matrix_view<const T>, device_matrix_view<double>,           \
                                const rank_request&, cudaStream_t);

GPU_SIMILARITY_FOR_EACH_ELEMENT_TYPE(GPU_SIMILARITY_INSTANTIATE)

}  // namespace gpu::kernels
