#include "cli/parts/job_estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <gpu/differential.hpp>

#include "cli/outputs/report.hpp"
#include "cli/process/interrupt.hpp"
#include "cli/process/messages.hpp"
#include "cli/process/progress_line.hpp"
#include "cli/process/start_checks.hpp"
#include "cli/process/stopwatch.hpp"
#include "cli/verbs/all_pairs.hpp"
#include "cli/verbs/jobs.hpp"
#include "cli/verbs/output_size.hpp"
#include "cli/verbs/pairs_run.hpp"

namespace gpu::cli {
namespace {

constexpr index_t most_first_rows = 4096;     // of the first sample
constexpr double first_products = 2e9;        // so many values times values at most
constexpr double enough_seconds = 0.05;       // of a sample
constexpr double written_per_second = 300e6;  // bytes: formatted, written and joined
constexpr double part_seconds = 20;
constexpr double part_bytes = 2e9;
constexpr index_t most_suggested_parts = 1000;
constexpr index_t waking_rows = 64;

/// Rows of the first sample: fewer of wide tables, because one pair takes long.
index_t first_sample(index_t cols) {
  constexpr index_t least = 64;
  const double rows = std::sqrt(2 * first_products / static_cast<double>(cols));
  return std::clamp(static_cast<index_t>(rows), least, most_first_rows);
}

double pairs_of(const input_tables& tables, index_t most_rows) {
  const auto rows = static_cast<double>(std::min(tables.rows(), most_rows));
  if (!tables.y) return rows * (rows - 1) / 2;
  return rows * static_cast<double>(std::min(tables.y->rows(), most_rows));
}

/// The cuts of a job of differential correlation, for its first rows: Bonferroni's is that of the
/// family, Benjamini and Hochberg's is found anew.
differential_filter filter_of_first(const pairs_command& job, double family) {
  differential_filter keep = differential_filter_of(job.filter);
  if (keep.adjust == adjustment::bonferroni) {
    keep.max_p /= family;
    keep.adjust = adjustment::none;
  }
  return keep;
}

/// What a call for the first rows took and found.
struct sample {
  double pairs_seconds = 0;
  double prepare_seconds = 0;
  /// Of differential correlation: kept pairs of each of the first rows.
  std::vector<std::uint32_t> degree = {};
};

sample take_first(const pairs_command& job, const input_tables& tables, index_t rows) {
  if (job.is_differential()) {
    differential_counts counts = detail::differential_pairs(
        job.what, table_of(tables.x, rows), {tables.groups.first, tables.groups.second}, job.pairs,
        differential_count_sink{.keep = filter_of_first(job, pairs_of(tables, tables.rows()))});
    // The time is that of the whole call: preparing the rows takes little of it.
    return {.pairs_seconds = counts.summary.seconds, .degree = std::move(counts.degree)};
  }
  count_sink sink{.keep = job.filter};
  sink.keep.adjust = adjustment::none;
  const pair_summary counted = all_pairs(job, tables, job.pairs, sink, rows).summary;
  return {counted.pairs_seconds, counted.prepare_seconds};
}

/// Pairs that a job of differential correlation keeps, of top-k entries of its table, if all rows
/// have partners as the first ones have.
double kept_differences(const pairs_command& job, index_t all_rows, const sample& first) {
  const auto rows = static_cast<double>(all_rows);
  const auto sampled = static_cast<double>(first.degree.size());
  const double most = job.keep == keep_kind::top_k ? static_cast<double>(job.k) : rows;
  double entries = 0;
  for (const std::uint32_t degree : first.degree) {
    entries += std::min(most, static_cast<double>(degree) * (rows - 1) / (sampled - 1));
  }
  entries *= rows / sampled;
  return job.keep == keep_kind::top_k ? entries : entries / 2;
}

/// Passes over all pairs, each as long as that of a sample.
double passes_of(const pairs_command& job) {
  const bool are_partners = job.keep == keep_kind::top_k;
  if (job.is_differential()) return are_partners ? 2 : 1;  // a pair from both of its rows
  if (job.filter.adjust != adjustment::benjamini_hochberg) return 1;
  return are_partners ? 4 : 3;  // the last for q
}

}  // namespace

job_estimate estimate_job(const pairs_command& job, const input_tables& tables,
                          const io::result_context& context) {
  pairs_command whole = job;
  whole.pairs.part = {};
  whole.pairs.exec.on_progress = {};
  const index_t most_rows = std::max(tables.rows(), tables.partners());
  job_estimate out{.pairs = pairs_of(tables, most_rows)};
  (void)take_first(whole, tables, waking_rows);
  sample first;
  for (index_t rows = first_sample(tables.cols());; rows *= 2) {
    const stopwatch watch;
    first = take_first(whole, tables, rows);
    out.pairs_per_second = pairs_of(tables, rows) / std::max(first.pairs_seconds, 1e-6);
    out.prepare_seconds = first.prepare_seconds * static_cast<double>(most_rows) /
                          static_cast<double>(std::min(rows, most_rows));
    if (rows >= most_rows || watch.seconds() >= enough_seconds) break;
  }
  out.bytes = job.is_differential()
                  ? output_bytes(whole, context, kept_differences(whole, tables.rows(), first))
                  : estimated_output_bytes(whole, tables, context);
  const double pairs_seconds = passes_of(job) * out.pairs / out.pairs_per_second;
  out.seconds = out.prepare_seconds + pairs_seconds + out.bytes / written_per_second;
  const double by_time = std::ceil(out.seconds / part_seconds);
  const double by_size = std::ceil(out.bytes / part_bytes);
  const auto most = static_cast<double>(std::min(most_suggested_parts, tables.rows()));
  out.parts = static_cast<index_t>(std::clamp(std::max(by_time, by_size), 1.0, most));
  return out;
}

std::string estimate_text(const job_estimate& e, double read_seconds, index_t parts) {
  std::string whole = fmt::format(
      "rate, measured\t{:.3g} pairs/s\n"
      "time, estimated\t{:.3g} s of one process like this one, after {:.3g} s of reading\n",
      e.pairs_per_second, e.seconds, read_seconds);
  if (parts == 0) return whole;
  const auto n = static_cast<double>(parts);
  const double of_part = (e.seconds - e.prepare_seconds) / n + e.prepare_seconds;
  return whole + fmt::format(
                     "parts\t{}, of about {:.3g} s and {}\n"
                     "parts, advised\t{}\n",
                     parts, of_part, bytes_text(e.bytes / n), e.parts);
}

void write_plan(const pairs_command& job) {
  check_execution(job.pairs.exec);
  progress_line line(job.quiet);
  abandonable_phase phase([] { complain("interrupted"); });
  const stopwatch reading;
  const input_tables tables = read_input(job, line);
  const double read_seconds = reading.seconds();
  const io::result_context context = result_context_of(job, tables);
  const std::string text =
      plan_text(job, tables, context) +
      estimate_text(estimate_job(job, tables, context), read_seconds, job.parts);
  line.clear();
  print(text);
}

}  // namespace gpu::cli
