// Counts in the caller's device memory: by the counting kernels of host results where they take the
// call, otherwise by the tiles that decide every pair.
#include <limits>

#include "cuda/pairs/engine.hpp"
#include "cuda/pairs/hopper/class_counting.hpp"
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

detail::bin_request histogram_of(index_t bins) {
  return {.key = detail::bin_key::value,
          .low = -1,
          .high = std::numeric_limits<double>::infinity(),
          .scale = static_cast<double>(bins) / 2,
          .bins = bins,
          .weights = {}};
}

}  // namespace

stream_counts::stream_counts(const call_shape& shape, const device_count_sink& sink, arena& memory)
    : shape_(shape),
      sink_(sink),
      counts_(!sink.degree.empty() || !sink.y_degree.empty() || !sink.totals.empty()),
      bins_by_class_(!sink.histogram.empty() && kernels::counts_bins(shape.format.cols)),
      degree_(memory.take<std::uint32_t>(static_cast<std::size_t>(shape.rows))),
      ends_(memory.take<unsigned long long>(1)),
      kept_(memory.take<unsigned long long>(1)),
      bins_(memory.take<unsigned long long>(static_cast<std::size_t>(sink.histogram.size()) + 2)),
      valid_(memory.take<kernels::valid_rows>(1)) {
  if (stream_class_counts::takes(shape)) classes_.emplace(shape, bins_by_class_, memory);
  if (stream_unit_counts::takes(shape)) units_.emplace(shape, memory);
}

void stream_counts::run(const stream_rows& rows, const detail::keep_range& keep,
                        cudaStream_t stream) const {
  const index_t bins = sink_.histogram.size();
  clear(degree_, shape_.rows, stream);
  clear(ends_, 1, stream);
  clear(kept_, 1, stream);
  clear(bins_, bins + 2, stream);
  const count_totals totals{degree_, ends_};
  const bool by_class =
      classes_ && drops_zero(keep) && (counts_ || bins_by_class_) && shape_.rows > 0;
  const bool by_products = units_ && counts_ && shape_.rows > 0;
  if (by_class) {
    classes_->run(rows, keep,
                  bins_by_class_ ? binning_of(histogram_of(bins), bins_) : kernels::bin_sink_args{},
                  totals, stream);
  }
  const std::uint32_t* const done = by_class ? classes_->done() : nullptr;
  if (by_products) units_->run(rows, keep, totals, stream);
  if (counts_ && !by_products) count(rows, keep, done, stream);
  if (bins > 0) bin(rows, keep, bins_by_class_ ? done : nullptr, stream);
  copy(degree_, sink_.degree, stream);
  if (shape_.area.is_against()) {
    copy(degree_ + shape_.area.cols.begin, sink_.y_degree, stream);
  }
  copy(bins_ + 1, sink_.histogram, stream);
  if (sink_.totals.empty()) return;
  kernels::launch_count_valid(rows.square_sums(), shape_.rows, shape_.area.rows, shape_.area.cols,
                              valid_, stream);
  kernels::launch_write_totals(valid_, shape_.area.is_against(), shape_.rows, {kept_, ends_},
                               sink_.totals.data(), stream);
}

void stream_counts::count(const stream_rows& rows, const detail::keep_range& keep,
                          const std::uint32_t* done, cudaStream_t stream) const {
  const pair_tile_kind tile = shape_.format.deciding_tile();
  const kernels::count_sink_args args{.cut = estimate_cut(keep, rows.estimate_error(tile)),
                                      .kept = kept_,
                                      .degree = degree_,
                                      .weights = nullptr,
                                      .done = done};
  rows.for_each_pair_panel(tile, [&](const kernels::pair_panel& panel) {
    kernels::launch_pairs(tile, panel, args, stream);
  });
}

void stream_counts::bin(const stream_rows& rows, const detail::keep_range& keep,
                        const std::uint32_t* done, cudaStream_t stream) const {
  kernels::bin_sink_args args = binning_of(histogram_of(sink_.histogram.size()), bins_);
  args.cut = estimate_cut(keep, rows.estimate_error(shape_.format.deciding_tile()));
  args.margin = static_cast<float>(float_estimate_error);
  args.done = done;
  pair_tile_kind tile = shape_.format.deciding_tile();
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
}

}  // namespace gpu::cuda
