#include "cli/verbs/differential/differences.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <gpu/execution.hpp>
#include <gpu/p_value.hpp>

#include "cli/verbs/all_pairs.hpp"
#include "io/field_text.hpp"

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

std::vector<differential_edge> edges_of(const differential_partners& found) {
  std::vector<differential_edge> out;
  for (index_t i = 0; i < found.index.rows(); ++i) {
    const index_t count = found.count[static_cast<std::size_t>(i)];
    for (index_t e = 0; e < count; ++e) {
      out.push_back({.row = static_cast<node_id>(found.summary.part_begin + i),
                     .col = found.index(i, e),
                     .first = found.first(i, e),
                     .second = found.second(i, e),
                     .z = found.z(i, e),
                     .p = found.p(i, e)});
    }
  }
  return out;
}

std::vector<double> q_of_lines(std::span<const double> p, std::uint64_t pairs_tested,
                               adjustment adjust) {
  // Only lines of edges have this q, and each of them is a pair.
  if (adjust == adjustment::benjamini_hochberg) return adjusted_p_values(p, pairs_tested, adjust);
  return adjusted_p_values(p, std::span<double>(), pairs_tested, adjust);
}

differential_lines::differential_lines(keep_kind keep, io::result_format format,
                                       std::string_view symbol)
    : symbol_(symbol), tab_(io::separator_of(format)), has_rank_(keep == keep_kind::top_k) {}

std::string differential_lines::header(const labelled_groups& groups, bool has_q) const {
  return fmt::format("name_i{0}{1}name_j{0}{2}{0}{3}{0}z{0}p{4}\n", tab_,
                     has_rank_ ? fmt::format("rank{}", tab_) : std::string(),
                     io::field_of(symbol_ + "_" + groups.first_label, tab_),
                     io::field_of(symbol_ + "_" + groups.second_label, tab_),
                     has_q ? fmt::format("{}q", tab_) : std::string());
}

}  // namespace gpu::cli
