#pragma once
/// @file
/// Ranks of each row of a matrix.

#include <concepts>
#include <cstddef>
#include <string_view>

#include <gpu/detail/any_view.hpp>
#include <gpu/execution.hpp>
#include <gpu/export.hpp>
#include <gpu/matrix.hpp>
#include <gpu/matrix_input.hpp>
#include <gpu/matrix_view.hpp>

namespace gpu {
inline namespace v0 {

/// Which rank tied values get; the same names and meanings as scipy.stats.rankdata.
enum class tie_method {
  average,  ///< The mean of the ranks they span: [10,20,20] -> 1, 2.5, 2.5.
  min,      ///< The lowest of them: 1, 2, 2.
  max,      ///< The highest of them: 1, 3, 3.
  dense,    ///< As min, but the next value takes the next integer.
  ordinal   ///< Distinct ranks, in order of position.
};

/// Whether the smallest or the largest value has rank 1.
enum class rank_order {
  ascending,  ///< The smallest.
  descending  ///< The largest.
};

/// The implementation that ranks; every one gives the same bits, in another time.
enum class rank_variant {
  automatic,       ///< Chosen by backend, type and columns.
  counting,        ///< Counts smaller and equal values per element; rows of up to 128 columns.
  block_sort,      ///< CUDA: one block sorts one row; up to 8192 columns, for double up to 4096.
  segmented_sort,  ///< CUDA: sorts rows of any length in device memory.
  sort             ///< CPU: sorts rows of any length.
};

/// Options of rank_rows.
struct rank_options {
  /// Rank of tied values.
  tie_method ties = tie_method::average;
  /// Which end has rank 1.
  rank_order order = rank_order::ascending;
  /// `reject` throws; `propagate` makes every rank of a row that holds a NaN NaN; no `omit`.
  nan_policy nans = nan_policy::reject;
  /// The implementation; gpu::unsupported where the backend does not offer it.
  rank_variant variant = rank_variant::automatic;
  /// Device overload only: scratch memory of the caller, at least plan_rank_rows().workspace_bytes,
  /// 256-byte aligned, used by nothing else until the stream has passed this call. Empty: scratch
  /// comes from the stream's memory pool (cudaMallocAsync).
  device_workspace workspace = {};
  /// Where it runs.
  execution exec = {};
};

/// What a call would run, without running it.
struct rank_plan {
  backend used = backend::cpu;                     ///< Where it would run.
  rank_variant variant = rank_variant::automatic;  ///< Never `automatic` in an answer.
  /// Device scratch memory that the device overload takes: of `segmented_sort` alone, within
  /// `exec.workspace_bytes`; where that is 0, up to 512 MiB, or what one row takes.
  std::size_t workspace_bytes = 0;
};

/// "counting", "block_sort", ... as the enumerators are called.
[[nodiscard]] GPU_SIMILARITY_EXPORT std::string_view to_string(rank_variant variant) noexcept;

namespace detail {
/// Of any table in host memory.
GPU_SIMILARITY_EXPORT matrix<double> rank_rows_of(const any_table& data,
                                                  const rank_options& options);
template <class T>
GPU_SIMILARITY_EXPORT void rank_rows(device_matrix_view<const T> data,
                                     device_matrix_view<double> ranks, const rank_options& options);
template <class T>
GPU_SIMILARITY_EXPORT rank_plan plan_rank_rows(index_t rows, index_t cols,
                                               const rank_options& options);
}  // namespace detail

/// Ranks of each row, 1-based, as scipy.stats.rankdata(data, method, axis=1).
///
/// -0.0 ties with 0.0; +Inf and -Inf are ordinary values. NaN is rejected unless asked otherwise.
/// @param data values [rows, cols] in host memory, in either layout or sparse, as
///   spearman_all_pairs takes them; cols up to 2^31 - 1.
/// @param options ties, order, NaN policy, variant, backend, threads, memory.
/// @return ranks [rows, cols]. Doubles hold every rank exactly.
/// @throw gpu::invalid_argument where a value is NaN and `options.nans` is `reject` (row and
///   column are named), or there are too many columns; gpu::unsupported where the variant is not
///   offered for this backend or shape; gpu::out_of_memory where the workspace limit does not hold
///   one row; gpu::backend_unavailable, gpu::cuda_error.
/// Cost: O(cols^2) comparisons per row up to 128 columns (CUDA, no average ties: 96), else a sort.
/// On CUDA batches of rows stream through device memory. Blocks until the ranks are complete.
template <host_table_like Data>
[[nodiscard]] matrix<double> rank_rows(const Data& data, const rank_options& options = {}) {
  return detail::rank_rows_of(detail::read_host_table(data), options);
}

/// As above on device memory: asynchronous on `options.exec.stream`, no synchronisation, capturable
/// in a CUDA graph. Scratch, of the segmented sort alone, is `options.workspace` or comes from the
/// stream's memory pool.
/// Values cannot be inspected without waiting, so a row with a NaN gets NaN ranks whatever
/// `options.nans` says.
/// @param data values [rows, cols], cols up to 2^31 - 1, of a type of gpu::element.
/// @param ranks receives the ranks, doubles [rows, cols]; must not overlap `data`.
/// @param options as above; `exec.target` may not be `cpu`.
/// @throw as above, and gpu::invalid_argument where the extents of `ranks` differ from the data's
/// or
///   the workspace is too small or not aligned.
template <input_element T>
void rank_rows(device_matrix_view<T> data, device_matrix_view<double> ranks,
               const rank_options& options = {}) {
  detail::rank_rows(device_matrix_view<const std::remove_const_t<T>>(data), ranks, options);
}

#if !defined(__clang__)
namespace detail {
struct a_host_table__rank_options__or_views_of_data_and_double_ranks_on_a_device;
}
/// Any other call.
void rank_rows(
    detail::instead_of<
        detail::a_host_table__rank_options__or_views_of_data_and_double_ranks_on_a_device>,
    ...) = delete;
#endif

/// What rank_rows would run for rows of type T, without running it. Wide integers are ranked as
/// doubles.
/// @param rows,cols extents of the data, at least 0; cols up to 2^31 - 1.
/// @param options as of the call.
/// @throw gpu::invalid_argument for an extent out of range; otherwise as rank_rows.
template <class T>
  requires table_element<std::remove_const_t<T>>
[[nodiscard]] rank_plan plan_rank_rows(index_t rows, index_t cols,
                                       const rank_options& options = {}) {
  return detail::plan_rank_rows<detail::read_as<std::remove_const_t<T>>>(rows, cols, options);
}

}  // namespace v0
}  // namespace gpu
