#pragma once
/// @file
/// Moving mean and convolution with a small kernel, along a vector or along each row of a matrix.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include <gpu/execution.hpp>
#include <gpu/export.hpp>
#include <gpu/matrix.hpp>
#include <gpu/matrix_input.hpp>
#include <gpu/matrix_view.hpp>

namespace gpu {
inline namespace v0 {

/// What stands beyond the ends of a row a b c d. reflect, nearest, mirror and wrap have the names
/// and meanings of scipy.ndimage; `zero` is its mode 'constant' with cval 0.
enum class boundary {
  zero,     ///< 0 0 0 | a b c d | 0 0 0: the zeros count, every sum is divided by the window.
  reflect,  ///< c b a | a b c d | d c b: SciPy's default.
  nearest,  ///< a a a | a b c d | d d d
  mirror,   ///< d c b | a b c d | c b a
  wrap,     ///< b c d | a b c d | a b c
  shrink,   ///< Nothing: a sum is divided by the number of elements that its window holds.
  valid     ///< Nothing: only windows wholly inside the row; the output is window - 1 shorter.
};

/// The implementation that filters. All obey the same error bound; the documentation has times
/// ("Moving mean and convolution").
enum class mean_filter_variant {
  automatic,        ///< Chosen by type, shape and device.
  direct,           ///< Reads each window from (global) memory: window reads per output.
  constant_memory,  ///< CUDA: as direct, with the weights in constant memory; window <= 256.
  shared_memory,    ///< CUDA: a block shares a tile with its halo; window <= 4096.
  block_sums,       ///< Sums of blocks shared by all windows over them; any window costs the same.
  multi_level       ///< CUDA: block sums in global memory; window >= 1152.
};

/// "zero", "reflect", "nearest", ...: the name of the enumerator.
[[nodiscard]] GPU_SIMILARITY_EXPORT std::string_view to_string(boundary mode) noexcept;
/// "automatic", "direct", "constant_memory", ...: the name of the enumerator.
[[nodiscard]] GPU_SIMILARITY_EXPORT std::string_view to_string(
    mean_filter_variant variant) noexcept;

/// Options of mean_filter.
struct mean_filter_options {
  /// Elements of a window, 1 to 2^31 - 1. It may be longer than the row: with reflect, nearest,
  /// mirror and wrap, windows from 512 elements on have to be shorter than twice the row.
  index_t window = 3;
  /// Shifts the windows, as SciPy's: output i is the mean of elements i - window / 2 - origin to
  /// i - window / 2 - origin + window - 1. From -(window / 2) (the window starts at i) to
  /// (window - 1) / 2 (it ends at i), as in SciPy. 0 for
  /// boundary::valid, whose output i is the mean of elements i to i + window - 1.
  index_t origin = 0;
  /// What stands beyond the ends of a row.
  gpu::boundary boundary = gpu::boundary::reflect;
  /// Of float and double input. `propagate`: an output is NaN where its window holds a NaN, and
  /// nowhere else. `omit`: a NaN counts as absent; an output is NaN only where its window holds
  /// nothing else. Boundary zeros are not absent. No `reject`.
  nan_policy nans = nan_policy::propagate;
  /// The implementation; gpu::unsupported where the backend, shape or type does not offer it.
  mean_filter_variant variant = mean_filter_variant::automatic;
  /// Device overloads only: scratch memory of the caller, at least
  /// plan_mean_filter().workspace_bytes for CUDA, 256-byte aligned, used by nothing else until the
  /// stream has passed this call. Empty: scratch comes from the stream's memory pool
  /// (cudaMallocAsync).
  device_workspace workspace = {};
  /// Where it runs.
  execution exec = {};
};

/// Options of convolve.
struct convolve_options {
  /// Shifts the kernel, as scipy.ndimage.convolve1d: from -(weights / 2) to (weights - 1) / 2.
  index_t origin = 0;
  /// Every boundary but `shrink`.
  gpu::boundary boundary = gpu::boundary::reflect;
  /// `automatic`, `direct`, or on CUDA `constant_memory`, `shared_memory` or, to 9 weights,
  /// `block_sums`.
  mean_filter_variant variant = mean_filter_variant::automatic;
  /// Device overloads only: scratch memory of the caller, at least plan_convolve().workspace_bytes
  /// for CUDA (the weights, of `direct` alone), 256-byte aligned, used by nothing else until the
  /// stream has passed this call. Empty: scratch comes from the stream's memory pool
  /// (cudaMallocAsync).
  device_workspace workspace = {};
  /// Where it runs.
  execution exec = {};
};

/// The longest kernel that convolve takes: its weights travel to the device with the launch.
inline constexpr index_t max_convolve_weights = 256;

/// The element types that mean_filter and convolve take.
template <class T>
concept filter_element =
    std::same_as<T, std::int8_t> || std::same_as<T, std::int16_t> ||
    std::same_as<T, std::int32_t> || std::same_as<T, std::uint8_t> ||
    std::same_as<T, std::uint16_t> || std::same_as<T, float> || std::same_as<T, double>;

/// Output of the input's own type, or double.
template <class Out, class In>
concept filter_output_of =
    filter_element<std::remove_const_t<In>> &&
    (std::same_as<Out, std::remove_const_t<In>> || std::same_as<Out, double>);

/// What a call of mean_filter or convolve would run.
struct mean_filter_plan {
  backend used = backend::cpu;  ///< Where it would run.
  /// The implementation, never `automatic`.
  mean_filter_variant variant = mean_filter_variant::automatic;
  index_t output_cols = 0;          ///< Columns of the output.
  index_t tile_outputs = 0;         ///< Outputs that one block (CUDA) or strip (CPU) computes.
  std::size_t workspace_bytes = 0;  ///< Scratch memory it would take on that backend.
};

/// Columns of the output for rows of `cols` elements: cols, or for boundary::valid
/// cols - window + 1 (0 where the window is longer than the row).
/// @throw gpu::invalid_argument for cols < 0 or window < 1.
[[nodiscard]] GPU_SIMILARITY_EXPORT index_t filtered_size(index_t cols, index_t window,
                                                          boundary mode);

namespace detail {
template <class In, class Out>
GPU_SIMILARITY_EXPORT void mean_filter(matrix_view<const In> in, matrix_view<Out> out,
                                       const mean_filter_options& options);
template <class In, class Out>
GPU_SIMILARITY_EXPORT void mean_filter(device_matrix_view<const In> in, device_matrix_view<Out> out,
                                       const mean_filter_options& options);
template <class In, class Out>
GPU_SIMILARITY_EXPORT void convolve(matrix_view<const In> in, std::span<const double> weights,
                                    matrix_view<Out> out, const convolve_options& options);
template <class In, class Out>
GPU_SIMILARITY_EXPORT void convolve(device_matrix_view<const In> in,
                                    std::span<const double> weights, device_matrix_view<Out> out,
                                    const convolve_options& options);
template <class In>
GPU_SIMILARITY_EXPORT mean_filter_plan plan_mean_filter(index_t rows, index_t cols,
                                                        const mean_filter_options& options);
template <class In>
GPU_SIMILARITY_EXPORT mean_filter_plan plan_convolve(index_t rows, index_t cols, index_t weights,
                                                     const convolve_options& options);

/// The output that an operation on In returns: a matrix, or a vector where In is one.
template <class In, class T>
auto new_output(index_t rows, index_t cols) {
  if constexpr (vector_like<In>) {
    return new_vector<T>(cols);
  } else {
    return matrix<T>(rows, cols);
  }
}

/// What a filter can write into: a gpu::matrix or a range with a name, or a view of elements that
/// are not const.
template <class X>
concept filter_output = output_matrix<X> || output_vector<X>;

template <class T>
inline constexpr bool is_filter_element = filter_element<T>;
template <class In>
inline constexpr bool has_filter_element = filter_element<element_of<In>>;
template <class Out, class In>
inline constexpr bool is_filter_output = filter_output_of<Out, In>;
template <class In, class Out>
inline constexpr bool has_filter_output =
    !has_filter_element<In> || filter_output_of<element_of<Out>, element_of<In>>;

/// A matrix or vector as a read-only view of a type that the filters take.
template <rows_like In>
auto read_filter_input(const In& in) {
  static_assert(
      has_filter_element<In>,
      "in: its elements have a type that is not taken, expected int8_t, int16_t, int32_t, uint8_t, "
      "uint16_t, float or double");
  if constexpr (has_filter_element<In>) {
    return matrix_view<const element_of<In>>(view_as_matrix(in));
  } else {
    return matrix_view<const float>();
  }
}

/// Whether both types are right; one plain message where the output's is not.
template <class In, class Out>
constexpr bool checked_filter_output() {
  static_assert(has_filter_output<In, Out>,
                "out: expected elements of the input's type, or double");
  return has_filter_element<In> && has_filter_output<In, Out>;
}

/// The same for the elements of device views, the input's too.
template <class In, class Out>
constexpr bool checked_device_filter() {
  using element = std::remove_const_t<In>;
  static_assert(is_filter_element<element>,
                "in: its elements have a type that is not taken, expected int8_t, int16_t, "
                "int32_t, uint8_t, uint16_t, float or double");
  static_assert(!is_filter_element<element> || is_filter_output<Out, element>,
                "out: expected elements of the input's type, or double, not const");
  return is_filter_output<Out, element>;
}
}  // namespace detail

/// Moving mean along a vector or along each row of a matrix in host memory.
///
/// Every output depends on its own window alone: no running sum crosses the row, so an Inf, a NaN
/// or a 1e17 changes only the outputs whose window holds it. Where the mean is a double, its sum is
/// compensated: the mean differs from that of the exact sum by at most 2 ulp of the window's mean
/// absolute value. Where the mean is a float or an integer, the sum is a double or wider; integer
/// sums are exact.
///
/// @param in values in host memory: [n], a contiguous range, or [rows, cols], a matrix as
///   spearman_all_pairs takes it, of any cols from 0.
/// @param options window, boundary, NaN, variant, backend.
/// @param out means [rows, filtered_size(cols, window, boundary)] or [filtered_size(n, ...)]: a
///   gpu::matrix, a range, or a view of elements that are not const; must not overlap `in`. Its
///   type is the input's (integers truncate toward zero, as in SciPy), or double.
/// @throw gpu::invalid_argument for a window, an origin or extents out of range, or overlap;
///   gpu::unsupported where the variant is not offered for this backend or window;
///   gpu::backend_unavailable, gpu::out_of_memory, gpu::cuda_error.
/// Cost: independent of the window, except for `direct`, `constant_memory` and `shared_memory`.
/// Boundaries cost O(window) more per row, and no window costs more than one of twice the length of
/// a row. Sums beyond the range of double are Inf or NaN, whatever the mean. Blocks until the
/// result is complete.
template <rows_like In, detail::filter_output Out>
void mean_filter(const In& in, Out&& out, const mean_filter_options& options = {}) {
  const auto from = detail::read_filter_input(in);
  if constexpr (detail::checked_filter_output<In, Out>()) {
    detail::mean_filter(from, detail::view_as_matrix(out), options);
  }
}

/// As above, returning the means in the input's type: a gpu::matrix, or a std::vector of a vector.
template <rows_like In>
[[nodiscard]] auto mean_filter(const In& in, const mean_filter_options& options = {}) {
  const auto from = detail::read_filter_input(in);
  auto out = detail::new_output<In, typename decltype(from)::value_type>(
      from.rows(), filtered_size(from.cols(), options.window, options.boundary));
  detail::mean_filter(from, detail::view_as_matrix(out), options);
  return out;
}

/// As above on device memory: asynchronous on `options.exec.stream`, without synchronisation, and
/// capturable in a CUDA graph. `multi_level` takes scratch memory, about 48 bytes per 1152
/// elements: `options.workspace`, or from the stream's memory pool.
template <class In, class Out>
void mean_filter(device_matrix_view<In> in, device_matrix_view<Out> out,
                 const mean_filter_options& options = {}) {
  if constexpr (detail::checked_device_filter<In, Out>()) {
    detail::mean_filter<std::remove_const_t<In>, Out>(in, out, options);
  }
}

/// As above for a device vector.
template <class In, class Out>
void mean_filter(device_vector_view<In> in, device_vector_view<Out> out,
                 const mean_filter_options& options = {}) {
  if constexpr (detail::checked_device_filter<In, Out>()) {
    detail::mean_filter<std::remove_const_t<In>, Out>(detail::as_row(in), detail::as_row(out),
                                                      options);
  }
}

/// Convolution of a vector or of each row of a matrix in host memory with `weights`, as
/// scipy.ndimage.convolve1d: the kernel is flipped, so output i = sum over k of weights[k] * in[i +
/// size / 2 + origin - k] with the row extended as `options.boundary` says.
///
/// Products and sums are double, in the order of the row: |error| <= (size + 1) 2^-53 times the
/// window's sum of absolute products. Integer output truncates toward zero and saturates at the
/// limits of its type (NaN gives 0).
/// @param in values [rows, cols], any strides.
/// @param options boundary, origin, variant, backend.
/// @param weights 1 to max_convolve_weights values, in host memory.
/// @param out [rows, filtered_size(cols, weights.size(), boundary)]; must not overlap `in`.
/// @throw as mean_filter; gpu::invalid_argument for no weights, more than max_convolve_weights,
///   or boundary::shrink.
/// Cost: 2 * weights.size() operations per output.
template <rows_like In, detail::filter_output Out>
void convolve(const In& in, std::span<const double> weights, Out&& out,
              const convolve_options& options = {}) {
  const auto from = detail::read_filter_input(in);
  if constexpr (detail::checked_filter_output<In, Out>()) {
    detail::convolve(from, weights, detail::view_as_matrix(out), options);
  }
}

/// As above, returning the sums in the input's type: a gpu::matrix, or a std::vector of a vector.
template <rows_like In>
[[nodiscard]] auto convolve(const In& in, std::span<const double> weights,
                            const convolve_options& options = {}) {
  const auto from = detail::read_filter_input(in);
  const index_t size = std::max<index_t>(1, static_cast<index_t>(weights.size()));
  auto out = detail::new_output<In, typename decltype(from)::value_type>(
      from.rows(), filtered_size(from.cols(), size, options.boundary));
  detail::convolve(from, weights, detail::view_as_matrix(out), options);
  return out;
}

/// As above on device memory: asynchronous on `options.exec.stream`, capturable. The weights are
/// read before the call returns. Only `direct` takes scratch memory, for the weights:
/// `options.workspace`, or from the stream's memory pool.
template <class In, class Out>
void convolve(device_matrix_view<In> in, std::span<const double> weights,
              device_matrix_view<Out> out, const convolve_options& options = {}) {
  if constexpr (detail::checked_device_filter<In, Out>()) {
    detail::convolve<std::remove_const_t<In>, Out>(in, weights, out, options);
  }
}

/// As above for a device vector.
template <class In, class Out>
void convolve(device_vector_view<In> in, std::span<const double> weights,
              device_vector_view<Out> out, const convolve_options& options = {}) {
  if constexpr (detail::checked_device_filter<In, Out>()) {
    detail::convolve<std::remove_const_t<In>, Out>(detail::as_row(in), weights, detail::as_row(out),
                                                   options);
  }
}

/// What mean_filter would run for rows of `cols` elements of type T, without running it.
/// @throw as mean_filter.
template <class T>
[[nodiscard]] mean_filter_plan plan_mean_filter(index_t rows, index_t cols,
                                                const mean_filter_options& options = {}) {
  static_assert(detail::is_filter_element<T>,
                "plan_mean_filter<T>: expected int8_t, int16_t, int32_t, uint8_t, uint16_t, float "
                "or double as T");
  if constexpr (detail::is_filter_element<T>) {
    return detail::plan_mean_filter<T>(rows, cols, options);
  } else {
    return {};
  }
}

/// What convolve would run for rows of `cols` elements of type T and `weights` weights, without
/// running it.
/// @throw as convolve.
template <class T>
[[nodiscard]] mean_filter_plan plan_convolve(index_t rows, index_t cols, index_t weights,
                                             const convolve_options& options = {}) {
  static_assert(detail::is_filter_element<T>,
                "plan_convolve<T>: expected int8_t, int16_t, int32_t, uint8_t, uint16_t, float or "
                "double as T");
  if constexpr (detail::is_filter_element<T>) {
    return detail::plan_convolve<T>(rows, cols, weights, options);
  } else {
    return {};
  }
}

}  // namespace v0
}  // namespace gpu
