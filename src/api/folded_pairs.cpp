// All pairs, kept as edges between patterns of rows.
#include <span>

#include <gpu/detail/all_pairs.hpp>

#include "api/all_pairs_run.hpp"
#include "base/parallel.hpp"
#include "pairs/checks.hpp"
#include "stats/edge_p_values.hpp"
#include "stats/pair_checksums.hpp"

namespace gpu::inline v0 {
namespace detail {
namespace {

// Largest batch of edges between an engine and a folded_edge_list.
constexpr index_t edge_list_batch = index_t{1} << 20;

pair_options always_folded(const pair_options& options) {
  pair_options out = options;
  out.fold = row_folding::always;
  return out;
}

// The pairs of rows that folded edges are, and the checksum of the folded edges themselves.
struct folded_totals {
  std::uint64_t pairs = 0;
  pair_checksum checksum = {};
};

pair_summary finish(const pair_run& run, const folded_totals& totals) {
  pair_summary out = run.finish(totals.pairs);
  out.checksum = totals.checksum;
  return out;
}

// Passes every batch of kept edges to consume(p_values, span).
template <class Consume>
folded_totals deliver_folded(const measure_traits& what, pair_run& run, const pair_options& options,
                             const pair_filter& keep, edge_order order, index_t batch_edges,
                             const Consume& consume) {
  const keep_range range = run.resolve(keep);
  const stats::edge_p_values p_values(what.info.test, run.engine().rows().cols, keep.side,
                                      options.exec.cpu_threads);
  const int threads = cpu::thread_count(options.exec.cpu_threads);
  folded_totals totals;
  run.folded_engine().folded_edges({.keep = range, .order = order, .batch_edges = batch_edges},
                                   [&](std::span<folded_edge> batch) {
                                     for (const folded_edge& e : batch) totals.pairs += e.pairs;
                                     totals.checksum += stats::checksum_of(
                                         std::span<const folded_edge>(batch), threads);
                                     consume(p_values, batch);
                                   });
  return totals;
}

}  // namespace

folded_edge_list run_all_pairs(const measure_traits& what, const pair_tables& tables,
                               const pair_options& options, const folded_edge_sink& sink) {
  validate::check_sink(what, sink);
  pair_run run(what, tables, always_folded(options), part_shape::patterns);
  folded_edge_list out;
  index_t kept = 0;
  const folded_totals totals =
      deliver_folded(what, run, options, sink.keep, sink.order, edge_list_batch,
                     [&](const stats::edge_p_values& p_values, std::span<folded_edge> batch) {
                       kept += static_cast<index_t>(batch.size());
                       if (kept > sink.max_edges) {
                         out.edges = {};  // the rest is counted alone
                         return;
                       }
                       p_values.fill(batch);
                       out.edges.insert(out.edges.end(), batch.begin(), batch.end());
                     });
  if (kept > sink.max_edges) {
    validate::throw_over_capacity("folded_edge_sink", "folded edges", kept, sink.max_edges);
  }
  out.patterns = run.folded_engine().folded()->patterns;
  out.summary = finish(run, totals);
  return out;
}

pair_summary run_all_pairs(const measure_traits& what, const pair_tables& tables,
                           const pair_options& options, const folded_stream_sink& sink) {
  validate::check_sink(what, sink);
  pair_run run(what, tables, always_folded(options), part_shape::patterns);
  if (sink.begin) sink.begin(run.folded_engine().folded()->patterns);
  const folded_totals totals =
      deliver_folded(what, run, options, sink.keep, sink.order, sink.batch_edges,
                     [&](const stats::edge_p_values& p_values, std::span<folded_edge> batch) {
                       p_values.fill(batch);
                       sink.consume(batch);
                     });
  return finish(run, totals);
}

}  // namespace detail
}  // namespace gpu::inline v0
