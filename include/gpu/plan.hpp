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
  /// rows (rows - 1) / 2; of x against y, rows of x times those of y; of a part, its share of them.
  std::uint64_t pairs = 0;
  std::uint64_t sampled_pairs = 0;  ///< Pairs of the sample behind the estimates.
  /// Expected number of kept pairs; with a top_k_sink of the entries of its table.
  double kept_estimate = 0;
  double kept_upper = 0;  ///< An upper bound of it, at about three standard errors.
  /// Host memory of the result: of a list of edges that of the estimated ones, of a stream that of
  /// its largest batch, else that of the table. For a folded sink: at most, as if no two rows had
  /// the same ranks. 0 where it stays on the device.
  double result_bytes = 0;
  /// Empty, or what makes the first call slower than it says: the library holds no machine code for
  /// the device, so that the driver compiles it first.
  std::string warning = {};
};

namespace detail {
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
}  // namespace detail

/// What all_pairs would run for `data`, and how many pairs an edge_sink with the filter `keep`
/// would keep, estimated from all pairs of a sample of at most 2048 rows drawn at random. A part is
/// assumed to keep the same share of its pairs as the whole table. Rows in device memory are not
/// read: then nothing is estimated and sampled_pairs is 0.
/// @throw as all_pairs. Cost: a fraction of a second at any number of rows.
template <table_like Data>
[[nodiscard]] pair_plan plan_all_pairs(measure what, const Data& data,
                                       const pair_options& options = {},
                                       const pair_filter& keep = {}) {
  return detail::plan_all_pairs(what, {detail::read_table(data)}, options, keep);
}

/// The same for x against y, estimated from at most 2048 rows of each side; of a part, from its
/// rows of x.
template <table_like X, table_like Y>
  requires detail::tables_together<X, Y>
[[nodiscard]] pair_plan plan_all_pairs(measure what, const X& x, const Y& y,
                                       const pair_options& options = {},
                                       const pair_filter& keep = {}) {
  return detail::plan_all_pairs(what, {detail::read_table(x), detail::read_table(y)}, options,
                                keep);
}

/// What all_pairs would run for `data` and any sink that it takes, and how large that result would
/// be. With a sink of device_sinks.hpp `workspace_bytes` is what pair_options::workspace must hold;
/// nothing is estimated, nothing is read or written.
/// @throw as all_pairs with that sink; but max_edges is not held against the estimate.
template <table_like Data, pair_sink Sink>
[[nodiscard]] pair_plan plan_all_pairs(measure what, const Data& data, const pair_options& options,
                                       const Sink& sink) {
  detail::check_sink_takes<Sink, Data>();
  return detail::plan_all_pairs(what, {detail::read_table(data)}, options, sink);
}

/// The same for x against y.
template <table_like X, table_like Y, pair_sink Sink>
  requires detail::tables_together<X, Y>
[[nodiscard]] pair_plan plan_all_pairs(measure what, const X& x, const Y& y,
                                       const pair_options& options, const Sink& sink) {
  detail::check_sink_takes<Sink, X>();
  return detail::plan_all_pairs(what, {detail::read_table(x), detail::read_table(y)}, options,
                                sink);
}

/// plan_all_pairs of measure::spearman.
template <table_like Data>
[[nodiscard]] pair_plan plan_spearman_all_pairs(const Data& data,
                                                const spearman_options& options = {},
                                                const pair_filter& keep = {}) {
  return plan_all_pairs(measure::spearman, data, options, keep);
}

/// The same for x against y.
template <table_like X, table_like Y>
  requires detail::tables_together<X, Y>
[[nodiscard]] pair_plan plan_spearman_all_pairs(const X& x, const Y& y,
                                                const spearman_options& options = {},
                                                const pair_filter& keep = {}) {
  return plan_all_pairs(measure::spearman, x, y, options, keep);
}

/// The same for any sink that spearman_all_pairs takes.
template <table_like Data, pair_sink Sink>
[[nodiscard]] pair_plan plan_spearman_all_pairs(const Data& data, const spearman_options& options,
                                                const Sink& sink) {
  return plan_all_pairs(measure::spearman, data, options, sink);
}

/// The same for x against y and any sink that spearman_all_pairs takes.
template <table_like X, table_like Y, pair_sink Sink>
  requires detail::tables_together<X, Y>
[[nodiscard]] pair_plan plan_spearman_all_pairs(const X& x, const Y& y,
                                                const spearman_options& options, const Sink& sink) {
  return plan_all_pairs(measure::spearman, x, y, options, sink);
}

/// plan_all_pairs of measure::pearson.
template <table_like Data>
[[nodiscard]] pair_plan plan_pearson_all_pairs(const Data& data,
                                               const pearson_options& options = {},
                                               const pair_filter& keep = {}) {
  return plan_all_pairs(measure::pearson, data, options, keep);
}

/// The same for x against y.
template <table_like X, table_like Y>
  requires detail::tables_together<X, Y>
[[nodiscard]] pair_plan plan_pearson_all_pairs(const X& x, const Y& y,
                                               const pearson_options& options = {},
                                               const pair_filter& keep = {}) {
  return plan_all_pairs(measure::pearson, x, y, options, keep);
}

/// The same for any sink that pearson_all_pairs takes.
template <table_like Data, unfolded_pair_sink Sink>
[[nodiscard]] pair_plan plan_pearson_all_pairs(const Data& data, const pearson_options& options,
                                               const Sink& sink) {
  return plan_all_pairs(measure::pearson, data, options, sink);
}

/// The same for x against y and any sink that pearson_all_pairs takes.
template <table_like X, table_like Y, unfolded_pair_sink Sink>
  requires detail::tables_together<X, Y>
[[nodiscard]] pair_plan plan_pearson_all_pairs(const X& x, const Y& y,
                                               const pearson_options& options, const Sink& sink) {
  return plan_all_pairs(measure::pearson, x, y, options, sink);
}

/// plan_all_pairs of measure::cosine.
template <table_like Data>
[[nodiscard]] pair_plan plan_cosine_all_pairs(const Data& data, const pair_options& options = {},
                                              const pair_filter& keep = {}) {
  return plan_all_pairs(measure::cosine, data, options, keep);
}

/// The same for x against y.
template <table_like X, table_like Y>
  requires detail::tables_together<X, Y>
[[nodiscard]] pair_plan plan_cosine_all_pairs(const X& x, const Y& y,
                                              const pair_options& options = {},
                                              const pair_filter& keep = {}) {
  return plan_all_pairs(measure::cosine, x, y, options, keep);
}

/// The same for any sink that cosine_all_pairs takes.
template <table_like Data, unfolded_pair_sink Sink>
[[nodiscard]] pair_plan plan_cosine_all_pairs(const Data& data, const pair_options& options,
                                              const Sink& sink) {
  return plan_all_pairs(measure::cosine, data, options, sink);
}

/// The same for x against y and any sink that cosine_all_pairs takes.
template <table_like X, table_like Y, unfolded_pair_sink Sink>
  requires detail::tables_together<X, Y>
[[nodiscard]] pair_plan plan_cosine_all_pairs(const X& x, const Y& y, const pair_options& options,
                                              const Sink& sink) {
  return plan_all_pairs(measure::cosine, x, y, options, sink);
}

/// plan_all_pairs of measure::bicor.
template <table_like Data>
[[nodiscard]] pair_plan plan_bicor_all_pairs(const Data& data, const pair_options& options = {},
                                             const pair_filter& keep = {}) {
  return plan_all_pairs(measure::bicor, data, options, keep);
}

/// The same for x against y.
template <table_like X, table_like Y>
  requires detail::tables_together<X, Y>
[[nodiscard]] pair_plan plan_bicor_all_pairs(const X& x, const Y& y,
                                             const pair_options& options = {},
                                             const pair_filter& keep = {}) {
  return plan_all_pairs(measure::bicor, x, y, options, keep);
}

/// The same for any sink that bicor_all_pairs takes.
template <table_like Data, unfolded_pair_sink Sink>
[[nodiscard]] pair_plan plan_bicor_all_pairs(const Data& data, const pair_options& options,
                                             const Sink& sink) {
  return plan_all_pairs(measure::bicor, data, options, sink);
}

/// The same for x against y and any sink that bicor_all_pairs takes.
template <table_like X, table_like Y, unfolded_pair_sink Sink>
  requires detail::tables_together<X, Y>
[[nodiscard]] pair_plan plan_bicor_all_pairs(const X& x, const Y& y, const pair_options& options,
                                             const Sink& sink) {
  return plan_all_pairs(measure::bicor, x, y, options, sink);
}

/// plan_all_pairs of measure::kendall.
template <table_like Data>
[[nodiscard]] pair_plan plan_kendall_all_pairs(const Data& data, const pair_options& options = {},
                                               const pair_filter& keep = {}) {
  return plan_all_pairs(measure::kendall, data, options, keep);
}

/// The same for x against y.
template <table_like X, table_like Y>
  requires detail::tables_together<X, Y>
[[nodiscard]] pair_plan plan_kendall_all_pairs(const X& x, const Y& y,
                                               const pair_options& options = {},
                                               const pair_filter& keep = {}) {
  return plan_all_pairs(measure::kendall, x, y, options, keep);
}

/// The same for any sink that kendall_all_pairs takes.
template <table_like Data, unfolded_pair_sink Sink>
[[nodiscard]] pair_plan plan_kendall_all_pairs(const Data& data, const pair_options& options,
                                               const Sink& sink) {
  return plan_all_pairs(measure::kendall, data, options, sink);
}

/// The same for x against y and any sink that kendall_all_pairs takes.
template <table_like X, table_like Y, unfolded_pair_sink Sink>
  requires detail::tables_together<X, Y>
[[nodiscard]] pair_plan plan_kendall_all_pairs(const X& x, const Y& y, const pair_options& options,
                                               const Sink& sink) {
  return plan_all_pairs(measure::kendall, x, y, options, sink);
}

}  // namespace v0
}  // namespace gpu
