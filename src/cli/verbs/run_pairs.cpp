// gpu-similarity spearman and pearson: from the command line to the report.
#include <fmt/format.h>

#include <exception>
#include <optional>
#include <string>

#include "cli/outputs/outputs.hpp"
#include "cli/outputs/report.hpp"
#include "cli/process/exit_code.hpp"
#include "cli/process/interrupt.hpp"
#include "cli/process/messages.hpp"
#include "cli/process/progress_line.hpp"
#include "cli/process/start_checks.hpp"
#include "cli/verbs/jobs.hpp"
#include "cli/verbs/output_size.hpp"
#include "cli/verbs/pairs_run.hpp"
#include "io/file_digest.hpp"
#include "io/read/read_table.hpp"

namespace gpu::cli {
namespace {

void check_nans(const pairs_command& job, const io::table& table) {
  if (job.pairs.nans != nan_policy::reject) return;
  if (!table.first_nan) return;
  throw io::input_error(job.input, *table.first_nan,
                        "got NaN, expected a number (--nan propagate leaves such rows out)");
}

void check_shape(const pairs_command& job, const io::table& table) {
  constexpr index_t fewest_rows = 2;
  constexpr index_t fewest_cols = 3;
  if (table.rows() < fewest_rows) {
    throw io::input_error(job.input, {},
                          fmt::format("got {} row of numbers, expected at least {}: there are no "
                                      "pairs",
                                      table.rows(), fewest_rows));
  }
  if (table.cols() < fewest_cols) {
    throw io::input_error(job.input, {},
                          fmt::format("got {} columns of numbers, expected at least {} "
                                      "observations",
                                      table.cols(), fewest_cols));
  }
}

io::table read_input(const pairs_command& job, progress_line& line) {
  line.show("reading " + job.input);
  io::table table = io::read_table(job.input, {.header = job.header,
                                               .row_names = job.row_names,
                                               .threads = job.pairs.exec.cpu_threads,
                                               .stop = is_interrupted,
                                               .max_bytes = job.max_input_bytes});
  check_nans(job, table);
  check_shape(job, table);
  return table;
}

void write_plan(const pairs_command& job) {
  progress_line line(job.quiet);
  abandonable_phase phase([] { complain("interrupted"); });
  const io::table table = read_input(job, line);
  const std::string text = plan_text(job, table, result_context_of(job, table));
  line.clear();
  io::output_file out("-", {.stop = is_interrupted});
  out.write(text);
  out.commit();
}

/// A run with its report.
class reported_run {
 public:
  explicit reported_run(const pairs_command& job) : job_(job), outputs_(job) {
    report_.input = job.input == "-" ? "standard input" : job.input;
    report_.command_line = job.command_line;
    if (outputs_.report()) digest_.emplace(job.input);
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
    const io::table table = read_input(job_, line);
    report_.read_seconds = total_.seconds();
    report_.summary.rows = table.rows();
    report_.summary.cols = table.cols();
    report_.is_table_read = true;

    check_output_size(job_, table, result_context_of(job_, table));
    pairs_run(job_, table, outputs_, line, phase).run(report_);
    is_result_written_ = true;
    report_.total_seconds = total_.seconds();
    line.clear();
    if (digest_) report_.digest = digest_->get();
    try {
      write_report(report_);
    } catch (const io::interrupted&) {
      throw interrupted_run("interrupted: the result is complete, the report is not written");
    } catch (const io::closed_pipe&) {
      throw;
    } catch (const io::output_error& error) {
      throw no_report(fmt::format("{}; the result is complete", error.what()));
    }
    if (!job_.quiet) say(to_text(report_));
  }

  void write_report(const run_report& report) {
    if (!outputs_.report()) return;
    outputs_.report()->write(to_json(report));
    outputs_.report()->commit();
  }

  /// What ended the run is said already, or will be: a report that cannot be written is another
  /// message.
  void write_unfinished(run_status status, run_report& report) {
    report.status = status;
    report.total_seconds = total_.seconds();
    if (digest_) report.digest = digest_->get_if_ready();
    try {
      write_report(report);
    } catch (const io::interrupted&) {
      complain("nobody reads the report: it is not written");
    } catch (const std::exception& error) {
      complain(error.what());
    }
  }

  /// From another thread, while the run goes on: report_ is not to be touched.
  void abandon() {
    complain(abandoned_text(outputs_.result().target()));
    run_report report{.input = job_.input, .command_line = job_.command_line};
    write_unfinished(run_status::interrupted, report);
  }

  const pairs_command& job_;
  const stopwatch total_;
  pair_outputs outputs_;
  run_report report_;
  bool is_result_written_ = false;
  std::optional<io::digest_task> digest_;
};

}  // namespace

void run_pairs(const pairs_command& job) {
  check_execution(job.pairs.exec);
  if (job.plan_only) return write_plan(job);
  reported_run(job).run();
}

}  // namespace gpu::cli
