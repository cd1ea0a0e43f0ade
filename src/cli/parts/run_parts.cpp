// gpu-similarity parts and merge: what is there of a job, and the job as one file.
#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/options/option_groups.hpp"
#include "cli/outputs/json_record.hpp"
#include "cli/outputs/outputs.hpp"
#include "cli/parts/joining/joined_parts.hpp"
#include "cli/parts/resume_folder.hpp"
#include "cli/process/exit_code.hpp"
#include "cli/process/interrupt.hpp"
#include "cli/process/messages.hpp"
#include "cli/verbs/jobs.hpp"
#include "io/read/file_stream.hpp"
#include "io/write/output_file.hpp"

namespace gpu::cli {
namespace {

std::string_view word_of(part_state state) {
  if (state == part_state::missing) return "missing";
  return state == part_state::damaged ? "damaged" : "done";
}

std::string step_text(int step) {
  return step == 0 ? "result" : fmt::format("count {}", step);
}

std::string line_of(const part_listing& listing, index_t number) {
  const part_status& part = listing.status(number);
  std::string line =
      fmt::format("{}\t{}", text_of({listing.step, number, listing.of}), word_of(part.state));
  if (part.state == part_state::damaged) return line + "\t" + io::visible(part.reason) + "\n";
  if (part.state == part_state::missing) return line + "\n";
  const pair_summary& s = part.manifest->summary;
  return line + fmt::format("\t{}\t{} pairs tested\t{} kept\t{:.3f} s\n",
                            panel_text(*part.manifest), s.pairs_tested, s.pairs_kept,
                            part.manifest->seconds);
}

std::string json_of(const part_listing& listing, index_t number) {
  const part_status& part = listing.status(number);
  return fmt::format("{}\n    {{\"part\": {}, \"state\": \"{}\", \"reason\": {}}}",
                     number > 1 ? "," : "", number, word_of(part.state),
                     part.reason.empty() ? "null" : io::json_text(part.reason));
}

/// The texts of all parts, some at a time: there may be millions.
template <class TextOf>
void write_all(io::output_file& out, const part_listing& listing, const TextOf& text_of_part) {
  constexpr std::size_t full = std::size_t{1} << 20;
  std::string text;
  for (index_t number = 1; number <= listing.of; ++number) {
    text += text_of_part(listing, number);
    if (text.size() >= full) out.write(std::exchange(text, {}));
  }
  out.write(text);
}

void write_text(io::output_file& out, const part_listing& listing) {
  write_all(out, listing, line_of);
  const std::string wanting = compact_list(listing.wanting());
  std::string text = fmt::format("{} of {} parts are done", listing.done(), listing.of);
  if (!wanting.empty()) text += "; to be run: " + wanting;
  if (listing.unfinished > 0) {
    text += fmt::format("\n{} unfinished files (*.partial), of running or killed processes",
                        listing.unfinished);
  }
  out.write(text + "\n");
}

void write_json(io::output_file& out, const part_listing& listing) {
  const std::string wanting = compact_list(listing.wanting());
  json_writer members;
  members("step", step_text(listing.step));
  members("of", listing.of);
  members("is_whole", listing.step == 0 && wanting.empty());
  members("to_run", wanting);
  members("unfinished_files", listing.unfinished);
  constexpr std::string_view end = "\n}\n";
  const std::string object = members.lines();
  out.write(object.substr(0, object.size() - end.size()) + ",\n  \"parts\": [");
  write_all(out, listing, json_of);
  out.write("\n  ]\n}\n");
}

/// A job in parts does not know where its input lies. What has its bytes is taken for it, so that
/// it is not replaced by the result.
void expect_no_input(const char* option, const std::string& path, const job_key& key) {
  if (path.empty() || path == "-") return;
  std::error_code failed;
  const std::uintmax_t bytes = std::filesystem::file_size(path, failed);
  const auto is_of = [&](const std::optional<io::file_digest>& digest) {
    return !failed && digest && bytes == digest->bytes && io::digest_of_file(path) == digest;
  };
  if (!is_of(key.input) && !is_of(key.against)) return;
  throw usage_error(fmt::format(
      "{}: {} has the bytes of the input of these parts, expected another file", option, path));
}

void check_files(const part_folder& folder, const job_key& key, const pairs_command& files) {
  check_outputs(files);
  expect_no_part_names(folder, files);
  expect_no_input("--output", files.output, key);
  expect_no_input("--report", files.report, key);
}

/// The outputs of merge, as the command that computes pairs takes them.
pairs_command files_of(const merge_command& job, const joined_parts& joined) {
  io::result_format format = joined.command.format;
  settle_format(format, true, {{"--output", job.output}}, "the parts are");
  // The format is left open: how many records there are is known before the first is written, so
  // that any output will do.
  pairs_command files;
  static_cast<job_files&>(files) = job;
  files.force = true;
  return files;
}

/// Removes what the manifests of the job name, and no other file, and says how many parts that
/// were.
void clean_parts(const parts_command& job) {
  const part_folder folder(job.folder);
  const part_folder::contents listed = folder.list();
  const auto any = folder.any_manifest(listed);
  if (!any) throw parts_error(fmt::format("{}: no part of a job is there", job.folder));
  const folder_lock alone(folder, lock_kind::exclusive);
  folder.files().remove_if_empty(lock_name);
  folder.remove(any->job, part_folder::leftovers::removed);
  const auto results = listed.numbers.find(0);  // of the step whose parts are those of the result
  print(fmt::format("removed {} of {} parts\n",
                    results == listed.numbers.end() ? 0 : results->second.size(), listed.of));
}

}  // namespace

int run(const parts_command& job) {
  if (job.cleans) {
    clean_parts(job);
    return exit_ok;
  }
  const part_listing listing =
      list_parts(part_folder(job.folder), job.is_quick ? part_check::sizes : part_check::digests);
  io::output_file out("-", {.stop = is_interrupted});
  const std::string numbers = compact_list(listing.wanting());
  if (job.format == parts_format::json) write_json(out, listing);
  if (job.format == parts_format::text) write_text(out, listing);
  if (job.format == parts_format::slurm && !numbers.empty()) out.write(numbers + "\n");
  out.commit();
  const bool is_whole = listing.step == 0 && numbers.empty();
  return job.checks && !is_whole ? int{exit_parts_missing} : int{exit_ok};
}

void run(const merge_command& job) {
  const part_folder folder(job.folder);
  const joined_parts joined = check_parts(folder);
  const pairs_command files = files_of(job, joined);
  check_files(folder, joined.job, files);
  run_outputs outputs(files);
  try {
    write_joined(joined, folder, outputs);
  } catch (const io::interrupted&) {
    throw interrupted_run(abandoned_text(outputs.result().target()));
  }
  run_report report = report_of(joined);
  report.command_line = job.command_line;
  write_report(outputs.report(), to_json(report));
  if (!job.quiet) say(to_text(joined));
}

}  // namespace gpu::cli
