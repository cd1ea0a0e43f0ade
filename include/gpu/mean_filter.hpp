#pragma once
/// @file
/// Moving mean and convolution with a small kernel, along a vector or along each row of a matrix.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <gpu/execution.hpp>
#include <gpu/export.hpp>
#include <gpu/matrix.hpp>
#include <gpu/matrix_view.hpp>

namespace gpu {
inline namespace v0 {

/// What stands beyond the ends of a row a b c d. The names and meanings of reflect, nearest,
/// mirror and wrap are those of scipy.ndimage; `zero` is its mode 'constant' with cval 0.
enum class boundary {
  zero,     ///< 0 0 0 | a b c d | 0 0 0: the zeros count, every sum is divided by the window.
  reflect,  ///< c b a | a b c d | d c b: SciPy's default.
  nearest,  ///< a a a | a b c d | d d d
  mirror,   ///< d c b | a b c d | c b a
  wrap,     ///< b c d | a b c d | a b c
  shrink,   ///< Nothing: a sum is divided by the number of elements that its window holds.
  valid     ///< Nothing: only windows wholly inside the row; the output is window - 1 shorter.
};

/// What NaN input does.
enum class missing_values {
  propagate,  ///< An output is NaN where its window holds a NaN, and nowhere else.
  omit        ///< NaN counts as absent; NaN only where a window holds nothing else.
};

/// The implementation that filters. All obey the same error bound: see docs/mean_filter.md for
/// what each rung of the ladder gains.
enum class mean_filter_variant {
  automatic,        ///< Chosen by type, shape and device: see plan/mean_filter_variants.hpp.
  direct,           ///< Reads each window from (global) memory: window reads per output.
  constant_memory,  ///< CUDA: as direct, with the weights in constant memory; window <= 256.
  shared_memory,    ///< CUDA: a block shares a tile with its halo; window <= 4096.
  register_window,  ///< CUDA: windows in registers, several outputs per thread; window <= 16.
  block_sums,       ///< Sums of blocks shared by all windows over them: cost flat in the window.
  multi_level       ///< CUDA: block sums in global memory; window >= 4096.
};

/// "automatic", "direct", "constant_memory", ...
[[nodiscard]] GPU_SIMILARITY_EXPORT std::string_view to_string(boundary edges) noexcept;
/// The same for variants.
[[nodiscard]] GPU_SIMILARITY_EXPORT std::string_view to_string(
    mean_filter_variant variant) noexcept;

/// Options of mean_filter.
struct mean_filter_options {
  /// Elements of a window, 1 to 2^31 - 1; may be longer than the row.
  index_t window = 3;
  /// Shifts the windows, as SciPy's: output i is the mean of elements i - window / 2 - origin to
  /// i - window / 2 - origin + window - 1. From -(window / 2) (the window starts at i) to
  /// (window - 1) / 2 (it ends at i; SciPy calls the odd one out invalid too). 0 for
  /// boundary::valid, whose output i is the mean of elements i to i + window - 1.
  index_t origin = 0;
  /// What stands beyond the ends of a row.
  boundary edges = boundary::reflect;
  /// `omit` concerns float and double input only. Boundary zeros are not missing.
  missing_values nans = missing_values::propagate;
  /// The implementation; gpu::unsupported where the backend, shape or type does not offer it.
  mean_filter_variant variant = mean_filter_variant::automatic;
  /// Where it runs.
  execution exec = {};
};

/// Options of convolve.
struct convolve_options {
  /// Shifts the kernel, as scipy.ndimage.convolve1d: from -(weights / 2) to (weights - 1) / 2.
  index_t origin = 0;
  /// Every boundary but `shrink`.
  boundary edges = boundary::reflect;
  /// `automatic`, `direct`, `constant_memory`, `shared_memory` or `register_window`.
  mean_filter_variant variant = mean_filter_variant::automatic;
  /// Where it runs.
  execution exec = {};
};

/// The longest kernel that convolve takes: its weights travel to the device with the launch.
inline constexpr index_t max_convolve_weights = 256;

/// The element types that mean_filter and convolve take.
template <class T>
concept filter_element = std::same_as<T, std::uint8_t> || std::same_as<T, std::uint16_t> ||
    std::same_as<T, std::int32_t> || std::same_as<T, float> || std::same_as<T, double>;

/// Output of the input's own type, or double for integer input.
template <class Out, class In>
concept filter_output_of = filter_element<std::remove_const_t<In>> &&
    (std::same_as<Out, std::remove_const_t<In>> ||
     (std::integral<std::remove_const_t<In>> && std::same_as<Out, double>));

/// What a mean_filter call would run.
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
                                                          boundary edges);

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

/// A host vector as a matrix of one row.
template <class T>
matrix_view<T> as_row(std::span<T> data) {
  return {data.data(), 1, static_cast<index_t>(data.size())};
}
}  // namespace detail

/// Moving mean along each row of a host matrix.
///
/// Every output depends on its own window alone: no running sum crosses the row, so an Inf, a NaN
/// or a 1e17 changes only the outputs whose window holds it, and equal windows give equal bits
/// wherever the rounding of a sum allows it. Sums of doubles are compensated: a mean differs from
/// that of the exact sum by at most 2 ulp of the window's mean absolute value. float and integer
/// input is summed in double or wider; integer sums are exact.
///
/// @param in values [rows, cols], any strides, any cols from 0.
/// @param options window, boundary, NaN, variant, backend.
/// @param out means [rows, filtered_size(cols, window, edges)]; must not overlap `in`. Of the
///   input's type (integers truncate toward zero, as SciPy), or double for integer input.
/// @throw gpu::invalid_argument for a window, an origin or extents out of range, or overlap;
///   gpu::unsupported where the variant is not offered for this backend or window;
///   gpu::backend_unavailable, gpu::out_of_memory, gpu::cuda_error.
/// Cost: flat in the window but for `direct`, `constant_memory`, `shared_memory`; boundaries cost
/// O(window) more per row. Sums beyond the range of double are Inf or NaN, whatever the mean.
/// Blocks until the result is complete.
template <class In, class Out>
requires filter_output_of<Out, In>
void mean_filter(matrix_view<In> in, matrix_view<Out> out,
                 const mean_filter_options& options = {}) {
  detail::mean_filter<std::remove_const_t<In>, Out>(in, out, options);
}

/// As above for a host vector of any length.
template <class In, class Out>
requires filter_output_of<Out, In>
void mean_filter(std::span<In> in, std::span<Out> out, const mean_filter_options& options = {}) {
  detail::mean_filter<std::remove_const_t<In>, Out>(detail::as_row(in), detail::as_row(out),
                                                    options);
}

/// As above, returning a new matrix.
template <class In>
requires filter_element<std::remove_const_t<In>>
[[nodiscard]] matrix<std::remove_const_t<In>> mean_filter(matrix_view<In> in,
                                                          const mean_filter_options& options = {}) {
  matrix<std::remove_const_t<In>> out(in.rows(),
                                      filtered_size(in.cols(), options.window, options.edges));
  mean_filter(in, out.view(), options);
  return out;
}

/// As above, returning a new vector.
template <class In>
requires filter_element<std::remove_const_t<In>>
[[nodiscard]] std::vector<std::remove_const_t<In>> mean_filter(
    std::span<In> in, const mean_filter_options& options = {}) {
  std::vector<std::remove_const_t<In>> out(static_cast<std::size_t>(
      filtered_size(static_cast<index_t>(in.size()), options.window, options.edges)));
  mean_filter(in, std::span(out), options);
  return out;
}

/// As above on device memory: asynchronous on `options.exec.stream`, without synchronisation, and
/// capturable in a CUDA graph. Only `multi_level` takes scratch memory (about 24 bytes per
/// 2304 elements), from the stream's memory pool.
template <class In, class Out>
requires filter_output_of<Out, In>
void mean_filter(device_matrix_view<In> in, device_matrix_view<Out> out,
                 const mean_filter_options& options = {}) {
  detail::mean_filter<std::remove_const_t<In>, Out>(in, out, options);
}

/// As above for a device vector.
template <class In, class Out>
requires filter_output_of<Out, In>
void mean_filter(device_vector_view<In> in, device_vector_view<Out> out,
                 const mean_filter_options& options = {}) {
  detail::mean_filter<std::remove_const_t<In>, Out>(detail::as_row(in), detail::as_row(out),
                                                    options);
}

/// Convolution of each row of a host matrix with `weights`, as scipy.ndimage.convolve1d: the
/// kernel is flipped, so output i = sum over k of weights[k] * in[i + size / 2 + origin - k]
/// with the row extended as `options.edges` says.
///
/// Products and sums are double, in the order of the row: |error| <= (size + 1) 2^-53 times the
/// window's sum of absolute products. Integer output truncates toward zero and saturates at the
/// limits of its type (NaN gives 0).
/// @param in values [rows, cols], any strides.
/// @param options boundary, origin, variant, backend.
/// @param weights 1 to max_convolve_weights values, in host memory.
/// @param out [rows, filtered_size(cols, weights.size(), edges)]; must not overlap `in`.
/// @throw as mean_filter; gpu::invalid_argument for no weights, more than max_convolve_weights,
///   or boundary::shrink.
/// Cost: 2 * weights.size() operations per output.
template <class In, class Out>
requires filter_output_of<Out, In>
void convolve(matrix_view<In> in, std::span<const double> weights, matrix_view<Out> out,
              const convolve_options& options = {}) {
  detail::convolve<std::remove_const_t<In>, Out>(in, weights, out, options);
}

/// As above for a host vector.
template <class In, class Out>
requires filter_output_of<Out, In>
void convolve(std::span<In> in, std::span<const double> weights, std::span<Out> out,
              const convolve_options& options = {}) {
  detail::convolve<std::remove_const_t<In>, Out>(detail::as_row(in), weights, detail::as_row(out),
                                                 options);
}

/// As above on device memory: asynchronous on `options.exec.stream`, capturable. The weights are
/// read before the call returns.
template <class In, class Out>
requires filter_output_of<Out, In>
void convolve(device_matrix_view<In> in, std::span<const double> weights,
              device_matrix_view<Out> out, const convolve_options& options = {}) {
  detail::convolve<std::remove_const_t<In>, Out>(in, weights, out, options);
}

/// As above for a device vector.
template <class In, class Out>
requires filter_output_of<Out, In>
void convolve(device_vector_view<In> in, std::span<const double> weights,
              device_vector_view<Out> out, const convolve_options& options = {}) {
  detail::convolve<std::remove_const_t<In>, Out>(detail::as_row(in), weights, detail::as_row(out),
                                                 options);
}

/// What mean_filter would run for rows of `cols` elements of type T, without running it.
/// @throw as mean_filter.
template <class T>
requires filter_element<T>
[[nodiscard]] mean_filter_plan plan_mean_filter(index_t rows, index_t cols,
                                                const mean_filter_options& options = {}) {
  return detail::plan_mean_filter<T>(rows, cols, options);
}

}  // namespace v0
}  // namespace gpu
