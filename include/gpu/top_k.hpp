#pragma once
/// @file
/// The largest or smallest k values of a vector or of each row of a matrix, with their positions;
/// also of the distinct values, with their counts.

#include <concepts>
#include <cstddef>
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

/// Which end of the order is asked for. NaN comes last in both.
enum class top_k_select { largest, smallest };

/// In which order the entries come back.
enum class top_k_order {
  sorted,   ///< Best first, ties by lowest index.
  unsorted  ///< The same entries in an unspecified order; saves the sort where k is large.
};

/// The implementation that selects; every one gives the same entries.
enum class top_k_variant {
  automatic,        ///< Chosen by type, shape, k and device; plan_top_k says which.
  threshold,        ///< A bound from a sample, then one pass. CUDA: k to 4096, distinct 128.
  radix_select,     ///< CUDA: histograms of digits narrow down the k-th value; any k.
  sort,             ///< Sorts everything; any k. CUDA: of distinct values alone, by CUB.
  two_pass_insert,  ///< CUDA: each thread keeps a sorted list, blocks merge; k up to 32, not
                    ///< distinct.
  block_rows,       ///< CUDA: one block selects one row; middle rows, k up to 2048.
  warp_rows         ///< CUDA: one warp selects one row; rows and k up to 1024.
};

/// Options of top_k and top_k_distinct.
struct top_k_options {
  /// Which end.
  top_k_select select = top_k_select::largest;
  /// Order of the entries.
  top_k_order order = top_k_order::sorted;
  /// The implementation; gpu::unsupported where the backend, shape or type does not offer it.
  top_k_variant variant = top_k_variant::automatic;
  /// Device overloads only: scratch memory of the caller, at least plan_top_k().workspace_bytes (or
  /// plan_top_k_distinct()'s), 256-byte aligned, used by nothing else until the stream has passed
  /// this call. Empty: scratch comes from the stream's memory pool (cudaMallocAsync).
  device_workspace workspace = {};
  /// Where it runs.
  execution exec = {};
};

/// The best entries of a vector: `values[i] == data[indices[i]]`.
template <class T>
struct top_k_result {
  std::vector<T> values = {};         ///< [min(k, n)]
  std::vector<index_t> indices = {};  ///< [min(k, n)]
  index_t requested = 0;              ///< The k that was asked for.
  /// Whether there were fewer than k elements.
  [[nodiscard]] bool clamped() const noexcept {
    return static_cast<index_t>(values.size()) < requested;
  }
};

/// The best entries of each row of a matrix.
template <class T>
struct top_k_rows_result {
  matrix<T> values = {};         ///< [rows, min(k, cols)]
  matrix<index_t> indices = {};  ///< [rows, min(k, cols)], column numbers.
  index_t requested = 0;         ///< The k that was asked for.
  /// Whether rows have fewer than k elements.
  [[nodiscard]] bool clamped() const noexcept { return values.cols() < requested; }
};

/// The best distinct values of a vector.
template <class T>
struct top_k_distinct_result {
  std::vector<T> values = {};         ///< [found]: each value once, as at its first position.
  std::vector<index_t> indices = {};  ///< [found]: position of its first occurrence.
  std::vector<index_t> counts = {};   ///< [found]: how often it occurs in the whole vector.
  index_t requested = 0;              ///< The k that was asked for.
  /// Whether there were fewer than k distinct values.
  [[nodiscard]] bool clamped() const noexcept {
    return static_cast<index_t>(values.size()) < requested;
  }
};

/// The best distinct values of each row. Row i has `found[i]` entries; behind them values are 0,
/// indices -1 and counts 0.
template <class T>
struct top_k_distinct_rows_result {
  matrix<T> values = {};            ///< [rows, min(k, cols)]
  matrix<index_t> indices = {};     ///< [rows, min(k, cols)]
  matrix<index_t> counts = {};      ///< [rows, min(k, cols)]
  std::vector<index_t> found = {};  ///< [rows]
  index_t requested = 0;            ///< The k that was asked for.
};

/// What a call would run, without running it.
struct top_k_plan {
  backend used = backend::cpu;                       ///< Where it would run.
  top_k_variant variant = top_k_variant::automatic;  ///< Never `automatic` in an answer.
  index_t entries = 0;                               ///< min(k, cols): entries per row.
  std::size_t workspace_bytes = 0;  ///< Device scratch memory that a device overload takes.
};

/// "threshold", "radix_select", ... as the enumerators are called.
[[nodiscard]] GPU_SIMILARITY_EXPORT std::string_view to_string(top_k_variant variant) noexcept;

namespace detail {
template <class T>
GPU_SIMILARITY_EXPORT top_k_result<T> top_k_vector(matrix_view<const T> row, index_t k,
                                                   const top_k_options& options);
template <class T>
GPU_SIMILARITY_EXPORT top_k_rows_result<T> top_k_rows(matrix_view<const T> data, index_t k,
                                                      const top_k_options& options);
template <class T>
GPU_SIMILARITY_EXPORT top_k_distinct_result<T> top_k_distinct_vector(matrix_view<const T> row,
                                                                     index_t k,
                                                                     const top_k_options& options);
template <class T>
GPU_SIMILARITY_EXPORT top_k_distinct_rows_result<T> top_k_distinct_rows(
    matrix_view<const T> data, index_t k, const top_k_options& options);
template <class T>
GPU_SIMILARITY_EXPORT index_t top_k(device_matrix_view<const T> data, index_t k,
                                    device_matrix_view<T> values,
                                    device_matrix_view<index_t> indices,
                                    const top_k_options& options);
template <class T>
GPU_SIMILARITY_EXPORT void top_k_distinct(device_matrix_view<const T> data, index_t k,
                                          device_matrix_view<T> values,
                                          device_matrix_view<index_t> indices,
                                          device_matrix_view<index_t> counts,
                                          device_vector_view<index_t> found,
                                          const top_k_options& options);
template <class T>
GPU_SIMILARITY_EXPORT top_k_plan plan_top_k(index_t rows, index_t cols, index_t k, bool distinct,
                                            const top_k_options& options);
}  // namespace detail

/// The `k` best values of a vector, or of each row of a matrix, with their positions.
///
/// The order is total, so the answer is one and the same on every backend and variant: better
/// values first, equal values by lowest index, NaN behind everything in both directions. -0.0 and
/// 0.0 are equal. `values[i]` has the bits of `data[indices[i]]`.
/// @param data in host memory: values [n], a contiguous range, or [rows, cols], a matrix as
///   spearman_all_pairs takes it. n = 0 gives an empty result.
/// @param k at least 1. k > n gives n entries, and `clamped()` says so.
/// @param options which end, order, variant, backend.
/// @return top_k_result of a vector, top_k_rows_result of a matrix.
/// @throw gpu::invalid_argument for k < 1; gpu::unsupported where the variant is not offered for
///   this backend, shape or k; gpu::backend_unavailable, gpu::out_of_memory, gpu::cuda_error.
/// Cost: one read of the data for k up to a few thousand, a sort of k entries; for larger k a
/// few reads. Blocks until the result is complete.
template <rows_like Data>
[[nodiscard]] auto top_k(const Data& data, index_t k, const top_k_options& options = {}) {
  const auto elements = detail::read_elements(data);
  if constexpr (vector_like<Data>) {
    return detail::top_k_vector(elements, k, options);
  } else {
    return detail::top_k_rows(elements, k, options);
  }
}

/// The `k` best of the distinct values of a vector or of each row of a matrix, each once, with the
/// position of its first occurrence and the number of its occurrences. Sorted, whatever
/// `options.order` says.
///
/// As numpy.unique with return_index and return_counts, cut to its last (or first) k in
/// descending (or ascending) order. -0.0 and 0.0 are one value, all NaN are one value and the
/// last; the value returned has the bits of its first occurrence. Fewer than k distinct values:
/// all of them, and `clamped()` says so.
/// Parameters and errors as top_k.
/// @return top_k_distinct_result of a vector, top_k_distinct_rows_result of a matrix.
template <rows_like Data>
[[nodiscard]] auto top_k_distinct(const Data& data, index_t k, const top_k_options& options = {}) {
  const auto elements = detail::read_elements(data);
  if constexpr (vector_like<Data>) {
    return detail::top_k_distinct_vector(elements, k, options);
  } else {
    return detail::top_k_distinct_rows(elements, k, options);
  }
}

/// What top_k would run for `cols` elements of T per row, and the scratch memory it would take.
/// A vector is one row. `options.exec` decides device and backend; nothing is allocated.
/// @throw as top_k.
template <class T>
[[nodiscard]] top_k_plan plan_top_k(index_t rows, index_t cols, index_t k,
                                    const top_k_options& options = {}) {
  if constexpr (detail::checked_element<T>()) {
    return detail::plan_top_k<T>(rows, cols, k, false, options);
  } else {
    return {};
  }
}

/// The same for top_k_distinct.
template <class T>
[[nodiscard]] top_k_plan plan_top_k_distinct(index_t rows, index_t cols, index_t k,
                                             const top_k_options& options = {}) {
  if constexpr (detail::checked_element<T>()) {
    return detail::plan_top_k<T>(rows, cols, k, true, options);
  } else {
    return {};
  }
}

/// top_k on device memory: asynchronous on `options.exec.stream`, no synchronisation, capturable
/// in a CUDA graph. Data, values and indices are all in device memory: of data in host memory the
/// entries are returned.
/// @param data values [n].
/// @param k at least 1.
/// @param values receives the values [at least min(k, n)]; must not overlap `data`.
/// @param indices receives the positions [at least min(k, n)].
/// @param options which end, order, variant; the workspace and the stream.
/// @return min(k, n), the number of entries that will be written.
/// @throw gpu::invalid_argument for k < 1 or an output or workspace that is too small.
template <input_element T>
index_t top_k(device_vector_view<T> data, index_t k,
              device_vector_view<std::remove_const_t<T>> values,
              device_vector_view<index_t> indices, const top_k_options& options = {}) {
  using value = std::remove_const_t<T>;
  return detail::top_k<value>(detail::as_row(device_vector_view<const value>(data)), k,
                              detail::as_row(values), detail::as_row(indices), options);
}

/// top_k of each row on device memory: `values` and `indices` are [rows, at least min(k, cols)].
template <input_element T>
index_t top_k(device_matrix_view<T> data, index_t k,
              device_matrix_view<std::remove_const_t<T>> values,
              device_matrix_view<index_t> indices, const top_k_options& options = {}) {
  using value = std::remove_const_t<T>;
  return detail::top_k<value>(device_matrix_view<const value>(data), k, values, indices, options);
}

/// top_k_distinct on device memory, asynchronous as top_k.
/// @param data values [n].
/// @param k at least 1.
/// @param values,indices,counts receive the entries [at least min(k, n)].
/// @param found receives how many there are [1]; behind them values are 0, indices -1, counts 0.
/// @param options which end, variant; the workspace and the stream.
template <input_element T>
void top_k_distinct(device_vector_view<T> data, index_t k,
                    device_vector_view<std::remove_const_t<T>> values,
                    device_vector_view<index_t> indices, device_vector_view<index_t> counts,
                    device_vector_view<index_t> found, const top_k_options& options = {}) {
  using value = std::remove_const_t<T>;
  detail::top_k_distinct<value>(detail::as_row(device_vector_view<const value>(data)), k,
                                detail::as_row(values), detail::as_row(indices),
                                detail::as_row(counts), found, options);
}

/// top_k_distinct of each row on device memory: outputs [rows, at least min(k, cols)], `found`
/// [rows].
template <input_element T>
void top_k_distinct(device_matrix_view<T> data, index_t k,
                    device_matrix_view<std::remove_const_t<T>> values,
                    device_matrix_view<index_t> indices, device_matrix_view<index_t> counts,
                    device_vector_view<index_t> found, const top_k_options& options = {}) {
  using value = std::remove_const_t<T>;
  detail::top_k_distinct<value>(device_matrix_view<const value>(data), k, values, indices, counts,
                                found, options);
}

}  // namespace v0
}  // namespace gpu
