// Counts in the caller's device memory: by the counting kernels of host results where they take the
// call, otherwise by the tiles that decide every pair.
#include <optional>

#include "base/round_up.hpp"
#include "cuda/pairs/on_device/sinks.hpp"
#include "cuda/pairs/programs/class_counter.hpp"
#include "cuda/pairs/programs/counting.hpp"
#include "cuda/pairs/programs/unit_counter.hpp"

namespace gpu::cuda {
namespace {

// As words of 64 bits.
template <class T>
std::uint64_t* words(T* memory) {
  return reinterpret_cast<std::uint64_t*>(memory);
}

// Degrees, histogram and totals.
class stream_counts final : public stream_sink {
 public:
  stream_counts(const call_shape& shape, const device_count_sink& sink, arena& memory)
      : stream_sink(row_extra::split_floats),
        shape_(shape),
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

  [[nodiscard]] kernels::zeroed_words zeros() const override {
    return {words(state_), words(degree_) - words(state_) + ceil_div(shape_.rows, index_t{2})};
  }

  void run(const stream_rows& rows, const detail::keep_range& keep,
           cudaStream_t stream) const override {
    const auto cut = detail::pair_cut::of(keep);
    const detail::bin_request histogram = histogram_request(sink_.histogram.size(), {});
    const count_totals totals{degree_, &state_->ends};
    const bool by_class =
        classes_ && class_counter::takes(keep) && (counts_ || bins_by_class_) && shape_.rows > 0;
    const bool by_products = units_ && counts_ && shape_.rows > 0;
    const kernels::pair_operand all = rows.all(shape_.format.tile);
    const auto tiles = [&](const auto& step) {
      rows.launch(step, shape_.area.rows, kernels::pair_region::above_diagonal, stream);
    };
    if (by_class) {
      classes_->lay_out(all, stream);
      classes_->pack(all, stream);
      classes_->run(keep, bins_by_class_ ? binning_of(histogram, bins_) : kernels::bin_sink_args{},
                    0, classes_->most().items, stream);
      classes_->finish(totals, stream);
    }
    // Where the classes are of no use, the tiles count; without classes, always.
    const std::uint32_t* const done = by_class ? classes_->done() : nullptr;
    if (by_products) {
      units_->pack(all, keep, stream);
      units_->run(all, keep, 0, units_->items(), stream);
      units_->finish(totals, stream);
    } else if (counts_) {
      tiles(counting_step(shape_.format, shape_.format.deciding_tile(), cut, &state_->kept, degree_,
                          {.done = done}));
    }
    if (histogram.bins > 0) {
      tiles(binning_step(shape_.format, cut, histogram, bins_,
                         {.done = bins_by_class_ ? done : nullptr}));
    }
    write(rows, stream);
  }

 private:
  void write(const stream_rows& rows, cudaStream_t stream) const {
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
                                  .histogram_bins = sink_.histogram.size(),
                                  .totals = sink_.totals.empty() ? nullptr : sink_.totals.data()},
                                 stream);
  }

  const call_shape& shape_;
  const device_count_sink& sink_;
  bool counts_;         // kept pairs and degrees
  bool bins_by_class_;  // whether counts class by class bin as well
  std::optional<class_counter> classes_;
  std::optional<unit_counter> units_;
  // Zeros before anything is counted, one after the other.
  kernels::count_state* state_;
  unsigned long long* bins_;
  std::uint32_t* degree_;
};

}  // namespace

std::unique_ptr<stream_sink> make_sink(const call_shape& shape, const device_count_sink& sink,
                                       arena& memory) {
  return std::make_unique<stream_counts>(shape, sink, memory);
}

}  // namespace gpu::cuda
