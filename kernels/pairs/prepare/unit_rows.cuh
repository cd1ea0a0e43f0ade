#pragma once
// What the prologues of unit rows share: the lanes that add up a row, and how its elements become
// those of the unit row. Compiled with -fmad=false.

#include <cstdint>
#include <type_traits>

#include <gpu/index.hpp>

#include "kernels/pairs/kernels.hpp"
#include "stats/unit_rows.hpp"

namespace gpu::kernels {

constexpr int unit_lanes = detail::partial_sums;

// The eight lanes of one row.
class row_lanes {
 public:
  __device__ row_lanes() : mask_(0xffu << (threadIdx.x % 32 / unit_lanes * unit_lanes)) {}
  [[nodiscard]] __device__ int lane() const { return static_cast<int>(threadIdx.x % unit_lanes); }

  __device__ double sum(double partial) const {
    partial += __shfl_xor_sync(mask_, partial, 4);
    partial += __shfl_xor_sync(mask_, partial, 2);
    return partial + __shfl_xor_sync(mask_, partial, 1);
  }
  template <class Value>
  __device__ Value largest(Value value) const {
    for (int step = 4; step > 0; step /= 2) {
      const Value other = __shfl_xor_sync(mask_, value, step);
      value = other > value ? other : value;
    }
    return value;
  }
  __device__ bool any(bool value) const { return __any_sync(mask_, value) != 0; }

 private:
  unsigned mask_;
};

__device__ inline int segment_of_lane(int lane) {
  return (lane & 1) << 2 | (lane & 2) | lane >> 2;  // the order 0, 4, 2, 6, 1, 5, 3, 7
}

/// Elements of a row of `cols` that a lane has.
__device__ inline index_t elements_of_lane(index_t cols, int lane) {
  return (cols - lane + unit_lanes - 1) / unit_lanes;
}
__device__ inline int elements_of_lane(int cols, int lane) {
  return (cols - lane + unit_lanes - 1) / unit_lanes;
}

// What a row is, as its status says.
constexpr std::int64_t ordinary_row = 1;
constexpr std::int64_t constant_row = 0;
constexpr std::int64_t nan_row = -1;
constexpr std::int64_t infinite_row = -2;

/// What a lane has seen of a row as it came.
template <class Value = double>
struct row_survey {
  Value largest = 0;  // of the magnitudes
  bool nan = false;
  bool varies = false;

  __device__ void see(Value value, Value first) {
    nan |= value != value;
    largest = fabs(value) > largest ? fabs(value) : largest;
    varies |= value != first;
  }
  /// Puts the lanes together: `largest` becomes that of the row.
  template <class Group>
  __device__ std::int64_t kind(const Group& group, detail::row_centre centre) {
    largest = group.largest(largest);
    std::int64_t kind = ordinary_row;
    const bool any_varies = group.any(varies);
    if (detail::is_centred(centre) ? !any_varies : largest == 0) kind = constant_row;
    if (!(static_cast<double>(largest) <= 1.7976931348623157e308)) kind = infinite_row;
    if (group.any(nan)) kind = nan_row;
    return kind;
  }
};

/// detail::power_of_two_scale by its bits.
__device__ inline double scale_of(double magnitude) {
  const int exponent = 2046 - (__double2hiint(magnitude) >> 20);  // biased by 1023
  return __hiloint2double((exponent < 1 ? 1 : (exponent > 2045 ? 2045 : exponent)) << 20, 0);
}

/// How the elements of a row become those of the unit row.
struct unit_scaling {
  std::int64_t kind = constant_row;
  double scale = 0;
  double mean = 0;  // of the scaled row
  double mean_of_rest = 0;
  double rest_scale = 0;
  double length = 0;

  [[nodiscard]] __device__ double centred(double value) const {
    return value * scale - mean - mean_of_rest;
  }
  /// Before its division by the length.
  [[nodiscard]] __device__ double scaled(double value) const { return centred(value) * rest_scale; }

  /// That of the row of lane `source` of the warp.
  [[nodiscard]] __device__ unit_scaling of_lane(int source) const {
    return {.kind = __shfl_sync(~0U, static_cast<int>(kind), source),
            .scale = __shfl_sync(~0U, scale, source),
            .mean = __shfl_sync(~0U, mean, source),
            .mean_of_rest = __shfl_sync(~0U, mean_of_rest, source),
            .rest_scale = __shfl_sync(~0U, rest_scale, source),
            .length = __shfl_sync(~0U, length, source)};
  }
};

/// The threads of a row: eight, which have a partial sum each, or one that has all of them.
template <int lanes>
class row_part {
 public:
  static constexpr int sums = unit_lanes / lanes;  // of a thread

  [[nodiscard]] __device__ int lane() const { return static_cast<int>(threadIdx.x % lanes); }
  /// Calls take(sum, k) for the elements of this thread, those of a sum in increasing k.
  template <class Take>
  __device__ void for_each(int cols, const Take& take) const {
    const int steps = cols / unit_lanes;
    // Elements of several steps are on their way while sums wait for each other.
#pragma unroll(lanes == 1 ? 1 : 8)
    for (int step = 0; step < steps; ++step) {
#pragma unroll
      for (int s = 0; s < sums; ++s) take(s, step * unit_lanes + s * lanes + lane());
    }
#pragma unroll
    for (int s = 0; s < sums; ++s) {
      const int k = steps * unit_lanes + s * lanes + lane();
      if (k < cols) take(s, k);
    }
  }
  [[nodiscard]] __device__ double sum(const double (&partial)[sums]) const {
    if constexpr (lanes == 1) {
      return detail::combine_partial_sums(partial);
    } else {
      return group_.sum(partial[0]);
    }
  }
  template <class Value>
  [[nodiscard]] __device__ Value largest(Value value) const {
    return lanes == 1 ? value : group_.largest(value);
  }
  [[nodiscard]] __device__ bool any(bool value) const {
    return lanes == 1 ? value : group_.any(value);
  }

 private:
  row_lanes group_;
};

/// Looks through a row: value(k) is element k of `here` elements: `cols`, or none
/// without a row; `first` is element 0.
template <int lanes, class Value, class T>
__device__ unit_scaling find_scaling(const row_part<lanes>& part, int here, int cols,
                                     detail::row_centre centre, const Value& value, T first) {
  using seen = std::conditional_t<std::is_same_v<T, float>, float, double>;
  row_survey<seen> survey;
  part.for_each(
      here, [&](int, int k) { survey.see(static_cast<seen>(value(k)), static_cast<seen>(first)); });
  unit_scaling out;
  out.kind = survey.kind(part, centre);
  const auto largest = static_cast<double>(survey.largest);
  out.scale = out.kind == ordinary_row ? scale_of(largest) : 0;
  double rest = largest * out.scale;
  if (detail::is_centred(centre)) {
    const auto mean_of = [&](const auto& term) {
      double sums[row_part<lanes>::sums] = {};
      part.for_each(here, [&](int s, int k) { sums[s] += term(static_cast<double>(value(k))); });
      return part.sum(sums) / static_cast<double>(cols);
    };
    out.mean = mean_of([&](double x) { return x * out.scale; });
    const double mean = out.mean;
    out.mean_of_rest = mean_of([&](double x) { return x * out.scale - mean; });
    rest = 0;
    part.for_each(here, [&](int, int k) {
      const double left = fabs(out.centred(static_cast<double>(value(k))));
      rest = left > rest ? left : rest;
    });
    rest = part.largest(rest);
  }
  if (out.kind == ordinary_row && rest == 0) out.kind = constant_row;
  out.rest_scale = out.kind == ordinary_row ? scale_of(rest) : 0;
  double squares[row_part<lanes>::sums] = {};
  part.for_each(here, [&](int s, int k) {
    const double x = out.scaled(static_cast<double>(value(k)));
    squares[s] = fma(x, x, squares[s]);
  });
  out.length = sqrt(part.sum(squares));
  return out;
}

/// An element of a unit row of elements T, `scaled / length` to the bit. The inverse of the length
/// gives a quotient within a unit in the last place, and its remainder, which is exact, the rounded
/// one (Markstein); without a branch, so that several elements are divided side by side. Remainders
/// of small elements would underflow: those of doubles alone are so small (others are multiples of
/// 2^-149, and so 0 or above 2^-500 when they are centred).
template <class T>
__device__ double divide_by_length(double scaled, double length, double inverse) {
  if constexpr (std::is_same_v<T, double>) return scaled / length;
  double quotient = scaled * inverse;
  quotient = fma(fma(-quotient, length, scaled), inverse, quotient);
  return fma(fma(-quotient, length, scaled), inverse, quotient);
}

}  // namespace gpu::kernels
