// gpu-similarity spearman and pearson: from the command line to the report.
#include <optional>
#include <string>

#include "cli/outputs/outputs.hpp"
#include "cli/outputs/report.hpp"
#include "cli/process/exit_code.hpp"
#include "cli/process/interrupt.hpp"
#include "cli/process/messages.hpp"
#include "cli/process/progress_line.hpp"
#include "cli/process/start_checks.hpp"
#include "cli/verbs/found_cuts.hpp"
#include "cli/verbs/jobs.hpp"
#include "cli/verbs/output_size.hpp"
#include "cli/verbs/pairs_run.hpp"
#include "cli/verbs/read_input.hpp"

namespace gpu::cli {
namespace {

// Who adjusts and cuts by magnitude finds no column q, and is told why.
void note_missing_q(const pairs_command& job) {
  if (job.quiet || job.filter.adjust != adjustment::benjamini_hochberg) return;
  if (job.keep != keep_kind::edges || job.writes_q()) return;
  note("--adjust bh",
       {"there is no column q with --min-abs: q needs every pair that --max-p keeps"});
}

// Of few columns p cannot be small.
void note_few_columns(const pairs_command& job, const pair_summary& summary) {
  const std::string text = few_columns_text(summary);
  const bool is_cut_by_p = job.filter.max_p < 1 && job.correct != correction::max_t;
  if (!job.quiet && is_cut_by_p && !text.empty()) note(job.input, {text});
}

// Equal rows of doubles miss 1 by the rounding of their lengths, some of them.
void note_rounded_ones(const pairs_command& job) {
  constexpr double keeps_all = 0.999999999999;
  const bool is_exact = info_of(job.what).scale == value_scale::ordinal && job.covariates.empty();
  if (job.quiet || is_exact || job.fingerprints || job.filter.min_abs <= keeps_all) return;
  note("--min-abs",
       {"equal rows may have a statistic just below 1, as 0.9999999999999999: --min-abs "
        "0.999999999999 keeps all of them"});
}

/// A run with its report.
class reported_run {
 public:
  explicit reported_run(const pairs_command& job) : job_(job), outputs_(job) {
    report_.input.name = job.input == "-" ? "standard input" : job.input;
    if (!job.against.empty()) {
      report_.against.emplace();
      report_.against->name = job.against == "-" ? "standard input" : job.against;
    }
    report_.command_line = job.command_line;
  }

  void run() {
    try {
      run_to_the_end();
    } catch (const interrupted_run&) {
      if (!is_result_written_) write_unfinished(run_status::interrupted, report_);
      throw;
    } catch (const io::interrupted&) {
      write_unfinished(run_status::interrupted, report_);
      throw;
    } catch (const io::closed_pipe&) {
      write_unfinished(run_status::output_closed, report_);
      throw;
    }
  }

 private:
  void run_to_the_end() {
    progress_line line(job_.quiet || outputs_.is_on_terminal());
    abandonable_phase phase([this] { abandon(); });
    const input_tables tables = read_input(job_, line);
    report_.read_seconds = total_.seconds();
    report_.summary.rows = tables.rows();
    report_.summary.cols = tables.cols();
    report_.summary.y_rows = tables.y ? tables.y->rows() : 0;
    report_.is_table_read = true;
    report_.input.add(tables.x.reading, tables.x.rows(), tables.cols());
    report_.input.digest = tables.x_digest;
    if (tables.y) {
      report_.against->add(tables.y->reading, tables.y->rows(), tables.cols());
      report_.against->digest = tables.y_digest;
    }

    const std::optional<max_t_null> null = find_maxima(job_, tables, line);
    if (null) report_.permutations = {job_.max_t, null->seconds};
    pairs_command job = null ? with_cut(job_, *null) : job_;
    if (job.keep_fraction > 0) job.filter.min_abs = cut_of_fraction(job, tables, line);
    const io::result_context context = result_context_of(job, tables);
    report_.has_p = context.info().test != significance::none;
    check_output_size(job, tables, context);
    pairs_run(job, tables, outputs_, line, phase, null ? &*null : nullptr).run(report_);
    is_result_written_ = true;
    report_.total_seconds = total_.seconds();
    line.clear();
    write_report(outputs_.report(), to_json(report_));
    note_missing_q(job_);
    note_few_columns(job_, report_.summary);
    note_rounded_ones(job_);
    if (!job_.quiet) say(to_text(report_));
  }

  void write_unfinished(run_status status, run_report& report) {
    report.status = status;
    report.total_seconds = total_.seconds();
    write_unfinished_report(outputs_.report(), to_json(report));
  }

  /// From another thread, while the run goes on: report_ is not to be touched.
  void abandon() {
    complain(abandoned_text(outputs_.result().target()));
    run_report report{.input = {.name = job_.input}, .command_line = job_.command_line};
    report.has_p = job_.info().test != significance::none;
    if (!job_.against.empty()) report.against = report_input{.name = job_.against};
    write_unfinished(run_status::interrupted, report);
  }

  const pairs_command& job_;
  const stopwatch total_;
  pair_outputs outputs_;
  run_report report_;
  bool is_result_written_ = false;
};

}  // namespace

void run_pairs(const pairs_command& job) {
  check_execution(job.pairs.exec);
  reported_run(job).run();
}

}  // namespace gpu::cli
