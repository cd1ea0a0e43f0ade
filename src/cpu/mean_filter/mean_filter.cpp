#include "cpu/mean_filter/mean_filter.hpp"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <new>
#include <type_traits>

#include <gpu/error.hpp>

#include "base/element_types.hpp"
#include "base/parallel.hpp"
#include "base/poll_progress.hpp"
#include "cpu/mean_filter/exact_sum.hpp"
#include "cpu/mean_filter/rows.hpp"
#include "cpu/mean_filter/strip.hpp"
#include "cpu/mean_filter/strip_runner.hpp"
#include "cpu/platform/level_table.hpp"

namespace gpu::cpu {

index_t strip_scratch_doubles(index_t outputs, index_t window) {
  const index_t q = window / strip_lanes;
  const index_t block = std::min(q, strip_block_rows);
  index_t history = 1;
  while (history < block + strip_pass_rows) history *= 2;
  const index_t blocks = q > block ? ((outputs + strip_lanes - 1) / strip_lanes + q) / block : 0;
  return (history + block + blocks) * 3 * strip_lanes;
}

double sum_exactly(const strip_request& request, index_t output) {
  double staged[strip_pass_elements];
  exact_sum sum;
  for (index_t done = 0; done < request.window; done += strip_pass_elements) {
    const index_t count = std::min(strip_pass_elements, request.window - done);
    const double* values = request.stage(request.first + output + done, count, staged);
    for (index_t i = 0; i < count; ++i) sum.add(values[i]);
  }
  return sum.rounded();
}

const strip_kernels& usable_strip_kernels() {
  return GPU_SIMILARITY_USABLE(strips);
}

namespace {

using detail::filter_shape;

// Strips are at least this long, and this many windows: a strip reads a window beyond its own.
constexpr index_t shortest_strip = 32768;
constexpr index_t strip_windows = 128;
// Where rows are few, strips are shorter, so that all threads have some: up to so many a row, each
// at least two windows long.
constexpr index_t most_short_strips = 16;
// With fewer outputs a further thread does not pay.
constexpr index_t least_outputs_per_thread = 4096;
// Outputs of a convolution between two polls of the call's progress.
constexpr index_t outputs_per_poll = index_t{1} << 16;

// Each output on its own, in the order of the row: the reference. Elements and mean are multiplied
// by `scale`.
template <class In>
double direct_mean(const In* row, const filter_shape& shape, nan_policy nans, index_t j,
                   double scale = 1) {
  double high = 0;
  double low = 0;
  index_t places = shape.boundary == boundary::shrink ? 0 : shape.divisor - shape.window;
  for (index_t k = 0; k < shape.window; ++k) {
    const index_t index = detail::extended_index(j - shape.left + k, shape.cols, shape.boundary);
    if (index < 0) {
      places += shape.boundary == boundary::shrink ? 0 : 1;
      continue;
    }
    const double value = static_cast<double>(row[index]) * scale;
    if (nans == nan_policy::omit && std::isnan(value)) continue;
    ++places;
    const double sum = high + value;
    const double part = sum - high;
    low += (high - (sum - part)) + (value - part);
    high = sum;
  }
  const double total = high + low;
  return (std::isnan(total) ? high : total) / static_cast<double>(places);
}

template <class In, class Out>
void filter_directly(matrix_view<const In> in, matrix_view<Out> out, const filter_shape& shape,
                     nan_policy nans, int threads) {
  const index_t cols = shape.output_cols;
  const index_t outputs = shape.rows * cols;
  const index_t worth = 1 + outputs / least_outputs_per_thread * shape.window;
  threads = static_cast<int>(std::min<index_t>(threads, worth));
  const index_t step = std::max<index_t>(1, least_outputs_per_thread / shape.window);
  const auto fill = [&](index_t i) {
    const index_t row = i / cols;
    const index_t j = i % cols;
    double mean = direct_mean(in.row(row), shape, nans, j);
    if constexpr (std::same_as<In, double>) {  // a sum on the way may have been beyond double
      if (!std::isfinite(mean)) {
        mean = direct_mean(in.row(row), shape, nans, j, no_overflow_scale) / no_overflow_scale;
      }
    }
    out.row(row)[j] = finished<Out>(mean);
  };
  detail::parallel_for_ranges(outputs, step, threads, [&](detail::index_range some, int) {
    for (index_t i = some.begin; i < some.end; ++i) fill(i);
  });
}

// 64-byte aligned doubles for all threads, allocated before any of them starts.
class scratch_memory {
 public:
  scratch_memory(std::size_t bytes, const execution& exec) {
    if (exec.workspace_bytes != 0 && bytes > exec.workspace_bytes) {
      throw out_of_memory(fmt::format("options.exec.workspace_bytes: got {}, this call needs {}",
                                      exec.workspace_bytes, bytes),
                          bytes);
    }
    data_.reset(static_cast<double*>(::operator new(bytes, std::align_val_t{64}, std::nothrow)));
    if (data_ == nullptr) {
      throw out_of_memory(fmt::format("mean_filter: no memory for {} bytes of scratch", bytes),
                          bytes);
    }
  }
  [[nodiscard]] double* data() const { return data_.get(); }

 private:
  struct aligned_delete {
    void operator()(double* p) const { ::operator delete(p, std::align_val_t{64}); }
  };
  std::unique_ptr<double, aligned_delete> data_;
};

// Scratch of a thread, in doubles: the sums' and, behind it, the counts of missing elements.
struct thread_scratch {
  index_t sums;
  index_t counts;
  [[nodiscard]] index_t size() const { return sums + counts; }
};

thread_scratch scratch_of(const filter_shape& shape, const mean_filter_split& split,
                          nan_policy nans) {
  return {strip_scratch_doubles(split.strip_outputs, shape.window),
          nans == nan_policy::omit ? split.strip_outputs : 0};
}

}  // namespace

// Strips depend on the shape alone: where one begins decides how the sums of long windows round.
mean_filter_split split_mean_filter(const filter_shape& shape, nan_policy nans,
                                    const execution& exec) {
  mean_filter_split split;
  split.threads = detail::thread_count(exec.cpu_threads);
  const index_t longest = std::max(shortest_strip, strip_windows * shape.window);
  index_t strips = (shape.output_cols + longest - 1) / longest;
  if (shape.rows < most_short_strips) {
    const index_t shortest = std::max(least_outputs_per_thread, 2 * shape.window);
    strips = std::max(strips, std::min(most_short_strips, shape.output_cols / shortest));
  }
  strips = std::max<index_t>(strips, 1);
  const index_t outputs = (shape.output_cols + strips - 1) / strips;
  split.strip_outputs = std::max<index_t>((outputs + 7) / 8 * 8, 8);
  split.strips_per_row = (shape.output_cols + split.strip_outputs - 1) / split.strip_outputs;
  const index_t outputs_in_all = shape.rows * shape.output_cols;
  const index_t most_threads =
      std::min(shape.rows * split.strips_per_row, 1 + outputs_in_all / least_outputs_per_thread);
  split.threads = static_cast<int>(std::clamp<index_t>(most_threads, 1, split.threads));
  const std::size_t each =
      sizeof(double) * static_cast<std::size_t>(scratch_of(shape, split, nans).size());
  if (exec.workspace_bytes != 0) {  // fewer threads where the limit holds no more
    const std::size_t most = std::max<std::size_t>(1, exec.workspace_bytes / each);
    split.threads = static_cast<int>(std::min(static_cast<std::size_t>(split.threads), most));
  }
  split.workspace_bytes = static_cast<std::size_t>(split.threads) * each;
  return split;
}

template <class In, class Out>
void mean_filter(matrix_view<const In> in, matrix_view<Out> out, const filter_shape& shape,
                 mean_filter_variant variant, nan_policy nans, const execution& exec) {
  if (variant == mean_filter_variant::direct) {
    filter_directly(in, out, shape, nans, detail::thread_count(exec.cpu_threads));
    return;
  }
  const mean_filter_split split = split_mean_filter(shape, nans, exec);
  const scratch_memory scratch(split.workspace_bytes, exec);
  const thread_scratch per_thread = scratch_of(shape, split, nans);
  const index_t strips = shape.rows * split.strips_per_row;
  const index_t at_once = std::max<index_t>(1, 4096 / split.strip_outputs);
  const auto make = [&](int thread) {
    double* own = scratch.data() + thread * per_thread.size();
    return strip_runner<In, Out>(shape, nans, own, own + per_thread.sums);
  };
  detail::parallel_for_with(
      (strips + at_once - 1) / at_once, split.threads, make,
      [&](strip_runner<In, Out>& runner, index_t task) {
        for (index_t s = task * at_once; s < std::min(strips, (task + 1) * at_once); ++s) {
          const index_t row = s / split.strips_per_row;
          const index_t first = s % split.strips_per_row * split.strip_outputs;
          const index_t outputs = std::min(split.strip_outputs, shape.output_cols - first);
          runner.run(in.row(row), out.row(row), first, outputs);
        }
      });
}

template <class In, class Out>
void convolve(matrix_view<const In> in, std::span<const double> weights, matrix_view<Out> out,
              const filter_shape& shape, const execution& exec) {
  double flipped[max_convolve_weights];
  std::reverse_copy(weights.begin(), weights.end(), flipped);
  constexpr index_t step = strip_pass_elements;
  constexpr index_t steps_per_poll = outputs_per_poll / step;
  const index_t steps_per_row = (shape.output_cols + step - 1) / step;
  const auto stream = streaming_copy<Out>(shape);
  const strip_kernels& kernels = usable_strip_kernels();
  const auto run_step = [&](index_t s) {
    const index_t row = s / steps_per_row;
    const index_t first = s % steps_per_row * step;
    const index_t count = std::min(step, shape.output_cols - first);
    std::array<double, strip_pass_elements + max_convolve_weights> staged_elements;
    std::array<double, strip_pass_elements> values;
    const double* elements = stage_row<staging::values>(
        in.row(row), shape, first - shape.left, count + shape.window - 1, staged_elements.data());
    kernels.correlate(elements, flipped, shape.window, count, values.data());
    write_results(out.row(row) + first, values.data(), count, stream);
  };
  detail::parallel_for_ranges(shape.rows * steps_per_row, steps_per_poll,
                              detail::thread_count(exec.cpu_threads),
                              [&](detail::index_range some, int) {
                                for (index_t s = some.begin; s < some.end; ++s) run_step(s);
                                if (stream != nullptr) finish_streaming();
                              });
}

#define GPU_SIMILARITY_INSTANTIATE(In, Out)                                                \
  template void mean_filter(matrix_view<const In>, matrix_view<Out>, const filter_shape&,  \
                            mean_filter_variant, nan_policy, const execution&);            \
  template void convolve(matrix_view<const In>, std::span<const double>, matrix_view<Out>, \
                         const filter_shape&, const execution&);
GPU_SIMILARITY_FOR_EACH_FILTER_TYPES(GPU_SIMILARITY_INSTANTIATE)
#undef GPU_SIMILARITY_INSTANTIATE

}  // namespace gpu::cpu
