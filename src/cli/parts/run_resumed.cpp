// --resume: a long run that writes its parts as it goes, and continues from them after it was
// killed.
#include <fmt/format.h>

#include <utility>

#include "base/counted.hpp"
#include "cli/outputs/outputs.hpp"
#include "cli/parts/job_estimate.hpp"
#include "cli/parts/joining/joined_parts.hpp"
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

/// How many parts the job has: those that it was begun with.
index_t parts_of(const pairs_command& job, const input_tables& tables, const part_folder& folder) {
  const index_t begun = folder.list().of;
  if (begun != 0) {
    if (job.parts != 0 && job.parts != begun) {
      throw parts_error(
          fmt::format("{}: the job was begun in {} parts, expected {} as --parts "
                      "says: leave the option out",
                      folder.path(), begun, job.parts));
    }
    return begun;
  }
  if (job.parts != 0) return job.parts;
  return estimate_job(job, tables, result_context_of(job, tables)).parts;
}

/// Computes the parts of the job that are not there, step by step; returns how many were there.
index_t compute_missing(const pairs_command& job, const input_tables& tables, const job_key& key,
                        const part_folder& folder, progress_line& line) {
  const index_t of = parts_of(job, tables, folder);
  folder.expect_job(key, of);
  io::byte_budget budget(job.force ? io::no_byte_limit : job.max_output_bytes);
  part_job parts({job, tables, key, folder, line, budget});
  index_t found = 0;
  job_step step;
  do {
    step = step_of(folder, key, of);
    for (index_t number = 1; number <= of; ++number) {
      const part_status there = folder.check({step.step, number, of}, part_check::digests);
      if (there.state == part_state::done && there.manifest->job == key) {
        for (const part_file& file : there.manifest->files) {
          budget.take(job.output, file.digest.bytes);
        }
        ++found;
        continue;
      }
      try {
        parts.run(step, number, of);
      } catch (const interrupted_run&) {
        throw interrupted_run(
            fmt::format("interrupted: {} of {} parts are in {}, from which --resume goes on",
                        number - 1, of, folder.path()));
      }
    }
  } while (step.step != 0);
  return found;
}

/// The result under its name, and its report.
void write_result(const pairs_command& job, const part_folder& folder, const stopwatch& total) {
  const joined_parts joined = check_parts(folder);
  run_outputs outputs(job);
  try {
    write_joined(joined, folder, outputs);
  } catch (const io::interrupted&) {
    throw interrupted_run(fmt::format(
        "interrupted: all parts are in {}, from which --resume goes on", folder.path()));
  }
  write_report(outputs.report(), to_json(report_of_run(joined, job, total.seconds())));
  if (!job.quiet) say(to_text(joined));
}

}  // namespace

void run_resumed(const pairs_command& job) {
  const stopwatch total;
  check_execution(job.pairs.exec);
  const io::output_target target = io::resolve_output(job.output);
  if (target.kind != io::output_kind::replaced) {
    throw usage_error("--output: --resume needs a regular file");
  }
  if (job.no_clobber) refuse_to_replace("--output", target);
  check_outputs(job);
  part_folder named = folder_of_resumed(job, target.path);
  expect_no_part_names(named, job);
  const job_key key = key_of(job);
  resume_folder folder(std::move(named));
  {
    progress_line line(job.quiet);
    abandonable_phase phase([&] {
      complain("interrupted: finished parts are kept, and --resume continues from them");
    });
    const input_tables tables = read_input(job, line);
    expect_same_input(key, job, tables);
    check_output_size(job, tables, result_context_of(job, tables));
    const index_t found = compute_missing(job, tables, key, folder.parts(), line);
    phase.end();
    line.clear();
    if (found > 0 && !job.quiet) {
      say(fmt::format("{} {} there\n", gpu::detail::counted(found, "part"),
                      found == 1 ? "was" : "were"));
    }
  }
  write_result(job, folder.parts(), total);
  folder.remove(key);
}

}  // namespace gpu::cli
