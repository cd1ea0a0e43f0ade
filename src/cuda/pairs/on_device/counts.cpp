// Counts in the caller's device memory: by the counting kernels of host results where they take the
// call, otherwise by the tiles that decide every pair.
#include "base/round_up.hpp"
#include "cuda/pairs/on_device/sinks.hpp"
#include "cuda/pairs/programs/counting.hpp"

namespace gpu::cuda {
namespace {

// As words of 64 bits.
template <class T>
std::uint64_t* words(T* memory) {
  return reinterpret_cast<std::uint64_t*>(memory);
}

}  // namespace

stream_counts::stream_counts(const call_shape& shape, const device_count_sink& sink, arena& memory)
    : shape_(shape),
      sink_(sink),
      counts_(!sink.degree.empty() || !sink.y_degree.empty() || !sink.totals.empty()),
      bins_by_class_(!sink.histogram.empty() && class_counter::takes(shape, true)),
      state_(memory.take<kernels::count_state>(1)),
      bins_(memory.take<unsigned long long>(static_cast<std::size_t>(sink.histogram.size()) + 2)),
      degree_(memory.take<std::uint32_t>(round_up(shape.rows, 2))) {
  if (bins_by_class_ || class_counter::takes(shape, false)) {
    classes_.emplace(shape, bins_by_class_, memory);
    classes_->take_places(classes_->most().places, memory);
  }
  if (unit_counter::takes(shape)) {
    units_.emplace(shape, unit_counter::wanted_memory(shape), memory);
  }
}

kernels::zeroed_words stream_counts::zeros() const {
  return {words(state_), words(degree_) - words(state_) + ceil_div(shape_.rows, index_t{2})};
}

void stream_counts::run(const stream_rows& rows, const detail::keep_range& keep,
                        cudaStream_t stream) const {
  const index_t bins = sink_.histogram.size();
  const count_totals totals{degree_, &state_->ends};
  const bool by_class =
      classes_ && class_counter::takes(keep) && (counts_ || bins_by_class_) && shape_.rows > 0;
  const bool by_products = units_ && counts_ && shape_.rows > 0;
  if (by_class) count_by_classes(rows, keep, totals, stream);
  // Where the classes are of no use, the tiles count; without classes, always.
  const std::uint32_t* const done = by_class ? classes_->done() : nullptr;
  if (by_products) count_by_products(rows, keep, totals, stream);
  if (counts_ && !by_products) {
    run_by_tiles(rows,
                 counting_step(shape_.format, shape_.format.deciding_tile(),
                               detail::pair_cut::of(keep), &state_->kept, degree_, {.done = done}),
                 stream);
  }
  if (bins > 0) {
    run_by_tiles(
        rows,
        binning_step(shape_.format, detail::pair_cut::of(keep), histogram_request(bins, {}), bins_,
                     {.done = bins_by_class_ ? done : nullptr}),
        stream);
  }
  const detail::pair_area& area = shape_.area;
  kernels::launch_write_counts({.square_sums = rows.square_sums(),
                                .count = shape_.rows,
                                .rows = area.rows,
                                .cols = area.cols,
                                .is_against = area.is_against(),
                                .state = state_,
                                .degree = degree_,
                                .bins = bins_ + 1,
                                .x_degree = sink_.degree.data(),
                                .x_rows = sink_.degree.size(),
                                .y_degree = sink_.y_degree.data(),
                                .y_rows = sink_.y_degree.size(),
                                .histogram = sink_.histogram.data(),
                                .histogram_bins = bins,
                                .totals = sink_.totals.empty() ? nullptr : sink_.totals.data()},
                               stream);
}

void stream_counts::count_by_classes(const stream_rows& rows, const detail::keep_range& keep,
                                     const count_totals& to, cudaStream_t stream) const {
  const kernels::pair_operand all = rows.all(shape_.format.tile);
  const kernels::bin_sink_args binning =
      bins_by_class_ ? binning_of(histogram_request(sink_.histogram.size(), {}), bins_)
                     : kernels::bin_sink_args{};
  classes_->lay_out(all, stream);
  classes_->pack(all, stream);
  classes_->run(keep, binning, 0, classes_->most().items, stream);
  classes_->finish(to, stream);
}

void stream_counts::count_by_products(const stream_rows& rows, const detail::keep_range& keep,
                                      const count_totals& to, cudaStream_t stream) const {
  const kernels::pair_operand all = rows.all(shape_.format.tile);
  units_->pack(all, keep, stream);
  units_->run(all, keep, 0, units_->items(), stream);
  units_->finish(to, stream);
}

template <class Sink>
void stream_counts::run_by_tiles(const stream_rows& rows, const tile_step<Sink>& step,
                                 cudaStream_t stream) const {
  rows.for_each_pair_panel(step.tile,
                           [&](const kernels::pair_panel& panel) { step.launch(panel, stream); });
}

}  // namespace gpu::cuda
