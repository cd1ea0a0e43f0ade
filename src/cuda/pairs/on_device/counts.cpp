// Counts in the caller's device memory, by the tiles that decide every pair.
#include <limits>

#include "cuda/pairs/engine.hpp"
#include "cuda/pairs/on_device/sinks.hpp"

namespace gpu::cuda {
namespace {

using kernels::pair_tile_kind;

// Above this share of pairs near a bin's edge, products in double cost less than deciding anew.
constexpr double most_refined_share = 1.0 / 64;

template <class T>
void clear(T* memory, index_t count, cudaStream_t stream) {
  GPU_SIMILARITY_CUDA_CHECK(
      cudaMemsetAsync(memory, 0, static_cast<std::size_t>(count) * sizeof(T), stream));
}
template <class T, class U>
void copy(const T* from, device_vector_view<U> to, cudaStream_t stream) {
  static_assert(sizeof(T) == sizeof(U));
  if (to.empty()) return;
  GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(to.data(), from,
                                            static_cast<std::size_t>(to.size()) * sizeof(T),
                                            cudaMemcpyDeviceToDevice, stream));
}

}  // namespace

stream_counts::stream_counts(const call_shape& shape, const device_count_sink& sink, arena& memory)
    : shape_(shape),
      sink_(sink),
      counts_(!sink.degree.empty() || !sink.y_degree.empty() || !sink.totals.empty()),
      degree_(memory.take<std::uint32_t>(static_cast<std::size_t>(shape.rows))),
      kept_(memory.take<unsigned long long>(1)),
      bins_(memory.take<unsigned long long>(static_cast<std::size_t>(sink.histogram.size()) + 2)),
      valid_(memory.take<kernels::valid_rows>(1)) {}

void stream_counts::run(const stream_rows& rows, const detail::keep_range& keep,
                        cudaStream_t stream) const {
  if (counts_) count(rows, keep, stream);
  if (!sink_.histogram.empty()) bin(rows, keep, stream);
}

void stream_counts::count(const stream_rows& rows, const detail::keep_range& keep,
                          cudaStream_t stream) const {
  clear(degree_, shape_.rows, stream);
  clear(kept_, 1, stream);
  const pair_tile_kind tile = shape_.format.tile;
  const kernels::count_sink_args args{
      .cut = estimate_cut(keep, rows.estimate_error(tile)), .kept = kept_, .degree = degree_};
  rows.for_each_pair_panel(tile, [&](const kernels::pair_panel& panel) {
    kernels::launch_pairs(tile, panel, args, stream);
  });
  copy(degree_, sink_.degree, stream);
  if (shape_.area.is_against()) {
    copy(degree_ + shape_.area.cols.begin, sink_.y_degree, stream);
  }
  if (sink_.totals.empty()) return;
  kernels::launch_count_valid(rows.square_sums(), shape_.rows, shape_.area.rows, shape_.area.cols,
                              valid_, stream);
  kernels::launch_write_totals(valid_, shape_.area.is_against(), shape_.rows, kept_,
                               sink_.totals.data(), stream);
}

void stream_counts::bin(const stream_rows& rows, const detail::keep_range& keep,
                        cudaStream_t stream) const {
  const index_t bins = sink_.histogram.size();
  clear(bins_, bins + 2, stream);
  kernels::bin_sink_args args{.cut = estimate_cut(keep, rows.estimate_error(shape_.format.tile)),
                              .key = detail::bin_key::value,
                              .low = -1,
                              .high = std::numeric_limits<double>::infinity(),
                              .scale = static_cast<double>(bins) / 2,
                              .count = bins,
                              .margin = static_cast<float>(float_estimate_error),
                              .bins = bins_};
  pair_tile_kind tile = shape_.format.tile;
  if (tile == pair_tile_kind::tensor_float) {
    const double margin = tensor_error(shape_.format);
    if (2 * margin * args.scale > most_refined_share) {
      tile = pair_tile_kind::shared_double;
    } else {
      args.margin += static_cast<float>(margin);
    }
  }
  rows.for_each_pair_panel(tile, [&](const kernels::pair_panel& panel) {
    kernels::launch_pairs(tile, panel, args, stream);
  });
  copy(bins_ + 1, sink_.histogram, stream);
}

}  // namespace gpu::cuda
