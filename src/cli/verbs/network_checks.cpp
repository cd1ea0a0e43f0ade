#include "cli/verbs/network_checks.hpp"

#include <fmt/format.h>

#include <string>

#include <gpu/plan.hpp>

#include "cli/process/messages.hpp"
#include "cli/verbs/all_pairs.hpp"
#include "cli/verbs/output_size.hpp"
#include "io/networks/network_writer.hpp"

namespace gpu::cli {

index_t most_edges_of(const pairs_command& job) {
  return io::is_bounded(job.format) && !job.force ? io::most_network_edges : edge_sink{}.max_edges;
}

too_large too_many_edges(const pairs_command& job, double edges) {
  return too_large(fmt::format(
      "--format {}: got {:.0f} edges, expected at most {}. Take a stricter cut, --format mtx or "
      "tsv, or say --force",
      io::word_of(job.format), edges, io::most_network_edges));
}

void check_network(const pairs_command& job, const input_tables& tables,
                   const io::result_context& context) {
  if (!io::is_network(job.format)) return;
  const std::string unfit = io::unfit_names(job.format, context);
  if (!unfit.empty()) {
    throw usage_error(
        fmt::format("--format {}: {}; graphml takes any names", io::word_of(job.format), unfit));
  }
  if (job.format == io::result_format::ncol && !job.quiet && io::are_numbered(context)) {
    note(job.input, {"the names of the rows are numbers, for which .ncol has the numbers of the "
                     "rows, from 0; graphml keeps the names"});
  }
  const auto most = static_cast<double>(most_edges_of(job));
  if (!io::is_bounded(job.format) || all_pairs_of(context) <= most) return;
  const pair_plan plan = plan_all_pairs(job, tables, edge_sink{.keep = job.filter});
  // As far below the estimate as the upper bound is above it.
  const double least = 2 * plan.kept_estimate - plan.kept_upper;
  if (least > most) throw too_many_edges(job, plan.kept_estimate);
}

}  // namespace gpu::cli
