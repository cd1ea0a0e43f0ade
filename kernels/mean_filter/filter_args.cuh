#pragma once
// What every kernel of the mean filter is given, and how it reads an extended row.

#include <cuda_runtime.h>

#include <gpu/matrix_view.hpp>

#include "base/boundary_index.hpp"
#include "kernels/common/launch.cuh"
#include "kernels/mean_filter/window_sum.cuh"
#include "plan/mean_filter_variants.hpp"

namespace gpu::kernels {

/// What elements are multiplied by where a sum of them was beyond double, as on the CPU: a sum of
/// 2^31 of them is finite then.
inline constexpr double no_overflow_scale = 0x1p-40;

template <class In, class Out>
struct filter_args {
  const In* in = nullptr;
  Out* out = nullptr;
  index_t in_stride = 0;
  index_t out_stride = 0;
  detail::filter_shape shape = {};
  double divisor = 1;
  double inverse = 1;

  filter_args(device_matrix_view<const In> from, device_matrix_view<Out> to,
              const detail::filter_shape& s)
      : in(from.data()),
        out(to.data()),
        in_stride(from.row_stride()),
        out_stride(to.row_stride()),
        shape(s),
        divisor(static_cast<double>(s.divisor)),
        inverse(1.0 / static_cast<double>(s.divisor)) {}

  __device__ const In* in_row(index_t row) const { return in + row * in_stride; }
  __device__ Out* out_row(index_t row) const { return out + row * out_stride; }

  /// The element at place `e` of the extended row; 0 where nothing is.
  __device__ In extended(const In* row, index_t e) const {
    const index_t index = detail::extended_index(e, shape.cols, shape.boundary);
    return index < 0 ? In{} : row[index];
  }

  /// Whether places first to end - 1 all lie inside the row.
  __device__ bool inside(index_t first, index_t end) const {
    return first >= 0 && end <= shape.cols;
  }

  /// Whether outputs first to end - 1 are all divided by the whole window.
  template <class Sum>
  __device__ bool full_windows(index_t first, index_t end) const {
    if constexpr (Sum::counts_missing) return false;
    return shape.boundary != boundary::shrink ||
           inside(first - shape.left, end - 1 - shape.left + shape.window);
  }

  /// Whether the sum of a window can be beyond double although its mean is not.
  template <class Sum>
  static constexpr bool may_overflow =
      std::is_same_v<In, double> && std::is_same_v<Out, double> && Sum::is_compensated;

  /// The mean of a whole window, output j of a row, from its sum.
  template <class Sum>
  __device__ Out full_mean(const Sum& sum, index_t row, index_t j) const {
    const double mean = divided<Out>(sum.value(), divisor, inverse);
    if constexpr (may_overflow<Sum>) {
      if (!isfinite(mean)) return mean_of_large<Sum>(row, j, divisor, mean);
    }
    return finished<Out>(mean);
  }

  /// The mean of output j of a row, where a sum on the way to `mean` may have been beyond double:
  /// from the elements of its window, scaled. `places`: what the sum is divided by.
  template <class Sum>
  __device__ __noinline__ double mean_of_large(index_t row, index_t j, double places,
                                               double mean) const {
    const In* const from = in_row(row);
    const index_t first = j - shape.left;
    Sum sum;
    for (index_t k = 0; k < shape.window; ++k) {
      const auto value = static_cast<double>(extended(from, first + k));
      // Nothing else can come of it; rows with many NaN end here soon.
      if (!Sum::counts_missing && value != value) return mean;
      sum.add(value * no_overflow_scale);
    }
    return sum.value() / places / no_overflow_scale;
  }

  /// The mean of output j of a row from its sum.
  template <class Sum>
  __device__ Out mean(const Sum& sum, index_t row, index_t j) const {
    if constexpr (Sum::counts_missing) {
      const index_t places =
          shape.boundary == boundary::shrink ? detail::elements_in_window(shape, j) : shape.divisor;
      return finished_mean(sum, static_cast<double>(places - sum.missing()), row, j);
    } else {
      if (shape.boundary == boundary::shrink) {
        const index_t places = detail::elements_in_window(shape, j);
        if (places != shape.divisor) {
          return finished_mean(sum, static_cast<double>(places), row, j);
        }
      }
      return full_mean(sum, row, j);
    }
  }

  template <class Sum>
  __device__ Out finished_mean(const Sum& sum, double places, index_t row, index_t j) const {
    const double mean = sum.value() / places;
    if constexpr (may_overflow<Sum>) {
      if (!isfinite(mean)) return mean_of_large<Sum>(row, j, places, mean);
    }
    return finished<Out>(mean);
  }
};

/// Row and column of item i where each row has `per_row` of them.
struct row_and_column {
  index_t row;
  index_t column;
};
__device__ inline row_and_column split_index(index_t i, index_t per_row) {
  if (i < per_row) return {0, i};
  if ((i | per_row) >> 32 == 0) {  // 32-bit division is several times cheaper
    const auto narrow = static_cast<unsigned>(i);
    const auto row = narrow / static_cast<unsigned>(per_row);
    return {row, narrow - row * static_cast<unsigned>(per_row)};
  }
  const index_t row = i / per_row;
  return {row, i - row * per_row};
}

/// Weights of the elements of a window: none, in global memory, or in constant memory (kernel
/// parameters live there).
struct no_weights {
  static constexpr bool weighted = false;
};
struct global_weights {
  static constexpr bool weighted = true;
  const double* value;
  __device__ double operator[](int k) const { return __ldg(value + k); }
};
struct constant_weights {
  static constexpr bool weighted = true;
  double value[max_convolve_weights];
  __device__ double operator[](int k) const { return value[k]; }
};

template <class Sum, class Weights>
__device__ inline void add_weighted(Sum& sum, const Weights& weights, index_t k, double x) {
  if constexpr (Weights::weighted) {
    sum.add(weights[static_cast<int>(k)] * x);
  } else {
    sum.add(x);
  }
}

}  // namespace gpu::kernels
