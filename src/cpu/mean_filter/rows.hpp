#pragma once
// Elements of one row as the strip loops take them, and their results as the row holds them.

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "base/boundary_index.hpp"
#include "cpu/mean_filter/strip.hpp"
#include "plan/mean_filter_variants.hpp"

namespace gpu::cpu {

/// What a strip makes of its elements.
enum class staging {
  values,                 ///< As they are.
  present_values,         ///< NaN as 0.
  missing_flags,          ///< 1 for NaN, else 0.
  scaled_values,          ///< Times no_overflow_scale.
  scaled_present_values,  ///< The same, NaN as 0.
};

/// What doubles are multiplied by where the sum of a window is beyond double although its mean is
/// not: a sum of 2^31 scaled elements is finite. Elements that lose bits by it are too small to
/// show in such a mean.
inline constexpr double no_overflow_scale = 0x1p-40;

template <staging How, class In>
double staged(In value) {
  if constexpr (How == staging::values || std::integral<In>) {
    return static_cast<double>(value);
  } else if constexpr (How == staging::present_values) {
    return std::isnan(value) ? 0.0 : static_cast<double>(value);
  } else if constexpr (How == staging::scaled_values) {
    return static_cast<double>(value) * no_overflow_scale;
  } else if constexpr (How == staging::scaled_present_values) {
    return std::isnan(value) ? 0.0 : static_cast<double>(value) * no_overflow_scale;
  } else {
    return std::isnan(value) ? 1.0 : 0.0;
  }
}

/// The extended row from place `first` on, as doubles: in place where it can be, else in `scratch`.
template <staging How, class In>
const double* stage_row(const In* row, const detail::filter_shape& shape, index_t first,
                        index_t count, double* scratch) {
  if constexpr (How == staging::values && std::same_as<In, double>) {
    if (first >= 0 && first + count <= shape.cols) return row + first;
  }
  const auto outside = [&](index_t e) {
    const index_t index = detail::extended_index(e, shape.cols, shape.boundary);
    // Beyond a valid row nothing is asked for; the loops read a little further than they use.
    return index < 0 ? 0.0 : staged<How>(row[index]);
  };
  const index_t end = first + count;
  const index_t inner_first = std::clamp<index_t>(0, first, end);
  const index_t inner_end = std::clamp(shape.cols, inner_first, end);
  double* to = scratch;
  for (index_t e = first; e < inner_first; ++e) *to++ = outside(e);
  const In* from = row + inner_first;
  const index_t inner = inner_end - inner_first;
  for (index_t i = 0; i < inner; ++i) to[i] = staged<How>(from[i]);
  to += inner;
  for (index_t e = inner_end; e < end; ++e) *to++ = outside(e);
  return scratch;
}

/// Whether all values are finite.
inline bool are_finite(const double* values, index_t count) {
  // 0 times a finite value is 0. Sums side by side, which the compiler makes vectors of.
  double zeros[8] = {};
  index_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (int k = 0; k < 8; ++k) zeros[k] += values[i + k] * 0.0;
  }
  for (; i < count; ++i) zeros[0] += values[i] * 0.0;
  double zero = 0;
  for (const double part : zeros) zero += part;
  return zero == 0;
}

/// Makes streamed results visible to other threads before the strip counts as done.
inline void finish_streaming() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

/// A result as Out: integers truncate toward zero and saturate; NaN gives 0.
template <class Out>
Out finished(double value) {
  if constexpr (std::floating_point<Out>) {
    return static_cast<Out>(value);
  } else {
    constexpr double low = std::numeric_limits<Out>::min();
    constexpr double high = std::numeric_limits<Out>::max();
    const double bounded = value > low ? (value < high ? value : high) : (value <= low ? low : 0.0);
    return static_cast<Out>(bounded);
  }
}

/// Writes `count` results to `to`; past the caches by `stream`, where one is given, because results
/// larger than the caches would only displace the input.
template <class Out>
void write_results(Out* to, const double* values, index_t count,
                   void (*stream)(void*, const void*, index_t)) {
  if constexpr (std::same_as<Out, double>) {
    const index_t bytes = count * static_cast<index_t>(sizeof(double));
    if (stream != nullptr) {
      stream(to, values, bytes);
    } else {
      std::memcpy(to, values, static_cast<std::size_t>(bytes));
    }
  } else {
    Out converted[strip_pass_elements];
    Out* target = stream != nullptr ? converted : to;
    for (index_t i = 0; i < count; ++i) target[i] = finished<Out>(values[i]);
    if (stream != nullptr) stream(to, converted, count * static_cast<index_t>(sizeof(Out)));
  }
}

}  // namespace gpu::cpu
