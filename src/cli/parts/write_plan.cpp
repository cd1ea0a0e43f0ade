// --plan: what would run, how long it would take and how large its result would be.
#include <string>

#include "cli/parts/job_estimate.hpp"
#include "cli/parts/part_verbs.hpp"
#include "cli/process/interrupt.hpp"
#include "cli/process/messages.hpp"
#include "cli/process/progress_line.hpp"
#include "cli/process/start_checks.hpp"
#include "cli/process/stopwatch.hpp"
#include "cli/verbs/output_size.hpp"
#include "cli/verbs/pairs_run.hpp"
#include "cli/verbs/read_input.hpp"
#include "io/write/output_file.hpp"

namespace gpu::cli {

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
  io::output_file out("-", {.stop = is_interrupted});
  out.write(text);
  out.commit();
}

}  // namespace gpu::cli
