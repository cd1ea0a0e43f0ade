#include "cli/verbs/row_run.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "cli/outputs/outputs.hpp"
#include "cli/outputs/report.hpp"
#include "cli/outputs/reported_run.hpp"
#include "cli/process/exit_code.hpp"
#include "cli/process/interrupt.hpp"
#include "cli/process/messages.hpp"
#include "cli/process/progress_line.hpp"
#include "cli/process/start_checks.hpp"
#include "cli/process/stopwatch.hpp"
#include "io/file_digest.hpp"
#include "io/read/input.hpp"
#include "io/read/read_table.hpp"
#include "io/stop_request.hpp"

namespace gpu::cli {
namespace {

/// work(), its seconds added to `seconds`.
template <class Work>
auto timed(double& seconds, const Work& work) {
  struct timer {
    double& seconds;
    stopwatch watch = {};
    ~timer() { seconds += watch.seconds(); }
  };
  const timer measured{seconds};
  return work();
}

class row_run {
 public:
  row_run(const job_files& job, row_operation& operation)
      : job_(job),
        operation_(operation),
        outputs_(job),
        reported_(outputs_, {.input = {.name = job.input == "-" ? "standard input" : job.input},
                             .command_line = job.command_line,
                             .used = resolve_backend(operation.exec())}) {
    if (outputs_.report()) digest_ = std::make_shared<io::file_digest>();
  }

  void run() {
    reported_.run([this] { run_to_the_end(); });
  }

 private:
  void run_to_the_end() {
    progress_line line(job_.quiet || outputs_.is_on_terminal());
    abandonable_phase phase([this] { reported_.abandon(); });
    line.show("reading " + job_.input);
    take_rows(line);
    out().sync();
    phase.end();
    if (is_interrupted() && out().can_replace()) throw io::interrupted{};
    out().commit();
    report_.bytes_written = out().bytes_written();
    line.clear();
    if (digest_) report_.input.digest = *digest_;
    reported_.complete();
    if (!job_.quiet) say(to_text(report_));
  }

  void take_rows(progress_line& line) {
    const stopwatch opening;
    io::input file(job_.input, is_interrupted, job_.max_input_bytes, digest_,
                   operation_.exec().cpu_threads);
    const io::read_options options{
        .text = job_.text, .transposes = job_.transposes, .threads = operation_.exec().cpu_threads};
    const auto source = io::open_rows(file, options);
    report_.cols = static_cast<std::uint64_t>(source->cols());
    report_.is_shape_known = true;
    if (!job_.quiet) {
      line.clear();
      note(file.name(), source->reading().notes);
      note_compilation(operation_.exec());
    }
    operation_.begin(*source, out());
    report_.read_seconds += opening.seconds();
    if (operation_.needs_all(*source)) {
      take_block(timed(report_.read_seconds, [&] { return source->rest(); }));
    } else {
      for (;;) {
        const auto block = timed(report_.read_seconds, [&] { return source->next(); });
        if (!block) break;
        take_block(*block);
        look_ahead(file, *source, line);
      }
    }
    timed(report_.write_seconds, [&] { operation_.finish(); });
    report_.input.add(source->reading(), static_cast<index_t>(report_.rows), source->cols());
  }

  void take_block(const io::table& block) {
    timed(report_.compute_seconds, [&] { operation_.compute(block); });
    if (is_interrupted()) throw io::interrupted{};
    timed(report_.write_seconds, [&] { operation_.write(block); });
    report_.rows += static_cast<std::uint64_t>(block.rows());
  }

  /// Shows how far the run is, and ends it where its result will be too large.
  void look_ahead(const io::input& file, const io::row_reader& source, progress_line& line) {
    const auto done = static_cast<double>(report_.rows);
    const std::optional<index_t> rows = source.rows();
    const double share = rows ? done / static_cast<double>(*rows) : file.share_read().value_or(0);
    progress state{.stage = operation_.stage(), .done = report_.rows};
    if (share > 0) state.total = static_cast<std::uint64_t>(done / share);
    line.show(state, "rows");
    const auto limit = static_cast<double>(job_.max_output_bytes);
    const double bytes = share > 0 ? static_cast<double>(out().bytes_written()) / share : 0;
    if (job_.force || bytes <= limit) return;
    throw resource_error(
        fmt::format("the result would take about {}, more than the {} of --max-output. Choose "
                    "--format npy or more bytes, or use --force",
                    bytes_text(bytes), bytes_text(limit)));
  }

  [[nodiscard]] io::output_file& out() { return outputs_.result(); }

  const job_files& job_;
  row_operation& operation_;
  run_outputs outputs_;
  reported_run<row_report> reported_;
  row_report& report_ = reported_.report;
  std::shared_ptr<io::file_digest> digest_;  // of what is read; null without a report
};

}  // namespace

void run_rows(const job_files& job, row_operation& operation) {
  check_execution(operation.exec());
  row_run(job, operation).run();
}

}  // namespace gpu::cli
