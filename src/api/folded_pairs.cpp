// All pairs, kept as edges between patterns of rows.
#include <span>

#include <gpu/detail/all_pairs.hpp>

#include "api/all_pairs_run.hpp"
#include "base/parallel.hpp"
#include "pairs/checks.hpp"
#include "pairs/delivery/folded_delivery.hpp"
#include "stats/significance/edge_p_values.hpp"

namespace gpu::inline v0 {
namespace detail {
namespace {

using delivery::folded_totals;

// Largest batch of edges between an engine and a folded_edge_list.
constexpr index_t edge_list_batch = index_t{1} << 20;

pair_options always_folded(const pair_options& options) {
  pair_options out = options;
  out.fold = row_folding::always;
  return out;
}

pair_summary finish(const pair_run& run, const folded_totals& totals) {
  pair_summary out = run.finish(totals.pairs);
  out.checksum = totals.checksum;
  return out;
}

folded_totals deliver(const measure_traits& what, pair_run& run, const pair_options& options,
                      const pair_filter& keep, edge_order order, index_t batch_edges,
                      const delivery::folded_receiver& receive) {
  const keep_range range = run.resolve(keep);
  const stats::edge_p_values p_values(what.info.test,
                                      what.observations_of(run.engine().rows().cols), keep.side,
                                      options.exec.cpu_threads);
  return delivery::deliver_folded(
      run.folded_engine(), {.keep = range, .order = order, .batch_edges = batch_edges}, p_values,
      detail::thread_count(options.exec.cpu_threads), receive);
}

}  // namespace

folded_edge_list run_all_pairs(const measure_traits& what, const pair_tables& tables,
                               const pair_options& options, const folded_edge_sink& sink) {
  validate::check_sink(what, sink);
  pair_run run(what, tables, always_folded(options), part_shape::patterns);
  folded_edge_list out;
  index_t kept = 0;
  const folded_totals totals =
      deliver(what, run, options, sink.keep, sink.order, edge_list_batch,
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
  out.patterns = run.folded_engine().patterns();
  out.summary = finish(run, totals);
  return out;
}

pair_summary run_all_pairs(const measure_traits& what, const pair_tables& tables,
                           const pair_options& options, const folded_stream_sink& sink) {
  validate::check_sink(what, sink);
  pair_run run(what, tables, always_folded(options), part_shape::patterns);
  if (sink.begin) sink.begin(run.folded_engine().patterns());
  const folded_totals totals =
      deliver(what, run, options, sink.keep, sink.order, sink.batch_edges,
              [&](const stats::edge_p_values& p_values, std::span<folded_edge> batch) {
                p_values.fill(batch);
                sink.consume(batch);
              });
  return finish(run, totals);
}

}  // namespace detail
}  // namespace gpu::inline v0
