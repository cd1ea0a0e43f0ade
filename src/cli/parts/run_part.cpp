// --part k/n --output-dir DIR: one part of a job, for whatever runs the others.
#include <fmt/format.h>

#include <string>

#include "cli/outputs/report.hpp"
#include "cli/parts/part_job.hpp"
#include "cli/parts/resume_folder.hpp"
#include "cli/process/exit_code.hpp"
#include "cli/process/interrupt.hpp"
#include "cli/process/messages.hpp"
#include "cli/process/start_checks.hpp"
#include "cli/process/stopwatch.hpp"
#include "cli/verbs/jobs.hpp"
#include "cli/verbs/output_size.hpp"
#include "cli/verbs/pairs_run.hpp"
#include "cli/verbs/read_input.hpp"

namespace gpu::cli {
namespace {

std::string done_text(const part_manifest& m) {
  const pair_summary& s = m.summary;
  run_report read;
  read.input.add(m.reading, s.rows, s.cols);
  if (m.job.against) read.against.emplace().add(m.y_reading, s.y_rows, s.cols);
  return fmt::format("{}: {}, {} pairs tested, {} kept, {:.3f} s\n{}checksum {}\n",
                     text_of({m.step, m.number, m.of}), panel_text(m), s.pairs_tested, s.pairs_kept,
                     m.seconds, names_text(read), gpu::to_string(s.checksum));
}

/// Whether that part of the job is there.
bool is_done(const part_folder& folder, const job_key& key, const part_place& place) {
  const part_status there = folder.check(place, part_check::digests);
  if (there.state != part_state::done) return false;
  if (there.manifest->job == key) return true;
  throw parts_error(fmt::format("{}: {} is of another job: {}", folder.path(), text_of(place),
                                difference(there.manifest->job, key)));
}

/// What is to be done after a counting pass.
void say_step(const pairs_command& job, const part_folder& folder, const job_key& key,
              const part_manifest& done) {
  if (job.quiet) return;
  say(done_text(done));
  if (done.step == 0) return;
  const job_step now = step_of(folder, key, done.of);
  if (now.step == done.step) {
    say(
        fmt::format("counting round {} is done for this part. When all parts have it, run the same "
                    "commands again (at most three rounds)\n",
                    done.step));
  } else if (now.step > 0) {
    say(fmt::format(
        "counting round {} is done for all parts. Run the same commands again for round "
        "{}\n",
        done.step, now.step));
  } else {
    say(
        fmt::format("counting is done for all parts, and the cut is p <= {}. Run the same commands "
                    "again: they write the result\n",
                    now.search->max_p_effective()));
  }
}

}  // namespace

void run_part(const pairs_command& job) {
  check_execution(job.pairs.exec);
  const index_t number = job.pairs.part.index + 1;
  const index_t of = job.pairs.part.of;
  const part_folder folder(job.part_folder, job.pairs.exec.cpu_threads);
  expect_no_part_names(folder, job);
  folder.create();
  const folder_lock lock(folder, lock_kind::shared);
  const job_key key = key_of(job);
  folder.expect_job(key, of);
  const job_step step = step_of(folder, key, of);
  const part_place place{step.step, number, of};
  if (is_done(folder, key, place)) {
    if (!job.quiet) say(fmt::format("{} is there already: nothing to do\n", text_of(place)));
    return;
  }
  folder.expect_free(place, key);

  progress_line line(job.quiet);
  abandonable_phase phase([] { complain("interrupted: the part is not written"); });
  const input_tables tables = read_input(job, line);
  expect_same_input(key, job, tables);
  check_output_size(job, tables, result_context_of(job, tables));
  io::byte_budget budget(job.force ? io::no_byte_limit : job.max_output_bytes);
  part_job parts({job, tables, key, folder, line, budget});
  const part_manifest done = parts.run(step, number, of);
  phase.end();
  line.clear();
  say_step(job, folder, key, done);
}

}  // namespace gpu::cli
