#include "cli/options/option_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/parsed.hpp"

namespace gpu::cli {
namespace {

/// "3/7" as part 2 of 7, counted from 0.
std::optional<pair_part> parse_part(std::string_view text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const auto number = gpu::detail::parsed<index_t>(text.substr(0, slash));
  const auto of = gpu::detail::parsed<index_t>(text.substr(std::min(slash + 1, text.size())));
  if (!number || !of || *number < 1 || *number > *of || *of > most_parts) return {};
  return pair_part{.index = *number - 1, .of = *of};
}

}  // namespace

void add_parts(verb& v, pairs_command& c, const char* parts_text) {
  const auto take_part = [&c](const std::string& text) -> std::string {
    const std::optional<pair_part> part = parse_part(text);
    if (!part) return fmt::format("got {}, expected K/N with K from 1 to N, as 3/7", text);
    c.pairs.part = *part;
    c.is_part = true;
    return "";
  };
  v.heading = "Parts";
  v.add("--part", take_part,
        "Compute only part K of N, into --output-dir, unless it is there; `merge` joins the parts")
      ->type_name("K/N");
  v.add_file("--output-dir", c.part_folder,
             "Folder of the parts, one job in a folder; for --resume [next to the output]", "DIR");
  v.add_option("--resume", c.resumes,
               "Write the result in parts, and continue from those that are there");
  v.add_number("--parts", c.parts, "N", {.least = 1, .most = most_parts}, parts_text);
}

std::string check_parts_options(const verb& v, const pairs_command& c) {
  const bool is_in_parts = c.is_part || c.resumes;
  const std::string wrong = v.broken({
      {!is_in_parts, "--output-dir", "needs --part or --resume"},
      {!c.resumes && !c.plan_only, "--parts",
       c.is_differential() ? "needs --resume" : "needs --resume or --plan"},
      {c.plan_only, "--part", "does not go with --plan: --parts N plans a job in parts"},
      {c.plan_only, "--resume", "does not go with --plan"},
      {c.resumes, "--part", "does not go with --resume, which runs all parts"},
  });
  if (!wrong.empty()) return wrong;
  if (is_in_parts && (c.input == "-" || c.against == "-")) {
    return "standard input has no parts: each reads the input again";
  }
  return v.broken({
      {c.output.empty() || c.output == "-", "--resume", "needs --output FILE"},
      {c.part_folder.empty(), "--part", "needs --output-dir DIR"},
      {c.is_part, "--output --report", "does not go with --part, which writes into --output-dir"},
  });
}

void add_parts_verb(verb& v, parts_command& c) {
  v.add_file("DIR", c.folder, "Folder of the parts", "")->required();
  add_choice(v, "--format", c.format,
             "A line for each part, the parts still to be run as Slurm's --array reads them, or "
             "JSON [text]");
  option* const quick =
      v.add_option("--quick", c.is_quick, "Look only at sizes, not at every byte");
  v.add_option("--check", c.checks, "End with 1 while parts are missing or damaged, else with 0");
  v.add_option(
       "--clean", c.cleans,
       "Remove the parts of the job, finished or not, and the folder if nothing else is in it")
      ->excludes(quick);
}

void add_merge_verb(verb& v, merge_command& c) {
  v.add_file("DIR", c.folder, "Folder of the parts", "")->required();
  v.add_file("-o,--output", c.output,
             "Result file, compressed if it ends in .gz or .zst; - for standard output")
      ->required();
  v.heading = "Options";
  add_report(v, c, "Also write input, cuts and counts as JSON");
  v.add_option("--no-clobber", c.no_clobber, "End rather than replace a file that is there");
  v.add_option("-q,--quiet", c.quiet, "No summary");
}

}  // namespace gpu::cli
