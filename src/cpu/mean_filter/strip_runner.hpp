#pragma once
// One strip of a row after the other: brings its elements, has it summed, and writes the means.

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>

#include <gpu/mean_filter.hpp>

#include "cpu/mean_filter/common_sum.hpp"
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
    if (shape_.folds() && row != row_) common_ = common_of(row, 1);
    row_ = row;
    out_ = out;
    first_ = first;
    is_suspect_ = false;
    strip_request request{.outputs = outputs,
                          .window = shape_.window,
                          .divisor = static_cast<double>(shape_.divisor),
                          .context = this,
                          .stage = &stage<staging::values>,
                          .emit = &emit,
                          .exponent = &exponent_,
                          .scratch = scratch_};
    const bool omits = omits_ && holds_nan(outputs);
    if (omits) {
      run_omitting(request);
    } else if (shape_.folds()) {
      request.divisor = 1;
      request.emit = &emit_folded;
      sum(request);
    } else if (shape_.boundary == boundary::shrink) {
      request.divisor = 1;
      request.emit = &emit_shrinking;
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

  static strip_runner& self(void* context) { return *static_cast<strip_runner*>(context); }

  template <staging How>
  static const double* stage(void* context, index_t first, index_t count, double* scratch) {
    const strip_runner& at = self(context);
    return stage_row<How>(at.row_, at.shape_, at.first_ - at.shape_.left + first, count, scratch);
  }

  static void emit(void* context, index_t first, index_t count, const double* values) {
    strip_runner& at = self(context);
    Out* const to = at.out_ + at.first_ + first;
    if constexpr (may_overflow) {
      if (at.is_mending_) {
        for (index_t i = 0; i < count; ++i) {
          if (!std::isfinite(to[i])) to[i] = values[i] / no_overflow_scale;
        }
        return;
      }
      at.is_suspect_ = at.is_suspect_ || !are_finite(values, count);
    }
    write_results(to, values, count, at.stream_);
  }

  static void emit_shrinking(void* context, index_t first, index_t count, const double* values) {
    const strip_runner& at = self(context);
    double means[strip_pass_elements];
    const index_t from = at.first_ + first;
    for (index_t i = 0; i < count; ++i) {
      means[i] = values[i] / static_cast<double>(detail::elements_in_window(at.shape_, from + i));
    }
    emit(context, first, count, means);
  }

  static void emit_folded(void* context, index_t first, index_t count, const double* values) {
    const strip_runner& at = self(context);
    double means[strip_pass_elements];
    const double places = static_cast<double>(at.shape_.divisor) - at.common_.missing;
    for (index_t i = 0; i < count; ++i) means[i] = at.common_.with(values[i]) / places;
    emit(context, first, count, means);
  }

  static void keep_counts(void* context, index_t first, index_t count, const double* values) {
    std::copy(values, values + count, self(context).counts_ + first);
  }

  static void emit_omitting(void* context, index_t first, index_t count, const double* values) {
    const strip_runner& at = self(context);
    double means[strip_pass_elements];
    for (index_t i = 0; i < count; ++i) {
      const index_t places = at.shape_.boundary == boundary::shrink
                                 ? detail::elements_in_window(at.shape_, at.first_ + first + i)
                                 : at.shape_.divisor;
      const double sum = at.shape_.folds() ? at.common_.with(values[i]) : values[i];
      const double missing = at.counts_[first + i] + at.common_.missing;
      means[i] = sum / (static_cast<double>(places) - missing);
    }
    emit(context, first, count, means);  // 0 / 0 is NaN where nothing is present
  }

  bool holds_nan(index_t outputs) {
    double scratch[strip_pass_elements];
    const index_t elements = outputs + shape_.window - 1;
    for (index_t first = 0; first < elements; first += strip_pass_elements) {
      const index_t count = std::min(strip_pass_elements, elements - first);
      const double* values = stage<staging::values>(this, first, count, scratch);
      bool found = false;
      for (index_t i = 0; i < count; ++i) found |= std::isnan(values[i]);
      if (found) return true;
    }
    return false;
  }

  void run_omitting(strip_request request) {
    request.divisor = 1;
    request.stage = &stage<staging::missing_flags>;
    request.emit = &keep_counts;
    kernels_.plain(request);
    request.stage = &stage<staging::present_values>;
    request.emit = &emit_omitting;
    sum(request);
  }

  common_sum common_of(const In* row, double scale) const {
    return common_to_windows(row, shape_, omits_ ? nan_policy::omit : nan_policy::propagate, scale);
  }

  // Whether a finite element of the row is so large that the sum of a window can be beyond double.
  bool may_hold_large(index_t outputs) {
    const double places = static_cast<double>(shape_.divisor);
    const double bound = std::numeric_limits<double>::max() / (2 * places);
    const auto is_large = [&](double value) {
      return std::abs(value) > bound && std::isfinite(value);
    };
    if (shape_.folds()) return std::any_of(row_, row_ + shape_.cols, is_large);
    double scratch[strip_pass_elements];
    const index_t elements = outputs + shape_.window - 1;
    for (index_t first = 0; first < elements; first += strip_pass_elements) {
      const index_t count = std::min(strip_pass_elements, elements - first);
      const double* values = stage<staging::values>(this, first, count, scratch);
      if (std::any_of(values, values + count, is_large)) return true;
    }
    return false;
  }

  // Sums the strip again, scaled, for the means that are not finite: an Inf there may be that of a
  // sum, and a NaN the difference of two such.
  void mend(strip_request request, bool omits) {
    int exponent = no_exponent;  // the scaled elements have another than those of other strips
    request.exponent = &exponent;
    request.stage = omits ? &stage<staging::scaled_present_values> : &stage<staging::scaled_values>;
    if (omits) {
      request.divisor = 1;
      request.emit = &emit_omitting;
    }
    const common_sum common = common_;
    if (shape_.folds()) common_ = common_of(row_, no_overflow_scale);
    is_mending_ = true;
    sum(request);
    is_mending_ = false;
    common_ = common;
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
  common_sum common_ = {};  // of row_
  const In* row_ = nullptr;
  Out* out_ = nullptr;
  index_t first_ = 0;
  bool is_suspect_ = false;  // a mean of the strip is infinite or NaN
  bool is_mending_ = false;
};

}  // namespace gpu::cpu
