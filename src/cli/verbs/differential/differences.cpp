#include "cli/verbs/differential/differences.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <gpu/execution.hpp>

#include "cli/verbs/all_pairs.hpp"
#include "cli/verbs/differential/differential_lines.hpp"

namespace gpu::cli {
namespace {

template <class Sink>
auto pairs_of(const pairs_command& job, const io::table& table, const labelled_groups& groups,
              const pair_options& options, const Sink& sink) {
  return detail::differential_pairs(job.what, table_of(table), {groups.first, groups.second},
                                    options, sink);
}

}  // namespace

differences find_differences(const pairs_command& job, const io::table& table,
                             const labelled_groups& groups, const pair_options& options,
                             const pair_filter& filter) {
  const differential_filter keep = differential_filter_of(filter);
  const auto pairs = [&](const auto& sink) { return pairs_of(job, table, groups, options, sink); };
  differences out;
  if (job.keep == keep_kind::counts) {
    auto found = pairs(differential_count_sink{.keep = keep});
    out.degree = std::move(found.degree);
    out.summary = std::move(found.summary);
  } else if (job.keep == keep_kind::top_k) {
    // A row has no more partners than that.
    const index_t k = std::clamp<index_t>(table.rows() - 1, 1, job.k);
    auto found = pairs(differential_top_k_sink{.k = k, .keep = keep});
    out.edges = edges_of(found);
    out.summary = std::move(found.summary);
  } else {
    auto found = pairs(differential_edge_sink{.keep = keep});
    out.edges = std::move(found.edges);
    out.summary = std::move(found.summary);
  }
  return out;
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

discovery_counts count_differences(const pairs_command& job, const input_tables& tables,
                                   const pair_options& options, const discovery_sink& sink) {
  return pairs_of(job, tables.x, tables.groups, options, sink);
}

}  // namespace gpu::cli
