#pragma once
/// @file
/// The compiled entry points behind spearman_all_pairs, pearson_all_pairs and plan_all_pairs.

#include <concepts>

#include <gpu/detail/any_view.hpp>
#include <gpu/device_sinks.hpp>
#include <gpu/discovery.hpp>
#include <gpu/export.hpp>
#include <gpu/matrix_input.hpp>
#include <gpu/pair_options.hpp>
#include <gpu/pair_sinks.hpp>

namespace gpu {
inline namespace v0 {
namespace detail {

/// Which statistic an all-pairs call computes.
enum class measure { spearman, pearson };

GPU_SIMILARITY_EXPORT correlation_matrix<double> all_pairs(measure what, const pair_tables& data,
                                                           const pair_options& options,
                                                           const basic_dense_sink<double>& sink);
GPU_SIMILARITY_EXPORT correlation_matrix<float> all_pairs(measure what, const pair_tables& data,
                                                          const pair_options& options,
                                                          const basic_dense_sink<float>& sink);
GPU_SIMILARITY_EXPORT edge_list all_pairs(measure what, const pair_tables& data,
                                          const pair_options& options, const edge_sink& sink);
GPU_SIMILARITY_EXPORT neighbor_table all_pairs(measure what, const pair_tables& data,
                                               const pair_options& options, const top_k_sink& sink);
GPU_SIMILARITY_EXPORT pair_counts all_pairs(measure what, const pair_tables& data,
                                            const pair_options& options, const count_sink& sink);
GPU_SIMILARITY_EXPORT pair_summary all_pairs(measure what, const pair_tables& data,
                                             const pair_options& options, const stream_sink& sink);

GPU_SIMILARITY_EXPORT folded_edge_list all_pairs(measure what, const pair_tables& data,
                                                 const pair_options& options,
                                                 const folded_edge_sink& sink);
GPU_SIMILARITY_EXPORT pair_summary all_pairs(measure what, const pair_tables& data,
                                             const pair_options& options,
                                             const folded_stream_sink& sink);
GPU_SIMILARITY_EXPORT discovery_counts all_pairs(measure what, const pair_tables& data,
                                                 const pair_options& options,
                                                 const discovery_sink& sink);

GPU_SIMILARITY_EXPORT void all_pairs_on_device(measure what, const pair_tables& data,
                                               const pair_options& options,
                                               const any_device_sink& sink);
template <device_pair_sink Sink>
void all_pairs(measure what, const pair_tables& data, const pair_options& options,
               const Sink& sink) {
  all_pairs_on_device(what, data, options, sink);
}

/// Whether a call of all pairs takes an argument of this type. Plain values, because the message of
/// a concept that fails is its whole definition.
template <class Sink>
inline constexpr bool is_sink = pair_sink<Sink>;
template <class X>
inline constexpr bool is_table_or_options =
    table_like<X> || std::convertible_to<const X&, pair_options>;

/// Reports in one message that an argument is not a sink of the operation.
template <bool is_taken, class Sink>
constexpr void refuse_sink() {
  static_assert(!is_sink<Sink> || is_taken,
                "sink: folded edges are between patterns of equal ranks, which Pearson has not; "
                "expected edge_sink or stream_sink");
  static_assert(is_sink<Sink>,
                "sink: expected dense_sink, edge_sink, top_k_sink, count_sink, stream_sink or "
                "another of gpu/pair_sinks.hpp, as in edge_sink{.keep = filter}");
}

/// Reports in one message what may follow the data.
template <bool is_taken, class Other>
constexpr void refuse_second() {
  static_assert(!is_sink<Other> || is_taken,
                "sink: folded edges are between patterns of equal ranks, which Pearson has not; "
                "expected edge_sink or stream_sink");
  static_assert(
      is_sink<Other>,
      "expected gpu::pair_options, a sink of gpu/pair_sinks.hpp, or a second table behind "
      "the data");
}

/// Host results go with any data, device results with data in device memory.
template <class Sink, class Data>
inline constexpr bool sink_takes = !device_pair_sink<Sink> || device_matrix_like<Data>;

}  // namespace detail
}  // namespace v0
}  // namespace gpu
