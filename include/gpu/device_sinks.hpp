#pragma once
/// @file
/// Sinks of all pairs whose results stay in device memory.
///
/// gpu::all_pairs takes them for data in device memory. Such a call puts
/// its work on `options.exec.stream` and returns before it is done. It copies no results to the
/// host and folds no rows; every pair is decided as for a host result, to the same bits.
///
/// Values cannot be inspected without waiting, so a row with a NaN has no statistic, whatever
/// `options.nans` says. `options.exec.on_progress` is not called.
///
/// With adjustment::none the call does not wait. adjustment::bonferroni waits once for the stream
/// and the preparation of the rows, because its family is the pairs that have a statistic; such a
/// call cannot be captured in a CUDA graph. adjustment::benjamini_hochberg is gpu::unsupported,
/// because its cut follows from counts of all pairs.
///
/// Scratch memory is `options.workspace`, whose size plan_all_pairs(what, data, options, sink)
/// tells, or comes from the stream's memory pool. It holds the prepared rows and what the sink
/// needs, and is bounded by `options.exec.workspace_bytes` where that is not 0.

#include <concepts>
#include <cstdint>
#include <variant>

#include <gpu/detail/any_view.hpp>
#include <gpu/index.hpp>
#include <gpu/matrix_view.hpp>
#include <gpu/pair_sinks.hpp>

namespace gpu {
inline namespace v0 {

/// Write every statistic, as basic_dense_sink: ones on the diagonal, NaN in the rows and columns
/// without a statistic. Capturable in a CUDA graph.
template <dense_value Value>
struct basic_device_dense_sink {
  /// Type of the statistic in the result.
  using value_type = Value;
  /// Receives the statistics, [rows, rows]; of x against y [rows of x, rows of y]; of a part the
  /// rows of the panel. Must not overlap the data.
  device_matrix_view<Value> out = {};
};
/// Statistics in double precision.
using device_dense_sink = basic_device_dense_sink<double>;
/// Statistics in single precision.
using device_dense_sink_f32 = basic_device_dense_sink<float>;

/// Write the best partners of each row among those that pass the filter, as top_k_sink. Row i has
/// `count[i]` neighbours, best first; the entries behind them hold neighbor_table::no_neighbor and
/// NaN. Capturable in a CUDA graph.
///
/// Up to 128 columns and 128 partners, on devices with tensor cores, the search works as for a host
/// result; so does the search of long unit rows (Pearson and its like) on compute capability 9.0,
/// from estimates of [256 or more, rows] statistics in single precision. Else each block of rows is
/// computed whole, [128 or more, rows] statistics at a time.
struct device_top_k_sink {
  device_matrix_view<node_id> index = {};     ///< [rows, k]; its columns are the k asked for.
  device_matrix_view<double> statistic = {};  ///< [rows, k]
  device_vector_view<node_id> count = {};     ///< [rows]
  /// Which pairs can be neighbours.
  pair_filter keep = {};
  /// What "best" means.
  neighbor_order order = neighbor_order::by_absolute_value;
};

/// Count the pairs that pass the filter, as count_sink, into whichever of these are not empty.
/// Capturable in a CUDA graph.
///
/// On compute capability 9.0 the kernels of the host result count: Spearman's for up to 128 columns
/// at cuts that keep no statistic of 0, Pearson's for up to 96. They take scratch of their own (at
/// most 2 packed rows a row, 4 with a histogram, and 128 MiB); where `options.exec.workspace_bytes`
/// has no room for it, and for everything else, the tiles count. A host result may screen strict
/// cuts, which needs a look at the rows: here they take as long as loose ones.
struct device_count_sink {
  /// [rows]: kept pairs that row i is part of; of x against y those of the rows of x. For
  /// gpu::top_k see as_int32().
  device_vector_view<std::uint32_t> degree = {};
  /// With x against y, [rows of y]: the same for the rows of y.
  device_vector_view<std::uint32_t> y_degree = {};
  /// [bins], at most 65,536, as count_sink::histogram_bins.
  device_vector_view<std::uint64_t> histogram = {};
  /// [3]: pairs that have a statistic, those that were kept, and rows without a statistic.
  device_vector_view<std::uint64_t> totals = {};
  /// Which pairs.
  pair_filter keep = {};
};

/// Write the pairs that pass the filter as a list in ascending (row, column).
///
/// If more are found than fit, `found` is their number all the same and `edges` holds the first. A
/// call with up to 2^22 pairs of rows computes them all, with 8 bytes of scratch each. A larger one
/// may compute pairs up to three times; compute capability 9.0 screens strict cuts, with 16 more
/// bytes of scratch an edge and 40 and a packed row a row. Not for Kendall's tau (unsupported).
struct device_edge_sink {
  device_vector_view<edge> edges = {};           ///< [capacity], at least 1.
  device_vector_view<std::uint64_t> found = {};  ///< [1]: edges that there are.
  /// Which pairs.
  pair_filter keep = {};
};

/// Degrees as an element type that gpu::top_k takes, the same memory. Degrees are below 2^31 for up
/// to 2^31 rows.
[[nodiscard]] inline device_vector_view<const std::int32_t> as_int32(
    device_vector_view<const std::uint32_t> degree) {
  return {reinterpret_cast<const std::int32_t*>(degree.data()), degree.size()};
}

namespace detail {

/// One sink of any kind, as it crosses into the library.
using any_device_sink =
    std::variant<basic_device_dense_sink<double>, basic_device_dense_sink<float>, device_top_k_sink,
                 device_count_sink, device_edge_sink>;

template <class Sink>
  requires(std::same_as<Sink, basic_device_dense_sink<double>> ||
           std::same_as<Sink, basic_device_dense_sink<float>> ||
           std::same_as<Sink, device_top_k_sink> || std::same_as<Sink, device_count_sink> ||
           std::same_as<Sink, device_edge_sink>)
struct sink_result<Sink> {
  using type = void;
};

}  // namespace detail

/// A sink whose result stays in device memory.
template <class Sink>
concept device_pair_sink = pair_sink<Sink> && std::same_as<sink_result_t<Sink>, void>;

}  // namespace v0
}  // namespace gpu
