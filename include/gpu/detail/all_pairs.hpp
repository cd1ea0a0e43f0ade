#pragma once
/// @file
/// The compiled entry points behind all_pairs and plan_all_pairs.

#include <type_traits>

#include <gpu/connectivity.hpp>
#include <gpu/detail/any_view.hpp>
#include <gpu/device_sinks.hpp>
#include <gpu/discovery.hpp>
#include <gpu/export.hpp>
#include <gpu/matrix_input.hpp>
#include <gpu/measure.hpp>
#include <gpu/pair_options.hpp>
#include <gpu/pair_sinks.hpp>

namespace gpu {
inline namespace v0 {
namespace detail {

GPU_SIMILARITY_EXPORT void all_pairs_on_device(measure what, const pair_tables& data,
                                               const pair_options& options,
                                               const any_device_sink& sink);

/// Compiled into the library for every sink with a result in host memory.
template <class Sink>
GPU_SIMILARITY_EXPORT sink_result_t<Sink> all_pairs_on_host(measure what, const pair_tables& data,
                                                            const pair_options& options,
                                                            const Sink& sink);

template <pair_sink Sink>
sink_result_t<Sink> all_pairs(measure what, const pair_tables& data, const pair_options& options,
                              const Sink& sink) {
  if constexpr (device_pair_sink<Sink>) {
    all_pairs_on_device(what, data, options, sink);
  } else {
    return all_pairs_on_host(what, data, options, sink);
  }
}

/// Host results go with any data, device results with data in device memory.
template <class Sink, class Data>
constexpr void check_sink_takes() {
  static_assert(!device_pair_sink<Sink> || device_matrix_like<Data>,
                "sink: a result in device memory takes data in device memory");
}

}  // namespace detail
}  // namespace v0
}  // namespace gpu
