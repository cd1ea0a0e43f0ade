#pragma once
// One strip of a row after the other: brings its elements, has it summed, and writes the means.

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>

#include <gpu/mean_filter.hpp>

#include "cpu/mean_filter/rows.hpp"
#include "cpu/mean_filter/strip.hpp"
#include "plan/mean_filter_variants.hpp"

namespace gpu::cpu {

/// Results larger than this are written past the caches. That was faster even where a last-level
/// cache of 300 MB could hold elements and results: 9 ms for 10M doubles, 11 ms through the cache.
inline constexpr std::size_t streaming_bytes = std::size_t{16} << 20;

/// The copy past the caches for results of this shape; null where they are written through them.
template <class Out>
auto streaming_copy(const detail::filter_shape& shape) {
  const double bytes = static_cast<double>(shape.rows) * static_cast<double>(shape.output_cols) *
                       static_cast<double>(sizeof(Out));
  return bytes > static_cast<double>(streaming_bytes) ? usable_strip_kernels().copy_streaming
                                                      : nullptr;
}

/// Runs one strip of one row after the other, in one thread.
template <class In, class Out>
class strip_runner {
 public:
  strip_runner(const detail::filter_shape& shape, nan_policy nans, double* scratch, double* counts)
      : shape_(shape),
        omits_(nans == nan_policy::omit && std::floating_point<In>),
        stream_(streaming_copy<Out>(shape)),
        kernels_(usable_strip_kernels()),
        scratch_(scratch),
        counts_(counts) {}

  void run(const In* row, Out* out, index_t first, index_t outputs) {
    row_ = row;
    out_ = out;
    first_ = first;
    is_suspect_ = false;
    const auto stage_values = bound<&strip_runner::stage<staging::values>>();
    const auto emit_means = bound<&strip_runner::emit>();
    const auto emit_of_shrinking = bound<&strip_runner::emit_shrinking>();
    strip_request request{.outputs = outputs,
                          .window = shape_.window,
                          .divisor = static_cast<double>(shape_.divisor),
                          .stage = stage_values,
                          .emit = emit_means,
                          .exponent = &exponent_,
                          .scratch = scratch_};
    const bool omits = omits_ && holds_nan(outputs);
    if (omits) {
      run_omitting(request);
    } else if (shape_.boundary == boundary::shrink) {
      request.divisor = 1;
      request.emit = emit_of_shrinking;
      sum(request);
    } else {
      sum(request);
    }
    if constexpr (may_overflow) {
      if (is_suspect_ && may_hold_large(outputs)) mend(request, omits);
    }
    if (stream_ != nullptr) finish_streaming();
  }

 private:
  // Sums of other types are far from the end of double.
  static constexpr bool may_overflow = std::same_as<In, double> && std::same_as<Out, double>;

  // A member function as a strip calls it, for as long as the request lasts.
  template <auto Function>
  auto bound() {
    return [this](auto... arguments) { return (this->*Function)(arguments...); };
  }

  template <staging How>
  const double* stage(index_t first, index_t count, double* scratch) {
    return stage_row<How>(row_, shape_, first_ - shape_.left + first, count, scratch);
  }

  void emit(index_t first, index_t count, const double* values) {
    Out* const to = out_ + first_ + first;
    if constexpr (may_overflow) {
      if (is_mending_) {
        for (index_t i = 0; i < count; ++i) {
          if (!std::isfinite(to[i])) to[i] = values[i] / no_overflow_scale;
        }
        return;
      }
      is_suspect_ = is_suspect_ || !are_finite(values, count);
    }
    write_results(to, values, count, stream_);
  }

  void emit_shrinking(index_t first, index_t count, const double* values) {
    double means[strip_pass_elements];
    const index_t from = first_ + first;
    for (index_t i = 0; i < count; ++i) {
      means[i] = values[i] / static_cast<double>(detail::elements_in_window(shape_, from + i));
    }
    emit(first, count, means);
  }

  void keep_counts(index_t first, index_t count, const double* values) {
    std::copy(values, values + count, counts_ + first);
  }

  void emit_omitting(index_t first, index_t count, const double* values) {
    double means[strip_pass_elements];
    for (index_t i = 0; i < count; ++i) {
      const index_t places = shape_.boundary == boundary::shrink
                                 ? detail::elements_in_window(shape_, first_ + first + i)
                                 : shape_.divisor;
      means[i] = values[i] / (static_cast<double>(places) - counts_[first + i]);
    }
    emit(first, count, means);  // 0 / 0 is NaN where nothing is present
  }

  bool holds_nan(index_t outputs) {
    double scratch[strip_pass_elements];
    const index_t elements = outputs + shape_.window - 1;
    for (index_t first = 0; first < elements; first += strip_pass_elements) {
      const index_t count = std::min(strip_pass_elements, elements - first);
      const double* values = stage<staging::values>(first, count, scratch);
      bool found = false;
      for (index_t i = 0; i < count; ++i) found |= std::isnan(values[i]);
      if (found) return true;
    }
    return false;
  }

  void run_omitting(strip_request request) {
    const auto stage_missing = bound<&strip_runner::stage<staging::missing_flags>>();
    const auto stage_present = bound<&strip_runner::stage<staging::present_values>>();
    const auto keep = bound<&strip_runner::keep_counts>();
    const auto emit_present = bound<&strip_runner::emit_omitting>();
    request.divisor = 1;
    request.stage = stage_missing;
    request.emit = keep;
    kernels_.plain(request);
    request.stage = stage_present;
    request.emit = emit_present;
    sum(request);
  }

  // Whether a finite element of the row is so large that the sum of a window can be beyond double.
  bool may_hold_large(index_t outputs) {
    const double places = static_cast<double>(shape_.divisor);
    const double bound = std::numeric_limits<double>::max() / (2 * places);
    const auto is_large = [&](double value) {
      return std::abs(value) > bound && std::isfinite(value);
    };
    double scratch[strip_pass_elements];
    const index_t elements = outputs + shape_.window - 1;
    for (index_t first = 0; first < elements; first += strip_pass_elements) {
      const index_t count = std::min(strip_pass_elements, elements - first);
      const double* values = stage<staging::values>(first, count, scratch);
      if (std::any_of(values, values + count, is_large)) return true;
    }
    return false;
  }

  // Sums the strip again, scaled, for the means that are not finite: an Inf there may be that of a
  // sum, and a NaN the difference of two such.
  void mend(strip_request request, bool omits) {
    int exponent = no_exponent;  // the scaled elements have another than those of other strips
    request.exponent = &exponent;
    const auto stage_scaled = bound<&strip_runner::stage<staging::scaled_values>>();
    const auto stage_present = bound<&strip_runner::stage<staging::scaled_present_values>>();
    const auto emit_present = bound<&strip_runner::emit_omitting>();
    request.stage = stage_scaled;
    if (omits) {
      request.divisor = 1;
      request.stage = stage_present;
      request.emit = emit_present;
    }
    is_mending_ = true;
    sum(request);
    is_mending_ = false;
  }

  void sum(const strip_request& request) {
    const bool plain_is_exact =
        (std::same_as<In, float> && std::same_as<Out, float>) ||
        (std::integral<In> && (sizeof(In) < 4 || shape_.window <= detail::max_exact_window));
    (plain_is_exact ? kernels_.plain : kernels_.compensated)(request);
  }

  const detail::filter_shape& shape_;
  const bool omits_;
  void (*const stream_)(void*, const void*, index_t);
  const strip_kernels& kernels_;
  double* scratch_;
  double* counts_;  // missing elements per output of the strip
  int exponent_ = no_exponent;
  const In* row_ = nullptr;
  Out* out_ = nullptr;
  index_t first_ = 0;
  bool is_suspect_ = false;  // a mean of the strip is infinite or NaN
  bool is_mending_ = false;
};

}  // namespace gpu::cpu
