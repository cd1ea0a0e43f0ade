#include "cli/verbs/output_size.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <gpu/backend.hpp>

#include "cli/outputs/report.hpp"
#include "cli/process/exit_code.hpp"
#include "cli/verbs/all_pairs.hpp"

namespace gpu::cli {
namespace {

/// Bytes written where `kept` pairs pass the filter.
double output_bytes(const pairs_command& job, const io::result_context& context, double kept) {
  const auto rows = static_cast<double>(context.rows);
  const double edge = io::edge_bytes(job.format, context);
  constexpr double dense_text = 20;  // characters of a statistic and its tab
  switch (job.keep) {
    case keep_kind::edges:
    case keep_kind::folded_edges:  // at most
      return kept * edge;
    case keep_kind::top_k:
      return std::min(2 * kept, rows * static_cast<double>(std::min(job.k, context.rows))) * edge;
    case keep_kind::counts:
      return rows * edge / 2;
    case keep_kind::dense:
      return rows * rows * (job.format == io::result_format::npy ? sizeof(double) : dense_text);
  }
  return 0;
}

double all_pairs_of(index_t rows) {
  return static_cast<double>(rows) * static_cast<double>(rows - 1) / 2;
}

}  // namespace

void check_output_size(const pairs_command& job, const io::table& table,
                       const io::result_context& context) {
  const bool writes_table = job.keep != keep_kind::counts || !job.output.empty();
  // A sample of rows does not tell how many edges between patterns there are.
  if (job.force || !writes_table || job.keep == keep_kind::folded_edges) return;
  const auto limit = static_cast<double>(job.max_output_bytes);
  if (output_bytes(job, context, all_pairs_of(context.rows)) <= limit) return;
  double kept = all_pairs_of(context.rows);
  if (job.keep == keep_kind::edges || job.keep == keep_kind::top_k) {
    kept = plan_all_pairs(job, table).kept_estimate;
  }
  const double bytes = output_bytes(job, context, kept);
  if (bytes <= limit) return;
  const std::string pairs =
      job.keep == keep_kind::edges ? fmt::format(" ({:.6g} pairs)", kept) : std::string();
  throw too_large(fmt::format(
      "the result would take about {}{}, more than the {} of --max-output. Take a stricter cut, "
      "--keep top-k or --keep counts, or say --force",
      bytes_text(bytes), pairs, bytes_text(limit)));
}

std::string plan_text(const pairs_command& job, const io::table& table,
                      const io::result_context& context) {
  const pair_plan plan = plan_all_pairs(job, table);
  return fmt::format(
      "input\t{} rows x {} columns, {}\n"
      "pairs\t{}\n"
      "backend\t{} ({})\n"
      "variant\t{}\n"
      "tile\t{} x {}\n"
      "workspace\t{}\n"
      "kept, estimated\t{:.6g}, at most about {:.6g} (sample of {} pairs)\n"
      "output, estimated\t{}\n"
      "output, allowed\t{}\n",
      table.rows(), table.cols(), table.element_name(), plan.pairs, to_string(plan.used),
      plan.device, to_string(plan.variant), plan.tile_rows, plan.tile_cols,
      bytes_text(static_cast<double>(plan.workspace_bytes)), plan.kept_estimate, plan.kept_upper,
      plan.sampled_pairs, bytes_text(output_bytes(job, context, plan.kept_estimate)),
      job.force ? std::string("any size") : bytes_text(static_cast<double>(job.max_output_bytes)));
}

}  // namespace gpu::cli
