#include "cli/verbs/output_size.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <gpu/execution.hpp>

#include "cli/outputs/report.hpp"
#include "cli/process/exit_code.hpp"
#include "cli/verbs/all_pairs.hpp"
#include "cli/verbs/differential/differences.hpp"
#include "io/write/result_headers.hpp"

namespace gpu::cli {
namespace {

/// Bytes of an edge in the output.
double edge_bytes_of(const pairs_command& job, const io::result_context& context) {
  const double bytes = io::edge_bytes(job.format, context);
  if (!job.is_differential()) return bytes;
  return bytes - io::edge_numbers_bytes + difference_numbers_bytes;
}

/// Partners of a row, at most.
index_t most_partners(const pairs_command& job, const io::result_context& context) {
  return std::min(job.k, context.against != nullptr ? context.cols() : context.rows - 1);
}

/// "10 rows x 30 columns, int32", or of two tables "10 rows against 20 rows x 30 columns, ...".
std::string shape_text(const input_tables& tables) {
  if (!tables.y) {
    return fmt::format("{} rows x {} columns, {}", tables.rows(), tables.cols(),
                       tables.x.element_name());
  }
  return fmt::format("{} rows against {} rows x {} columns, {} and {}", tables.rows(),
                     tables.partners(), tables.cols(), tables.x.element_name(),
                     tables.y->element_name());
}

/// Pairs, or entries, that are kept where no cut leaves any out.
double most_kept(const pairs_command& job, const io::result_context& context) {
  if (job.keep != keep_kind::top_k) return all_pairs_of(context);
  return static_cast<double>(context.rows) * static_cast<double>(most_partners(job, context));
}

/// The plan of a run with this sink.
template <class Sink>
pair_plan plan_all_pairs(const pairs_command& job, const input_tables& tables, const Sink& sink) {
  return detail::plan_all_pairs(job.what, tables_of(tables), tables.with_columns(job.pairs), sink);
}

/// The plan of the run, by the sink that it takes.
pair_plan plan_run(const pairs_command& job, const input_tables& tables,
                   const io::result_context& context) {
  const auto plan = [&](const auto& sink) { return plan_all_pairs(job, tables, sink); };
  switch (job.keep) {
    case keep_kind::edges:
      break;
    case keep_kind::top_k:
      return plan(top_k_sink{
          .k = std::max<index_t>(most_partners(job, context), 1),
          .keep = job.filter,
          .order = job.order,
          .q = job.filter.adjust != adjustment::none ? neighbor_q::exact : neighbor_q::none});
    case keep_kind::counts:
      return plan(count_sink{.keep = job.filter});
    case keep_kind::dense:
      return plan(dense_sink{});
  }
  return plan(edge_sink{.keep = job.filter});
}

/// Pairs, or entries, that are estimated to be kept, as far as the size of the result depends on
/// them.
double kept_of(const pairs_command& job, const input_tables& tables,
               const io::result_context& context) {
  const bool depends = job.keep == keep_kind::edges || job.keep == keep_kind::top_k;
  if (!depends) return all_pairs_of(context);
  pairs_command whole = job;
  whole.pairs.part = {};
  return plan_run(whole, tables, context).kept_estimate;
}

std::string tile_text(const pair_plan& plan) {
  return fmt::format("tile\t{} x {}\nworkspace\t{}\n", plan.tile_rows, plan.tile_cols,
                     bytes_text(static_cast<double>(plan.workspace_bytes)));
}

}  // namespace

double all_pairs_of(const io::result_context& context) {
  const auto rows = static_cast<double>(context.rows);
  if (context.against != nullptr) return rows * static_cast<double>(context.cols());
  return rows * (rows - 1) / 2;
}

double output_bytes(const pairs_command& job, const io::result_context& context, double kept) {
  const auto rows = static_cast<double>(context.rows);
  const double edge = edge_bytes_of(job, context);
  constexpr double dense_text = 20;  // characters of a statistic and its tab
  constexpr double count_text = 4;   // of a number of columns and its tab
  const bool is_array = job.format == io::result_format::npy;
  switch (job.keep) {
    case keep_kind::edges:
    case keep_kind::top_k:
      return kept * edge;
    case keep_kind::counts:
      return static_cast<double>(context.all_rows()) *
             (is_array ? sizeof(std::uint32_t) : edge / 2);
    case keep_kind::dense: {
      double bytes = is_array ? sizeof(double) : dense_text;
      if (!job.observations.empty()) bytes += is_array ? sizeof(node_id) : count_text;
      return rows * static_cast<double>(context.cols()) * bytes;
    }
  }
  return 0;
}

double estimated_output_bytes(const pairs_command& job, const input_tables& tables,
                              const io::result_context& context) {
  return output_bytes(job, context, kept_of(job, tables, context));
}

namespace {

/// Why the run is refused for the size of its result; "" where it is not.
std::string size_fault(const pairs_command& job, const input_tables& tables,
                       const io::result_context& context) {
  const bool writes_table = job.keep != keep_kind::counts || !job.output.empty();
  // Nothing plans differences: the writer sees to it.
  if (job.force || !writes_table || job.is_differential()) return {};
  const auto limit = static_cast<double>(job.max_output_bytes);
  // A table of degrees is small, and the estimate of its text too high: only what cannot fit is
  // refused here. To the byte, the writer sees to it.
  constexpr double shortest_line = 3;  // a tab, a digit and the end
  if (job.keep == keep_kind::counts &&
      static_cast<double>(context.all_rows()) * shortest_line <= limit) {
    return {};
  }
  const double share = 1.0 / static_cast<double>(job.pairs.part.of);
  if (share * output_bytes(job, context, most_kept(job, context)) <= limit) return {};
  const double kept = kept_of(job, tables, context);
  const double bytes = share * output_bytes(job, context, kept);
  if (bytes <= limit) return {};
  const std::string pairs =
      job.keep == keep_kind::edges ? fmt::format(" ({:.6g} pairs)", share * kept) : std::string();
  return fmt::format(
      "the result would take about {}{}, more than the {} of --max-output. Choose a stricter cut, "
      "--keep top-k or --keep counts, or use --force",
      bytes_text(bytes), pairs, bytes_text(limit));
}

}  // namespace

void check_output_size(const pairs_command& job, const input_tables& tables,
                       const io::result_context& context) {
  const std::string fault = size_fault(job, tables, context);
  if (!fault.empty()) throw resource_error(fault);
}

std::string plan_text(const pairs_command& job, const input_tables& tables,
                      const io::result_context& context) {
  const pair_plan plan = plan_run(job, tables, context);
  const std::string fault = size_fault(job, tables, context);
  return fmt::format(
      "input\t{}\n"
      "pairs\t{}\n"
      "backend\t{} ({}){}{}\n"
      "variant\t{}\n"
      "{}"
      "{}"
      "kept, estimated\t{:.0f}{}, at most about {:.0f} (sample of {} pairs)\n"
      "output, estimated\t{}\n"
      "output, allowed\t{}\n"
      "{}",
      shape_text(tables), plan.pairs, to_string(plan.used), plan.device,
      plan.backend_choice.empty() ? "" : ", ", plan.backend_choice, to_string(plan.variant),
      tile_text(plan), plan.warning.empty() ? "" : fmt::format("warning\t{}\n", plan.warning),
      plan.kept_estimate, job.keep == keep_kind::top_k ? " partners" : "", plan.kept_upper,
      plan.sampled_pairs, bytes_text(output_bytes(job, context, plan.kept_estimate)),
      job.force ? std::string("any size") : bytes_text(static_cast<double>(job.max_output_bytes)),
      fault.empty() ? ""
                    : fmt::format("refused\tthis run would end with {}: {}\n",
                                  static_cast<int>(exit_resources), fault));
}

}  // namespace gpu::cli
