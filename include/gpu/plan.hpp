#pragma once
/// @file
/// What a call would run and how large its result would be, without running it.

#include <cstddef>
#include <cstdint>
#include <string>

#include <gpu/detail/all_pairs.hpp>
#include <gpu/matrix_input.hpp>
#include <gpu/measure.hpp>
#include <gpu/pair_options.hpp>
#include <gpu/pair_sinks.hpp>

namespace gpu {
inline namespace v0 {

/// What an all-pairs call would do.
struct pair_plan {
  backend used = backend::cpu;                     ///< Where it would run.
  std::string device = {};                         ///< CPU or GPU name; of several, "2 x name".
  pair_variant variant = pair_variant::automatic;  ///< What would run: never `automatic`.
  index_t tile_rows = 0;                           ///< Rows of one block of the pair matrix.
  index_t tile_cols = 0;                           ///< Columns of one block of the pair matrix.
  std::size_t workspace_bytes = 0;  ///< Scratch memory it would take, on each device.
  /// How pairs would be decided, and why, in words. Counts on the CPU are told as edges are.
  std::string choice = {};
  /// Empty, or the expected times by which backend::automatic chose; `choice` begins with them.
  std::string backend_choice = {};
  /// rows (rows - 1) / 2; of x against y, rows of x times those of y; of a part, its share of them.
  std::uint64_t pairs = 0;
  std::uint64_t sampled_pairs = 0;  ///< Pairs of the sample behind the estimates.
  /// Expected number of kept pairs; with a top_k_sink of the entries of its table.
  double kept_estimate = 0;
  double kept_upper = 0;  ///< An upper bound of it, at about three standard errors.
  /// Host memory of the result: of a list of edges that of the estimated ones, of a stream that of
  /// its largest batch, else that of the table. 0 where it stays on the device.
  double result_bytes = 0;
  /// Empty, or what makes the first call slower than it says: the library holds no machine code for
  /// the device, so that the driver compiles it first.
  std::string warning = {};
};

namespace detail {
/// The backend that all pairs of these tables run on. A device is woken only for a job that may run
/// there.
GPU_SIMILARITY_EXPORT backend backend_of(measure what, const pair_tables& data,
                                         const pair_options& options);
/// Whether this process has used a CUDA device; none is asked.
GPU_SIMILARITY_EXPORT bool has_used_cuda();

/// Compiled into the library for every sink with a result in host memory.
template <class Sink>
GPU_SIMILARITY_EXPORT pair_plan plan_all_pairs_on_host(measure what, const pair_tables& data,
                                                       const pair_options& options,
                                                       const Sink& sink);
GPU_SIMILARITY_EXPORT pair_plan plan_all_pairs_on_device(measure what, const pair_tables& data,
                                                         const pair_options& options,
                                                         const any_device_sink& sink);

template <pair_sink Sink>
pair_plan plan_all_pairs(measure what, const pair_tables& data, const pair_options& options,
                         const Sink& sink) {
  if constexpr (device_pair_sink<Sink>) {
    return plan_all_pairs_on_device(what, data, options, sink);
  } else {
    return plan_all_pairs_on_host(what, data, options, sink);
  }
}
inline pair_plan plan_all_pairs(measure what, const pair_tables& data, const pair_options& options,
                                const pair_filter& keep) {
  return plan_all_pairs_on_host(what, data, options, edge_sink{.keep = keep});
}

/// The sink of a plan, or the filter instead of it.
template <class Y, class Options, class Sink>
using planned_sink =
    std::conditional_t<std::same_as<Y, pair_filter> || std::same_as<Options, pair_filter> ||
                           std::same_as<Sink, pair_filter>,
                       pair_filter, sink_of<Y, Options, Sink>>;
}  // namespace detail

/// What all_pairs would run, and how many pairs it would keep: (what, data, options, sink), (what,
/// data, sink), (what, x, y, options, sink) or (what, x, y, sink), with any sink that all_pairs
/// takes with this data. A gpu::pair_filter instead of the sink means an edge_sink with that
/// filter; without either, every pair is kept.
///
/// The kept pairs are estimated from all pairs of a sample of at most 2048 rows, of x against y of
/// each side, drawn at random. A part is assumed to keep the same share of its pairs as the whole
/// table; of x against y it is estimated from its rows of x. Rows in device memory are not read:
/// then nothing is estimated and sampled_pairs is 0.
///
/// With a sink of device_sinks.hpp `workspace_bytes` is what pair_options::workspace must hold;
/// nothing is estimated, nothing is read or written.
/// @throw as all_pairs with that sink, except that max_edges is not compared with the estimate.
/// Cost: a fraction of a second at any number of rows.
template <class X, class Y = pair_options, class Options = detail::argument_after<Y, pair_filter>,
          class Sink = detail::argument_after<Options, pair_filter>,
          detail::misuse Error = detail::misuse_of<detail::call_kind::plan, X, Y, Options, Sink>()>
  requires(Error == detail::misuse::none)
[[nodiscard]] pair_plan plan_all_pairs(measure what, const X& x, const Y& y = {},
                                       const Options& options = {}, const Sink& sink = {}) {
  return detail::plan_all_pairs(
      what, detail::tables_of(x, y), detail::argument_of<pair_options>(y, options, pair_options{}),
      detail::argument_of<detail::planned_sink<Y, Options, Sink>>(y, options, sink));
}

#if !defined(__clang__)
/// Any other call.
template <class X, class Y = pair_options, class Options = detail::argument_after<Y, pair_filter>,
          class Sink = detail::argument_after<Options, pair_filter>,
          detail::misuse Error = detail::misuse_of<detail::call_kind::plan, X, Y, Options, Sink>()>
  requires(Error != detail::misuse::none)
void plan_all_pairs(measure what, const X& x, const Y& y = {}, const Options& options = {},
                    const Sink& sink = {}) = delete;
#endif

}  // namespace v0
}  // namespace gpu
