#include "cli/parts/difference_part.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <gpu/execution.hpp>

#include "cli/verbs/all_pairs.hpp"
#include "cli/verbs/differential/differential_lines.hpp"

namespace gpu::cli {
namespace {

template <class Sink>
auto pairs_of(const pairs_command& job, const input_tables& tables, const pair_options& options,
              const Sink& sink) {
  return detail::differential_pairs(job.what, table_of(tables.x),
                                    {tables.groups.first, tables.groups.second}, options, sink);
}

pair_summary summary_of(const input_tables& tables, const pair_options& options,
                        const pair_filter& filter, differential_summary found) {
  const backend used = resolve_backend(options.exec);
  constexpr double none = std::numeric_limits<double>::infinity();
  const double z = found.min_abs_z_effective;
  return {.rows = found.rows,
          .cols = tables.cols(),
          .observations = found.first_cols + found.second_cols,
          .constant_rows = std::move(found.constant_rows),
          .nan_rows = std::move(found.nan_rows),
          .infinite_rows = std::move(found.infinite_rows),
          .part_begin = found.part_begin,
          .part_end = found.part_end,
          .pairs_tested = found.pairs_tested,
          .pairs_kept = found.pairs_kept,
          .max_p_effective = found.max_p_effective,
          .min_abs_effective = z,
          .cut_at_least = filter.side == tail::less ? none : z,
          .cut_at_most = filter.side == tail::greater ? -none : -z,
          .used = used,
          .device = std::move(found.device),
          .variant = used == backend::cpu ? pair_variant::tiled : options.variant,
          .pairs_seconds = found.seconds};
}

}  // namespace

difference_part find_differences(const pairs_command& job, const input_tables& tables,
                                 const pair_options& options, const pair_filter& filter) {
  const differential_filter keep = differential_filter_of(filter);
  difference_part out;
  differential_summary summary;
  if (job.keep == keep_kind::counts) {
    auto found = pairs_of(job, tables, options, differential_count_sink{.keep = keep});
    out.degree = std::move(found.degree);
    summary = std::move(found.summary);
  } else if (job.keep == keep_kind::top_k) {
    // A row has no more partners than that.
    const index_t k = std::clamp<index_t>(tables.rows() - 1, 1, job.k);
    auto found = pairs_of(job, tables, options, differential_top_k_sink{.k = k, .keep = keep});
    out.edges = edges_of(found);
    summary = std::move(found.summary);
  } else {
    auto found = pairs_of(job, tables, options, differential_edge_sink{.keep = keep});
    out.edges = std::move(found.edges);
    summary = std::move(found.summary);
  }
  out.summary = summary_of(tables, options, filter, std::move(summary));
  for (const differential_edge& e : out.edges) {
    out.summary.checksum += checksum_of(e.row, e.col, e.z);
  }
  return out;
}

discovery_counts count_differences(const pairs_command& job, const input_tables& tables,
                                   const pair_options& options, const discovery_sink& sink) {
  return pairs_of(job, tables, options, sink);
}

}  // namespace gpu::cli
