// gpu-similarity parts and merge: what is there of a job, and the job as one file.
#include <fmt/format.h>

#include <string>

#include "cli/options/output_names.hpp"
#include "cli/outputs/outputs.hpp"
#include "cli/parts/joined_parts.hpp"
#include "cli/parts/part_verbs.hpp"
#include "cli/process/exit_code.hpp"
#include "cli/process/interrupt.hpp"
#include "cli/process/messages.hpp"
#include "io/json.hpp"
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

std::string line_of(const part_listing& listing, std::size_t i) {
  const part_status& part = listing.parts[i];
  std::string line =
      fmt::format("{}\t{}", text_of({listing.step, static_cast<index_t>(i) + 1, listing.of}),
                  word_of(part.state));
  if (part.state == part_state::damaged) return line + "\t" + io::printable(part.reason) + "\n";
  if (part.state == part_state::missing) return line + "\n";
  const pair_summary& s = part.manifest->summary;
  return line + fmt::format("\t{}\t{} pairs tested\t{} kept\t{:.3f} s\n",
                            panel_text(*part.manifest), s.pairs_tested, s.pairs_kept,
                            part.manifest->seconds);
}

std::string plain_text(const part_listing& listing) {
  std::string out;
  for (std::size_t i = 0; i < listing.parts.size(); ++i) out += line_of(listing, i);
  const std::vector<index_t> wanting = listing.wanting();
  out += fmt::format("{} of {} parts are done", listing.parts.size() - wanting.size(), listing.of);
  if (!wanting.empty()) out += "; to be run: " + compact_list(wanting);
  if (listing.unfinished > 0) {
    out += fmt::format("\n{} unfinished files (*.partial), of running or killed processes",
                       listing.unfinished);
  }
  return out + "\n";
}

std::string json_text(const part_listing& listing) {
  std::string parts;
  for (std::size_t i = 0; i < listing.parts.size(); ++i) {
    const part_status& part = listing.parts[i];
    parts += fmt::format("{}\n    {{\"part\": {}, \"state\": \"{}\", \"reason\": {}}}",
                         i > 0 ? "," : "", i + 1, word_of(part.state),
                         part.reason.empty() ? "null" : io::json_text(part.reason));
  }
  const std::vector<index_t> wanting = listing.wanting();
  io::json_members members;
  members.add("step", io::json_text(step_text(listing.step)));
  members.add("of", fmt::to_string(listing.of));
  members.add("is_whole", listing.step == 0 && wanting.empty() ? "true" : "false");
  members.add("to_run", io::json_text(compact_list(wanting)));
  members.add("unfinished_files", fmt::to_string(listing.unfinished));
  members.add("parts", fmt::format("[{}\n  ]", parts));
  return members.object();
}

std::string text_of_listing(const part_listing& listing, parts_format format) {
  if (format == parts_format::json) return json_text(listing);
  if (format == parts_format::text) return plain_text(listing);
  const std::string numbers = compact_list(listing.wanting());
  return numbers.empty() ? "" : numbers + "\n";
}

/// The outputs of merge, as the command that computes pairs takes them.
pairs_command files_of(const merge_command& job, const joined_parts& joined) {
  const bool is_folded = keep_of(joined.job) == keep_kind::folded_edges;
  if (is_folded && job.patterns.empty()) {
    throw usage_error("merge: folded edges need --patterns FILE");
  }
  if (!is_folded && !job.patterns.empty()) {
    throw usage_error(fmt::format("--patterns: the parts are of --keep {}, expected folded-edges",
                                  joined.job.option("keep")));
  }
  io::result_format format = format_of(joined.job);
  settle_format(format, true, {{"--output", job.output}, {"--patterns", job.patterns}});
  // The format is left open: how many records there are is known before the first is written, so
  // that any output will do.
  return {.output = job.output,
          .patterns = job.patterns,
          .report = job.report,
          .force = true,
          .no_clobber = job.no_clobber};
}

}  // namespace

void run_parts(const parts_command& job) {
  const part_listing listing =
      list_parts(part_folder(job.folder), job.is_quick ? part_check::sizes : part_check::digests);
  io::output_file out("-", {.stop = is_interrupted});
  out.write(text_of_listing(listing, job.format));
  out.commit();
}

void run_merge(const merge_command& job) {
  const part_folder folder(job.folder);
  const joined_parts joined = check_parts(folder);
  pair_outputs outputs(files_of(job, joined));
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
