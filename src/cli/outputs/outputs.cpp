#include "cli/outputs/outputs.hpp"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <utility>

#include "cli/process/exit_code.hpp"
#include "cli/process/interrupt.hpp"
#include "cli/process/messages.hpp"
#include "io/io_error.hpp"

namespace gpu::cli {

/// A target with the option that names it.
struct named_target {
  const char* option;
  io::output_target target;
};

namespace {

/// The targets of a job. They differ from each other and from the inputs.
std::vector<named_target> resolve(const job_files& job, const std::string& observations,
                                  const std::vector<std::pair<std::string, std::string>>& inputs) {
  std::vector<named_target> outputs;
  outputs.push_back({"--output", io::resolve_output(job.output.empty() ? "-" : job.output)});
  if (!observations.empty())
    outputs.push_back({"--observations-output", io::resolve_output(observations)});
  if (!job.report.empty()) outputs.push_back({"--report", io::resolve_output(job.report)});
  for (const named_target& output : outputs) {
    for (const auto& [option, path] : inputs) {
      if (path.empty() || !io::is_same_file(output.target, path)) continue;
      throw usage_error(fmt::format("{}: {} is {}, expected another file", output.option,
                                    output.target.name,
                                    option == "INPUT" ? "the input" : "the table of " + option));
    }
  }
  for (auto a = outputs.begin(); a != outputs.end(); ++a) {
    for (auto b = a + 1; b != outputs.end(); ++b) {
      if (!io::is_same_output(a->target, b->target)) continue;
      throw usage_error(fmt::format("{} and {}: {} and {} are the same file, expected two",
                                    a->option, b->option, a->target.name, b->target.name));
    }
    if (job.no_clobber) refuse_to_replace(a->option, a->target);
  }
  return outputs;
}

std::vector<named_target> resolve(const job_files& job) {
  return resolve(job, "", {{"INPUT", job.input}});
}

std::vector<named_target> resolve(const pairs_command& job) {
  std::vector<named_target> outputs = resolve(job, job.observations, job.inputs());
  const io::output_target& result = outputs.front().target;
  const bool is_array = job.format == io::result_format::npy && job.keep == keep_kind::edges;
  if (is_array && result.kind != io::output_kind::replaced) {
    throw usage_error(fmt::format(
        "--output: {} is not a regular file, which edges as .npy need: their number comes first",
        result.name));
  }
  return outputs;
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

run_outputs::run_outputs(const job_files& job) : run_outputs(job, resolve(job)) {}

run_outputs::run_outputs(const pairs_command& job) : run_outputs(job, resolve(job)) {}

run_outputs::run_outputs(const job_files& job, std::vector<named_target> targets)
    : budget_(job.force ? io::no_byte_limit : job.max_output_bytes) {
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
  (void)resolve(job);
}

bool run_outputs::is_on_terminal() const {
  return result_->target().is_terminal || (observations_ && observations_->target().is_terminal);
}

void write_report(std::optional<io::output_file>& report, std::string_view json) {
  try {
    write_and_commit(report, json);
  } catch (const io::interrupted&) {
    throw interrupted_run("interrupted: the result is complete, the report is not written");
  } catch (const io::closed_pipe&) {
    throw;
  } catch (const io::output_error& error) {
    throw resource_error(fmt::format("{}; the result is complete", error.what()));
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
