// All pairs: one function per sink. Each validates, runs its engine and completes the result.
#include <gpu/detail/all_pairs.hpp>

#include <fmt/format.h>

#include <limits>
#include <span>

#include <gpu/error.hpp>

#include "api/all_pairs_run.hpp"
#include "base/memory_errors.hpp"
#include "pairs/checks.hpp"
#include "plan/fold_choice.hpp"
#include "stats/edge_p_values.hpp"

namespace gpu::inline v0 {
namespace detail {
namespace {

// Largest batch of edges between an engine and an edge_list.
constexpr index_t edge_list_batch = index_t{1} << 20;

template <class Value>
correlation_matrix<Value> dense_pairs(measure what, const any_matrix_view& data,
                                      const pair_options& options) {
  return with_memory_errors("all pairs", [&] {
    pair_run run(what, data, options);
    const index_t rows = run.engine().rows().rows;
    correlation_matrix<Value> out(rows, rows);
    run.engine().dense(out.view());
    out.summary = run.finish(run.pairs_tested());
    return out;
  });
}

// Passes every batch of edges that `request` asks for and `keep` keeps to consume(p_values, batch).
template <class Consume>
void deliver_edges(pair_run& run, const pair_options& options, const pair_filter& keep,
                   edge_request request, const Consume& consume) {
  request.keep = run.resolve(keep);
  stats::edge_p_values p_values(run.engine().rows().cols, keep.side, options.exec.cpu_threads);
  run.engine().edges(request, [&](std::span<edge> batch) { consume(p_values, batch); });
}

void refuse_edges(std::uint64_t kept, index_t capacity) {
  throw capacity_exceeded(
      fmt::format("edge_sink.max_edges: {} pairs pass the filter, the capacity is {}", kept,
                  capacity),
      static_cast<index_t>(kept));
}

}  // namespace

correlation_matrix<double> all_pairs(measure what, const any_matrix_view& data,
                                     const pair_options& options, const basic_dense_sink<double>&) {
  return dense_pairs<double>(what, data, options);
}

correlation_matrix<float> all_pairs(measure what, const any_matrix_view& data,
                                    const pair_options& options, const basic_dense_sink<float>&) {
  return dense_pairs<float>(what, data, options);
}

edge_list all_pairs(measure what, const any_matrix_view& data, const pair_options& options,
                    const edge_sink& sink) {
  return with_memory_errors("all pairs", [&] {
    validate::check_sink(sink);
    pair_run run(what, data, options);
    edge_list out;
    index_t kept = 0;
    edge_request request{.keep = {}, .order = sink.order, .batch_edges = edge_list_batch};
    if (sink.max_edges < std::numeric_limits<index_t>::max()) {
      request.most = static_cast<std::uint64_t>(sink.max_edges);
      request.exceeded = [&](std::uint64_t all) { refuse_edges(all, sink.max_edges); };
    }
    deliver_edges(run, options, sink.keep, request,
                  [&](stats::edge_p_values& p_values, std::span<edge> batch) {
                    kept += static_cast<index_t>(batch.size());
                    if (kept > sink.max_edges) {
                      out.edges = {};  // the rest is counted alone
                      return;
                    }
                    p_values.fill(batch);
                    out.edges.insert(out.edges.end(), batch.begin(), batch.end());
                  });
    if (kept > sink.max_edges) refuse_edges(static_cast<std::uint64_t>(kept), sink.max_edges);
    out.summary = run.finish(static_cast<std::uint64_t>(kept));
    return out;
  });
}

pair_summary all_pairs(measure what, const any_matrix_view& data, const pair_options& options,
                       const stream_sink& sink) {
  return with_memory_errors("all pairs", [&] {
    validate::check_sink(sink);
    pair_run run(what, data, options);
    std::uint64_t kept = 0;
    deliver_edges(run, options, sink.keep,
                  {.keep = {}, .order = sink.order, .batch_edges = sink.batch_edges},
                  [&](stats::edge_p_values& p_values, std::span<edge> batch) {
                    p_values.fill(batch);
                    kept += batch.size();
                    sink.consume(batch);
                  });
    return run.finish(kept);
  });
}

neighbor_table all_pairs(measure what, const any_matrix_view& data, const pair_options& options,
                         const top_k_sink& sink) {
  return with_memory_errors("all pairs", [&] {
    validate::check_sink(sink);
    pair_run run(what, data, options);
    const keep_range keep = run.resolve(sink.keep);
    const index_t rows = run.engine().rows().rows;
    neighbor_table out{.index = matrix<node_id>(rows, sink.k),
                       .statistic = matrix<double>(rows, sink.k),
                       .count = std::vector<node_id>(static_cast<std::size_t>(rows)),
                       .summary = {}};
    run.engine().top_k({.keep = keep, .k = sink.k, .order = sink.order}, out);
    std::uint64_t entries = 0;
    for (const node_id count : out.count) entries += count;
    out.summary = run.finish(entries);
    return out;
  });
}

pair_counts all_pairs(measure what, const any_matrix_view& data, const pair_options& options,
                      const count_sink& sink) {
  return with_memory_errors("all pairs", [&] {
    validate::check_sink(sink);
    pair_options counting = options;
    if (options.fold == row_folding::automatic && !folds_for_counts(sink.keep)) {
      counting.fold = row_folding::never;
    }
    pair_run run(what, data, counting);
    const keep_range keep = run.resolve(sink.keep);
    pair_counts out;
    out.tested = run.pairs_tested();
    out.degree.resize(static_cast<std::size_t>(run.engine().rows().rows));
    out.histogram.resize(static_cast<std::size_t>(sink.histogram_bins));
    run.engine().counts({.keep = keep, .histogram_bins = sink.histogram_bins}, out);
    out.summary = run.finish(out.kept);
    return out;
  });
}

}  // namespace detail
}  // namespace gpu::inline v0
