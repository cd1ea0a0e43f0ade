// gpu-similarity spearman and pearson: from the command line to the report.
#include <optional>
#include <string>

#include "cli/outputs/outputs.hpp"
#include "cli/outputs/report.hpp"
#include "cli/outputs/reported_run.hpp"
#include "cli/process/interrupt.hpp"
#include "cli/process/messages.hpp"
#include "cli/process/progress_line.hpp"
#include "cli/process/start_checks.hpp"
#include "cli/verbs/found_cuts.hpp"
#include "cli/verbs/jobs.hpp"
#include "cli/verbs/output_size.hpp"
#include "cli/verbs/pairs_run.hpp"
#include "cli/verbs/read_input.hpp"
#include "cli/verbs/table_notes.hpp"

namespace gpu::cli {
namespace {

// Of few columns p cannot be small.
void note_few_columns(const pairs_command& job, const pair_summary& summary) {
  const std::string text = few_columns_text(summary);
  const bool is_cut_by_p = job.filter.max_p < 1 && job.correct != correction::max_t;
  if (!job.quiet && is_cut_by_p && !text.empty()) note(job.input, {text});
}

// Equal rows of doubles miss 1 by the rounding of their lengths, some of them.
void note_rounded_ones(const pairs_command& job) {
  constexpr double keeps_all = 0.999999999999;
  const bool is_exact = info_of(job.what).scale == value_scale::ordinal && !job.has_column_tables();
  if (job.quiet || is_exact || job.fingerprints || job.filter.min_abs <= keeps_all) return;
  note("--min-abs",
       {"equal rows may have a statistic just below 1, as 0.9999999999999999: --min-abs "
        "0.999999999999 keeps all of them"});
}

/// What is known before the tables are read.
run_report first_report(const pairs_command& job) {
  const auto name = [](const std::string& path) { return path == "-" ? "standard input" : path; };
  run_report out{.input = {.name = name(job.input)}, .command_line = job.command_line};
  if (!job.against.empty()) out.against = report_input{.name = name(job.against)};
  return out;
}

void describe(const input_tables& tables, run_report& report) {
  report.summary.rows = tables.rows();
  report.summary.cols = tables.cols();
  report.summary.y_rows = tables.y ? tables.y->rows() : 0;
  report.is_table_read = true;
  report.input.add(tables.x.reading, tables.x.rows(), tables.cols());
  report.input.digest = tables.x_digest;
  if (!tables.y) return;
  report.against->add(tables.y->reading, tables.y->rows(), tables.cols());
  report.against->digest = tables.y_digest;
}

void run_and_report(const pairs_command& given, run_outputs& outputs,
                    reported_run<run_report>& reported) {
  run_report& report = reported.report;
  progress_line line(given.quiet || outputs.is_on_terminal());
  abandonable_phase phase([&] { reported.abandon(); });
  const input_tables tables = read_input(given, line);
  report.read_seconds = reported.seconds();
  describe(tables, report);
  const std::optional<max_t_null> null = find_maxima(given, tables, line);
  if (null) report.permutations = {given.max_t, null->seconds};
  pairs_command job = null ? with_cut(given, *null) : given;
  if (job.keep_fraction > 0) job.filter.min_abs = cut_of_fraction(job, tables, line);
  const io::result_context context = result_context_of(job, tables);
  report.has_p = context.info().test != significance::none;
  check_output_size(job, tables, context);
  pairs_run(job, tables, outputs, line, phase, null ? &*null : nullptr).run(report);
  line.clear();
  reported.complete();
  note_missing_q(given);
  note_few_columns(given, report.summary);
  note_rounded_ones(given);
  if (!given.quiet) say(to_text(report));
}

}  // namespace

void run_pairs(const pairs_command& job) {
  check_execution(job.pairs.exec);
  run_outputs outputs(job);
  reported_run reported(outputs, first_report(job));
  reported.run([&] { run_and_report(job, outputs, reported); });
}

}  // namespace gpu::cli
