#include "cli/outputs/outputs.hpp"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <utility>
#include <vector>

#include "cli/process/exit_code.hpp"
#include "cli/process/interrupt.hpp"
#include "cli/process/messages.hpp"
#include "io/io_error.hpp"

namespace gpu::cli {
namespace {

/// A target with the option that names it.
struct named_target {
  const char* option;
  io::output_target target;
};

void check_input(const named_target& output, const std::string& input,
                 const char* what = "the input") {
  if (!io::is_same_file(output.target, input)) return;
  throw usage_error(
      fmt::format("{}: {} is {}, expected another file", output.option, output.target.name, what));
}

void check_each_other(const std::vector<named_target>& outputs) {
  for (auto a = outputs.begin(); a != outputs.end(); ++a) {
    for (auto b = a + 1; b != outputs.end(); ++b) {
      if (!io::is_same_output(a->target, b->target)) continue;
      throw usage_error(fmt::format("{} and {}: {} and {} are the same file, expected two",
                                    a->option, b->option, a->target.name, b->target.name));
    }
  }
}

/// What all outputs of a job have to be.
template <class Job>
void check_all(const std::vector<named_target>& outputs, const Job& job) {
  check_each_other(outputs);
  if (!job.no_clobber) return;
  for (const named_target& output : outputs) refuse_to_replace(output.option, output.target);
}

std::vector<named_target> resolve_outputs(const pairs_command& job) {
  std::vector<named_target> outputs;
  outputs.push_back({"--output", io::resolve_output(job.output.empty() ? "-" : job.output)});
  if (!job.observations.empty())
    outputs.push_back({"--observations-output", io::resolve_output(job.observations)});
  if (!job.report.empty()) outputs.push_back({"--report", io::resolve_output(job.report)});
  for (const named_target& output : outputs) {
    check_input(output, job.input);
    if (!job.against.empty()) check_input(output, job.against, "the table of --against");
    if (!job.covariates.empty()) check_input(output, job.covariates, "the table of --covariates");
    if (!job.weights.empty()) check_input(output, job.weights, "the table of --weights");
  }
  check_all(outputs, job);
  return outputs;
}

void check_npy(const pairs_command& job, const io::output_target& result) {
  if (job.format != io::result_format::npy || job.keep != keep_kind::edges) return;
  if (result.kind == io::output_kind::replaced) return;
  throw usage_error(fmt::format(
      "--output: {} is not a regular file, which edges as .npy need: their number comes first",
      result.name));
}

/// As its name says; that of a file alone.
io::compression packed_as(const io::output_target& target) {
  constexpr bool any_suffix = true;
  return target.kind == io::output_kind::replaced ? io::form_of(target.name, any_suffix).packed
                                                  : io::compression::none;
}

/// Lets the report of an interrupted run through, but does not wait long for someone to read it.
io::stop_request soon_after_interrupt() {
  using clock = std::chrono::steady_clock;
  static constexpr auto patience = std::chrono::milliseconds(300);
  return [since = std::optional<clock::time_point>()]() mutable {
    if (!is_interrupted()) return false;
    if (!since) since = clock::now();
    return clock::now() - *since > patience;
  };
}

void write_and_commit(std::optional<io::output_file>& report, std::string_view json) {
  if (!report) return;
  report->write(json);
  report->commit();
}

}  // namespace

void refuse_to_replace(const char* option, const io::output_target& target) {
  if (target.kind != io::output_kind::replaced || !target.exists) return;
  throw usage_error(fmt::format("{}: {} is there already, expected another name with --no-clobber",
                                option, target.name));
}

pair_outputs::pair_outputs(const pairs_command& job)
    : budget_(job.force ? io::no_byte_limit : job.max_output_bytes) {
  std::vector<named_target> targets = resolve_outputs(job);
  check_npy(job, targets.front().target);
  for (named_target& output : targets) {
    const std::string_view option = output.option;
    const bool is_report = option == "--report";
    const io::output_settings settings{
        .stop = is_report ? soon_after_interrupt() : io::stop_request(is_interrupted),
        .budget = is_report ? nullptr : &budget_,
        .packed = is_report ? io::compression::none : packed_as(output.target),
        .clobbers = !job.no_clobber};
    auto& file = is_report ? report_ : option == "--observations-output" ? observations_ : result_;
    file.emplace(std::move(output.target), settings);
  }
}

void check_outputs(const pairs_command& job) {
  check_npy(job, resolve_outputs(job).front().target);
}

bool pair_outputs::is_on_terminal() const {
  return result_->target().is_terminal || (observations_ && observations_->target().is_terminal);
}

row_outputs::row_outputs(const job_files& job)
    : budget_(job.force ? io::no_byte_limit : job.max_output_bytes) {
  std::vector<named_target> targets;
  targets.push_back({"--output", io::resolve_output(job.output)});
  if (!job.report.empty()) targets.push_back({"--report", io::resolve_output(job.report)});
  for (const named_target& output : targets) check_input(output, job.input);
  check_all(targets, job);
  const io::compression packing = packed_as(targets.front().target);
  result_.emplace(std::move(targets.front().target),
                  io::output_settings{.stop = is_interrupted,
                                      .budget = &budget_,
                                      .packed = packing,
                                      .clobbers = !job.no_clobber});
  if (targets.size() == 1) return;
  report_.emplace(std::move(targets.back().target),
                  io::output_settings{.stop = soon_after_interrupt(), .clobbers = !job.no_clobber});
}

void write_report(std::optional<io::output_file>& report, std::string_view json) {
  try {
    write_and_commit(report, json);
  } catch (const io::interrupted&) {
    throw interrupted_run("interrupted: the result is complete, the report is not written");
  } catch (const io::closed_pipe&) {
    throw;
  } catch (const io::output_error& error) {
    throw no_report(fmt::format("{}; the result is complete", error.what()));
  }
}

void write_unfinished_report(std::optional<io::output_file>& report, std::string_view json) {
  try {
    write_and_commit(report, json);
  } catch (const io::interrupted&) {
    complain("nobody reads the report: it is not written");
  } catch (const std::exception& error) {
    complain(error.what());
  }
}

std::string abandoned_text(const io::output_target& result) {
  if (result.kind == io::output_kind::replaced) return "interrupted: nothing is written";
  return fmt::format("interrupted: what is in {} is partial", result.name);
}

}  // namespace gpu::cli
