#pragma once
// What the prologues of unit rows share: the lanes that add up a row, and how its elements become
// those of the unit row. Compiled with -fmad=false.

#include <cstdint>

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
  __device__ double largest(double value) const {
    for (int step = 4; step > 0; step /= 2) {
      const double other = __shfl_xor_sync(mask_, value, step);
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
struct row_survey {
  double largest = 0;  // of the magnitudes
  bool nan = false;
  bool varies = false;

  __device__ void see(double value, double first) {
    nan |= value != value;
    largest = fabs(value) > largest ? fabs(value) : largest;
    varies |= value != first;
  }
  /// Puts the lanes together: `largest` becomes that of the row.
  __device__ std::int64_t kind(const row_lanes& group, detail::row_centre centre) {
    largest = group.largest(largest);
    std::int64_t kind = ordinary_row;
    const bool any_varies = group.any(varies);
    if (detail::is_centred(centre) ? !any_varies : largest == 0) kind = constant_row;
    if (!(largest <= 1.7976931348623157e308)) kind = infinite_row;
    if (group.any(nan)) kind = nan_row;
    return kind;
  }
};

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

}  // namespace gpu::kernels
