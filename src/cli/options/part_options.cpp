#include "cli/options/part_options.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>

#include "cli/options/option_values.hpp"

namespace gpu::cli {
namespace {

/// "3/7" as part 2 of 7, counted from 0.
std::optional<pair_part> parse_part(std::string_view text) {
  const char* const end = text.data() + text.size();
  pair_part part;
  const auto number = std::from_chars(text.data(), end, part.index);
  if (number.ec != std::errc() || number.ptr == end || *number.ptr != '/') return {};
  const auto of = std::from_chars(number.ptr + 1, end, part.of);
  if (of.ec != std::errc() || of.ptr != end) return {};
  if (part.index < 1 || part.index > part.of || part.of > most_parts) return {};
  --part.index;
  return part;
}

template <class Command>
void add(CLI::App& app, Command& c, const char* parts_text) {
  const auto take_part = [&c](const std::string& text) {
    const std::optional<pair_part> part = parse_part(text);
    if (!part) {
      throw CLI::ValidationError(
          "--part", fmt::format("got {}, expected K/N with K from 1 to N, as 3/7", text));
    }
    c.pairs.part = *part;
    c.is_part = true;
  };
  app.add_option_function<std::string>("--part", take_part,
                                       "Compute part K of N alone, into --output-dir, unless it "
                                       "is there; `merge` joins the parts")
      ->type_name("K/N")
      ->group("Parts");
  app.add_option("--output-dir", c.part_folder,
                 "Folder of the parts, one job in a folder; of --resume [beside the output]")
      ->type_name("DIR")
      ->check(file_name())
      ->group("Parts");
  app.add_flag("--resume", c.resumes,
               "Write the result in parts as it goes, and go on from those that are there")
      ->group("Parts");
  app.add_option("--parts", c.parts, parts_text)
      ->type_name("N")
      ->check(number_in("a whole number from 1 to 10000000",
                        [](double n) { return n >= 1 && n <= most_parts; }))
      ->group("Parts");
}

/// --output-dir without parts.
template <class Command>
std::string check_folder(const CLI::App& app, const Command& c) {
  if (!is_given(app, "--output-dir") || c.is_part || c.resumes) return "";
  return "--output-dir needs --part or --resume";
}

/// What is wrong with a job in parts; "" of others.
template <class Command>
std::string check(const CLI::App& app, const Command& c, bool is_standard_input) {
  if (!c.is_part && !c.resumes) return "";
  if (c.is_part && c.resumes) return "--part does not go with --resume, which runs all parts";
  if (is_standard_input) return "standard input has no parts: each reads the input again";
  if (c.resumes && (c.output.empty() || c.output == "-")) return "--resume needs --output FILE";
  if (!c.is_part) return "";
  if (c.part_folder.empty()) return "--part needs --output-dir DIR";
  for (const char* file : {"--output", "--report", "--patterns"}) {
    if (is_given(app, file)) {
      return fmt::format("{} does not go with --part, which writes into --output-dir", file);
    }
  }
  return "";
}

}  // namespace

void add_parts(CLI::App& app, pairs_command& c) {
  add(app, c, "How many parts, for --resume and --plan [chosen]");
}

void add_parts(CLI::App& app, differential_command& c) {
  add(app, c, "How many parts, for --resume [chosen]");
}

std::string check_parts_options(const CLI::App& app, const pairs_command& c) {
  if (std::string wrong = check_folder(app, c); !wrong.empty()) return wrong;
  if (is_given(app, "--parts") && !c.resumes && !c.plan_only) {
    return "--parts needs --resume or --plan";
  }
  if (c.plan_only && (c.is_part || c.resumes)) {
    return c.is_part ? "--part does not go with --plan: --parts N plans a job in parts"
                     : "--resume does not go with --plan";
  }
  return check(app, c, c.input == "-" || c.against == "-");
}

std::string check_parts_options(const CLI::App& app, const differential_command& c) {
  if (std::string wrong = check_folder(app, c); !wrong.empty()) return wrong;
  if (is_given(app, "--parts") && !c.resumes) return "--parts needs --resume";
  return check(app, c, c.input == "-");
}

pairs_command job_in_parts(const differential_command& c) {
  return {.what = c.what,
          .groups = c.groups,
          .input = c.input,
          .filter = {.max_p = c.filter.max_p,
                     .min_abs = c.filter.min_abs_z,
                     .side = c.filter.side,
                     .adjust = c.filter.adjust},
          .keep = c.keep,
          .k = c.k,
          .output = c.output,
          .format = c.format,
          .report = c.report,
          .command_line = c.command_line,
          .pairs = c.pairs,
          .text = c.text,
          .transposes = c.transposes,
          .max_input_bytes = c.max_input_bytes,
          .max_output_bytes = c.max_output_bytes,
          .quiet = c.quiet,
          .force = c.force,
          .no_clobber = c.no_clobber,
          .part_folder = c.part_folder,
          .is_part = c.is_part,
          .resumes = c.resumes,
          .parts = c.parts};
}

void add_parts_verb(CLI::App& app, parts_command& c) {
  app.add_option("DIR", c.folder, "Folder of the parts")->required()->check(file_name());
  app.add_option_function<std::string>(
         "--format",
         [&c](const std::string& word) {
           c.format = word == "json"    ? parts_format::json
                      : word == "slurm" ? parts_format::slurm
                                        : parts_format::text;
         },
         "A line for each part, what is to be run as Slurm's --array takes it, or JSON [text]")
      ->check(CLI::IsMember({"text", "slurm", "json"}).description(""))
      ->type_name("text|slurm|json");
  CLI::Option* const quick =
      app.add_flag("--quick", c.is_quick, "Look at sizes alone, not at every byte");
  app.add_flag("--check", c.checks, "End with 1 while parts are missing or damaged, else with 0");
  app.add_flag("--clean", c.cleans,
               "Remove the parts of the job, finished or not, and the folder where nothing else is "
               "in it")
      ->excludes(quick);
}

void add_merge_verb(CLI::App& app, merge_command& c) {
  app.add_option("DIR", c.folder, "Folder of the parts")->required()->check(file_name());
  app.add_option("-o,--output", c.output,
                 "Result file, compressed where it ends in .gz or .zst; - for "
                 "standard output")
      ->required()
      ->type_name("FILE")
      ->check(file_name());
  app.add_option("--patterns", c.patterns, "Of folded edges: which rows have equal ranks")
      ->type_name("FILE")
      ->check(file_name());
  app.add_option("--report", c.report, "Also write input, cuts and counts as JSON")
      ->type_name("FILE")
      ->check(file_name());
  app.add_flag("--no-clobber", c.no_clobber, "End rather than replace a file that is there");
  app.add_flag("-q,--quiet", c.quiet, "No summary");
}

}  // namespace gpu::cli
