// Tanimoto similarities of all pairs: one function a sink. Each checks, runs its job and completes
// the result.
#include <gpu/tanimoto.hpp>

#include <algorithm>
#include <span>
#include <utility>

#include "base/memory_errors.hpp"
#include "base/parallel.hpp"
#include "pairs/checks.hpp"
#include "stats/pair_checksums.hpp"
#include "tanimoto/jobs/job.hpp"

namespace gpu::inline v0::detail {
namespace {

// Partners of a row that the lists of a device hold.
constexpr index_t most_device_partners = 1024;

using tanimoto::bit_tables;
using tanimoto::job;

template <class Value>
correlation_matrix<Value> run_sink(const bit_tables& tables, const tanimoto_options& options,
                                   const basic_dense_sink<Value>&) {
  job run(tables, options, part_shape::equal_rows);
  correlation_matrix<Value> out(run.rows().size(), tables.y.rows());
  tanimoto::job_progress progress(run.exec(), "pairs", run.entries());
  tanimoto::fill_dense(run.panels(progress.pairs), out.view());
  progress.pairs.finish();
  out.summary = run.finish({}, run.pairs(run.rows()));
  return out;
}

edge_list run_sink(const bit_tables& tables, const tanimoto_options& options,
                   const edge_sink& sink) {
  validate::check_sink(tanimoto::as_measure(), sink);
  job run(tables, options, part_shape::equal_pairs);
  const double least = tanimoto::least_of(sink.keep);
  const auto most = static_cast<std::size_t>(sink.max_edges);
  edge_list out;
  bool fits = true;
  {
    tanimoto::edge_ranges ranges(run, least);
    array<edge> found;
    while (fits && ranges.next(found)) {
      fits = found.size() <= most - out.edges.size();
      if (fits) out.edges.append({found.data(), found.size()});
    }
  }
  if (!fits) {
    const std::uint64_t kept = tanimoto::count_pairs(run, least, 0).kept;
    validate::throw_over_capacity("edge_sink", "edges", static_cast<index_t>(kept), sink.max_edges);
  }
  const int threads = detail::thread_count(options.exec.cpu_threads);
  out.summary = run.finish(
      sink.keep,
      stats::checksum_of(std::span<const edge>(out.edges.data(), out.edges.size()), threads));
  return out;
}

pair_summary run_sink(const bit_tables& tables, const tanimoto_options& options,
                      const stream_sink& sink) {
  validate::check_sink(tanimoto::as_measure(), sink);
  job run(tables, options, part_shape::equal_pairs);
  const int threads = detail::thread_count(options.exec.cpu_threads);
  const auto batch = static_cast<std::size_t>(sink.batch_edges);
  pair_checksum kept;
  tanimoto::edge_ranges ranges(run, tanimoto::least_of(sink.keep));
  array<edge> found;
  while (ranges.next(found)) {
    const std::span<const edge> edges(found.data(), found.size());
    kept += stats::checksum_of(edges, threads);
    for (std::size_t at = 0; at < edges.size(); at += batch) {
      sink.consume(edges.subspan(at, std::min(batch, edges.size() - at)));
    }
  }
  return run.finish(sink.keep, kept);
}

neighbor_table run_sink(const bit_tables& tables, const tanimoto_options& options,
                        const top_k_sink& sink) {
  validate::check_sink(tanimoto::as_measure(), sink);
  job run(tables, options, part_shape::equal_rows);
  const double least = tanimoto::least_of(sink.keep);
  const index_range rows = run.rows();
  neighbor_table out{.index = matrix<node_id>(rows.size(), sink.k),
                     .statistic = matrix<double>(rows.size(), sink.k),
                     .count = new_vector<node_id>(rows.size()),
                     .summary = {}};
  const tanimoto::partner_rows all{out.index.view(), out.statistic.view(), out.count.data()};
  tanimoto::job_progress progress(run.exec(), "pairs", run.entries());
  if (run.used() == backend::cuda && sink.k > most_device_partners) {
    tanimoto::fill_partners(run.panels(progress.pairs), least, all);
  } else {
    tanimoto::for_each_range(run, [&](index_range range) {
      const index_t at = range.begin - rows.begin;
      run.search().partners(range, least,
                            {{all.index.row(at), range.size(), sink.k},
                             {all.statistic.row(at), range.size(), sink.k},
                             all.count + at});
      progress.pairs.advance(static_cast<std::uint64_t>(range.size()) *
                             static_cast<std::uint64_t>(tables.y.rows()));
    });
  }
  progress.pairs.finish();
  out.summary =
      run.finish(sink.keep, stats::checksum_of(out, {0, rows.size()}, rows.begin,
                                               detail::thread_count(options.exec.cpu_threads)));
  return out;
}

pair_counts run_sink(const bit_tables& tables, const tanimoto_options& options,
                     const count_sink& sink) {
  validate::check_sink(tanimoto::as_measure(), sink);
  job run(tables, options, part_shape::equal_pairs);
  tanimoto::pair_tally tally =
      tanimoto::count_pairs(run, tanimoto::least_of(sink.keep), sink.histogram_bins);
  pair_counts out;
  out.tested = run.pairs(run.rows());
  out.kept = tally.kept;
  out.degree = std::move(tally.degree);
  out.y_degree = std::move(tally.y_degree);
  out.histogram = std::move(tally.histogram);
  out.summary = run.finish(sink.keep, out.kept);
  return out;
}

}  // namespace

template <class Sink>
sink_result_t<Sink> tanimoto_all_pairs(const bit_matrix_view& x, const bit_matrix_view* y,
                                       const tanimoto_options& options, const Sink& sink) {
  return with_memory_errors("tanimoto_all_pairs", [&] {
    return run_sink(bit_tables{x, y == nullptr ? x : *y, y != nullptr}, options, sink);
  });
}

#define GPU_SIMILARITY_INSTANTIATE_TANIMOTO(Sink)                              \
  template GPU_SIMILARITY_EXPORT sink_result_t<Sink> tanimoto_all_pairs<Sink>( \
      const bit_matrix_view&, const bit_matrix_view*, const tanimoto_options&, const Sink&);
GPU_SIMILARITY_INSTANTIATE_TANIMOTO(dense_sink)
GPU_SIMILARITY_INSTANTIATE_TANIMOTO(dense_sink_f32)
GPU_SIMILARITY_INSTANTIATE_TANIMOTO(edge_sink)
GPU_SIMILARITY_INSTANTIATE_TANIMOTO(top_k_sink)
GPU_SIMILARITY_INSTANTIATE_TANIMOTO(count_sink)
GPU_SIMILARITY_INSTANTIATE_TANIMOTO(stream_sink)
#undef GPU_SIMILARITY_INSTANTIATE_TANIMOTO

}  // namespace gpu::inline v0::detail
