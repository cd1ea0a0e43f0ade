// All pairs: one function per sink. Each checks, runs its engine and completes the result.
#include <gpu/detail/all_pairs.hpp>

#include <cstddef>
#include <utility>
#include <vector>

#include "api/all_pairs_run.hpp"
#include "api/pair_call.hpp"
#include "base/memory_errors.hpp"
#include "pairs/adjusted_p.hpp"
#include "pairs/checks.hpp"
#include "pairs/delivery/kept_edges.hpp"
#include "pairs/delivery/partners.hpp"
#include "plan/fold_choice.hpp"

namespace gpu::inline v0::detail {
namespace {

// Of x against y, the degrees of an engine are those of the rows of x with those of y behind them.
void split_degrees(index_t rows_of_x, pair_counts& counts) {
  const auto first_of_y = counts.degree.begin() + rows_of_x;
  if (counts.degree.end() - first_of_y > rows_of_x) {  // the longer part stays where it is
    counts.y_degree.assign(counts.degree.begin(), first_of_y);
    counts.degree.erase(counts.degree.begin(), first_of_y);
    std::swap(counts.degree, counts.y_degree);
    return;
  }
  counts.y_degree.assign(first_of_y, counts.degree.end());
  counts.degree.erase(first_of_y, counts.degree.end());
}

}  // namespace

template <class Value>
correlation_matrix<Value> run_all_pairs(const pair_request& request,
                                        const basic_dense_sink<Value>&) {
  pair_run run(request, part_shape::equal_rows, fold_scope::both);
  correlation_matrix<Value> out(run.area().rows.size(), run.area().cols.size());
  run.engine().dense(out.view());
  out.summary = run.finish(run.pairs_tested());
  return out;
}
template correlation_matrix<double> run_all_pairs(const pair_request&, const dense_sink&);
template correlation_matrix<float> run_all_pairs(const pair_request&, const dense_sink_f32&);

edge_list run_all_pairs(const pair_request& request, const edge_sink& sink) {
  validate::check_sink(request.what, sink);
  pair_run run(request, part_shape::equal_pairs, scope_of_edges(sink.order));
  delivery::kept_edges kept(run.engine(), run.resolve(sink.keep), request.exec.cpu_threads);
  edge_list out;
  const pair_checksum checksum = delivery::list_edges(kept, sink, out.edges);
  out.summary = run.finish(checksum);
  return out;
}

pair_summary run_all_pairs(const pair_request& request, const stream_sink& sink) {
  validate::check_sink(request.what, sink);
  pair_run run(request, part_shape::equal_pairs, scope_of_edges(sink.order));
  delivery::kept_edges kept(run.engine(), run.resolve(sink.keep), request.exec.cpu_threads);
  return run.finish(delivery::stream_edges(kept, sink));
}

namespace {

// q of all entries, behind everything else: it changes the cut of the run.
matrix<double> q_of_partners(pair_run& run, const top_k_sink& sink, int threads,
                             const neighbor_table& table) {
  delivery::kept_edges kept(run.engine(), run.within_max_p(sink.keep), threads);
  matrix<double> q = delivery::partner_p(table, kept, run.area().rows.begin);
  array<double> tests;
  if (run.discoveries() > 0) tests = delivery::list_p(kept, run.discoveries());
  detail::adjust_within({q.data(), static_cast<std::size_t>(q.rows() * q.cols())}, tests,
                        run.family(), sink.keep.adjust, kept.threads());
  return q;
}

}  // namespace

neighbor_table run_all_pairs(const pair_request& request, const top_k_sink& sink) {
  validate::check_sink(request.what, sink);
  pair_run run(request, part_shape::equal_rows);
  const pair_test& test = run.resolve(sink.keep, true);
  const index_range& panel = run.area().rows;
  const bool has_q = sink.q == neighbor_q::exact;
  if (has_q && run.discoveries() > 0) {
    delivery::check_room_for_q(run.discoveries(), panel.size() * sink.k, request.exec);
  }
  neighbor_table out{.index = matrix<node_id>(panel.size(), sink.k),
                     .statistic = matrix<double>(panel.size(), sink.k),
                     .count = std::vector<node_id>(static_cast<std::size_t>(panel.size())),
                     .summary = {}};
  const pair_checksum entries =
      delivery::find_partners(run.engine(), test, sink, panel.begin, request.exec.cpu_threads, out);
  if (has_q) out.q = q_of_partners(run, sink, request.exec.cpu_threads, out);
  out.summary = run.finish(entries);
  return out;
}

pair_counts run_all_pairs(const pair_request& request, const count_sink& sink) {
  validate::check_sink(request.what, sink);
  pair_run run(request, part_shape::equal_pairs, scope_of_counts(sink.keep));
  const pair_test& test = run.resolve(sink.keep);
  pair_counts out;
  out.tested = run.pairs_tested();
  out.histogram.resize(static_cast<std::size_t>(sink.histogram_bins));
  run.engine().counts({.keep = test.keep(),
                       .histogram_bins = sink.histogram_bins,
                       .cuts = test.cuts(),
                       .tied = test.tied_cut()},
                      out);
  if (run.is_against()) split_degrees(run.rows_of_x(), out);
  out.summary = run.finish(out.kept);
  return out;
}

template <class Sink>
sink_result_t<Sink> all_pairs_on_host(measure what, const pair_tables& data,
                                      const pair_options& options, const Sink& sink) {
  return with_memory_errors("all pairs", [&] {
    const pair_call call(what, data, options, facts_of(sink));
    return run_all_pairs(call.request(), sink);
  });
}

#define GPU_SIMILARITY_INSTANTIATE_SINK(Sink)                           \
  template GPU_SIMILARITY_EXPORT sink_result_t<Sink> all_pairs_on_host( \
      measure, const pair_tables&, const pair_options&, const Sink&);
GPU_SIMILARITY_FOR_EACH_PAIR_SINK(GPU_SIMILARITY_INSTANTIATE_SINK)
GPU_SIMILARITY_INSTANTIATE_SINK(connectivity_sink)
GPU_SIMILARITY_INSTANTIATE_SINK(discovery_sink)
#undef GPU_SIMILARITY_INSTANTIATE_SINK

}  // namespace gpu::inline v0::detail
