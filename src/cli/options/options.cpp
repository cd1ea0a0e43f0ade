#include "cli/options/options.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include <gpu/version.hpp>

#include "cli/options/option_groups.hpp"
#include "cli/options/option_values.hpp"
#include "cli/options/output_names.hpp"
#include "cli/options/part_options.hpp"
#include "cli/process/exit_code.hpp"
#include "cli/process/messages.hpp"
#include "io/write/output_file.hpp"

namespace gpu::cli {
namespace {

void add_filter(CLI::App& app, pairs_command& c) {
  app.add_option("--max-p", c.filter.max_p, "Keep pairs with p <= P, after --adjust [1]")
      ->type_name("P")
      ->check(number_in("a number above 0 and up to 1", [](double p) { return p > 0 && p <= 1; }))
      ->group("Which pairs");
  app.add_option("--min-abs", c.filter.min_abs,
                 "Keep pairs with |statistic| >= R; with --tail greater statistic >= R, with less "
                 "statistic <= -R; 0 is no cut [0]")
      ->type_name("R")
      ->check(number_in("a number from 0 to 1", [](double r) { return r >= 0 && r <= 1; }))
      ->group("Which pairs");
  add_choice<tail>(
      app, "--tail", c.filter.side,
      {{"two-sided", tail::two_sided}, {"greater", tail::greater}, {"less", tail::less}},
      "Alternative hypothesis of p, and the sign that --min-abs keeps [two-sided]")
      ->group("Which pairs");
  add_choice<adjustment>(app, "--adjust", c.filter.adjust,
                         {{"none", adjustment::none},
                          {"bonferroni", adjustment::bonferroni},
                          {"bh", adjustment::benjamini_hochberg}},
                         "Correction of --max-p for the number of pairs; edges get a column q, the "
                         "adjusted p (with bh not beside --min-abs) [none]")
      ->group("Which pairs");
}

void add_against(CLI::App& app, pairs_command& c) {
  app.add_option("--against", c.against,
                 "Every row of INPUT with every row of this second table, of as many columns, in "
                 "place of the pairs of rows of INPUT")
      ->type_name("FILE")
      ->check(file_name())
      ->group("Input");
}

void add_result(CLI::App& app, pairs_command& c) {
  add_choice<keep_kind>(app, "--keep", c.keep,
                        {{"edges", keep_kind::edges},
                         {"folded-edges", keep_kind::folded_edges},
                         {"top-k", keep_kind::top_k},
                         {"counts", keep_kind::counts},
                         {"dense", keep_kind::dense}},
                        "What to keep of the pairs [edges]")
      ->group("Result");
  app.add_option("-k", c.k, "Partners of each row for --keep top-k [10]")
      ->type_name("K")
      ->check(number_in("a whole number from 1", [](double k) { return k >= 1; }))
      ->group("Result");
  add_choice<neighbor_order>(app, "--order", c.order,
                             {{"by-absolute-value", neighbor_order::by_absolute_value},
                              {"by-value", neighbor_order::by_value}},
                             "What is best for --keep top-k [by-absolute-value]")
      ->group("Result");
  add_output(app, c);
  app.add_option("--patterns", c.patterns,
                 "For --keep folded-edges: which rows have equal ranks, and so share their edges")
      ->type_name("FILE")
      ->check(file_name())
      ->group("Result");
  add_report(app, c, "Also write input, cuts, counts and times as JSON");
  add_size_limit(app, c);
}

void add_execution(CLI::App& app, pairs_command& c) {
  add_choice<nan_policy>(app, "--nan", c.pairs.nans,
                         {{"reject", nan_policy::reject}, {"propagate", nan_policy::propagate}},
                         "What a NaN does: end the run, or leave its row out [reject]")
      ->group("Input");
  add_backend(app, c.pairs.exec);
  add_choice<pair_variant>(app, "--variant", c.pairs.variant,
                           {{"automatic", pair_variant::automatic},
                            {"naive", pair_variant::naive},
                            {"tiled", pair_variant::tiled},
                            {"shared_tiled", pair_variant::shared_tiled},
                            {"tensor", pair_variant::tensor},
                            {"hopper", pair_variant::hopper}},
                           "Implementation of the pairs [automatic]")
      ->group("Execution");
  add_choice<row_folding>(app, "--fold", c.pairs.fold,
                          {{"auto", row_folding::automatic},
                           {"never", row_folding::never},
                           {"always", row_folding::always}},
                          "Whether rows of equal ranks are computed once [auto]")
      ->group("Execution");
  app.add_flag("--plan", c.plan_only, "Tell what would run and how large its result would be")
      ->group("Execution");
  app.add_flag("-q,--quiet", c.quiet, "No progress and no summary")->group("Execution");
}

bool is_given(const CLI::App& app, const char* option) {
  return app.count(option) > 0;
}

/// Refuses options that would change nothing in this run; "" where there are none.
std::string check_kept(const CLI::App& app, const pairs_command& c) {
  for (const char* option : {"-k", "--order"}) {
    if (!is_given(app, option) || c.keep == keep_kind::top_k) continue;
    return fmt::format("{} needs --keep top-k", option);
  }
  if (c.keep == keep_kind::dense) {
    for (const char* cut : {"--max-p", "--min-abs", "--tail", "--adjust"}) {
      if (is_given(app, cut)) {
        return fmt::format("{} does not go with --keep dense, which keeps every statistic", cut);
      }
    }
  }
  if (c.keep != keep_kind::folded_edges) {
    return c.patterns.empty() ? "" : "--patterns needs --keep folded-edges";
  }
  if (info_of(c.what).equals != equal_rows::folded) {
    return fmt::format("--keep folded-edges: {} does not fold equal rows, expected another --keep",
                       info_of(c.what).name);
  }
  if (c.pairs.fold == row_folding::never)
    return "--keep folded-edges does not go with --fold never";
  const bool needs_patterns = !c.plan_only && !c.is_part;
  return c.patterns.empty() && needs_patterns ? "--keep folded-edges needs --patterns FILE" : "";
}

std::string check_files(const CLI::App& app, const pairs_command& c) {
  if (c.input == "-" && c.against == "-") {
    return "--against -: standard input is INPUT already, expected a file";
  }
  if (c.plan_only) {
    for (const char* file : {"--output", "--report", "--patterns"}) {
      if (is_given(app, file)) {
        return fmt::format("{} does not go with --plan, which writes to standard output", file);
      }
    }
    return "";
  }
  if (c.format != io::result_format::npy || c.is_part) return "";
  if (c.keep == keep_kind::counts && c.output.empty()) {
    return "--format npy of counts needs --output: the two totals are text";
  }
  const bool are_edges = c.keep == keep_kind::edges || c.keep == keep_kind::folded_edges;
  if (are_edges && (c.output.empty() || c.output == "-")) {
    return "--format npy of edges needs --output FILE: their number stands in front of them";
  }
  return "";
}

std::string check_backend(const execution& exec) {
  return exec.target == backend::cpu && !exec.devices.empty()
             ? "--devices does not go with --backend cpu"
             : "";
}

void refuse(const std::string& wrong) {
  if (!wrong.empty()) throw usage_error(wrong);
}

/// Prints the message of the parser: help and version to standard output, errors to standard error.
int answer(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream out;
  std::ostringstream err;
  const int code = app.exit(error, out, err);
  std::istringstream lines(err.str());
  for (std::string line; std::getline(lines, line);) say(printable(line) + "\n");
  if (code != 0) return exit_usage;
  io::output_file standard_output("-");
  standard_output.write(out.str());
  standard_output.commit();
  return exit_ok;
}

using words = std::vector<std::string>;

/// Whether the options of a verb are needed. To make those of every verb is most of what parsing
/// takes.
bool is_named(const CLI::App& verb, const words& line) {
  return std::find(line.begin(), line.end(), verb.get_name()) != line.end();
}

/// The commands that take rows one by one.
class row_commands {
 public:
  row_commands(CLI::App& app, const words& line)
      : rank_app_(app.add_subcommand("rank", "Ranks of each row, or of a column of numbers")),
        top_k_app_(
            app.add_subcommand("top-k", "The best values of each row, or of a column of numbers")),
        filter_app_(app.add_subcommand(
            "mean-filter", "Moving mean along each row, or along a column of numbers")) {
    if (is_named(*rank_app_, line)) add_rank(*rank_app_, rank_);
    if (is_named(*top_k_app_, line)) add_top_k(*top_k_app_, top_k_);
    if (is_named(*filter_app_, line)) add_mean_filter(*filter_app_, filter_);
  }

  /// The one on the command line, or nothing.
  std::optional<command> take_parsed(const words& line) {
    if (rank_app_->parsed()) return take(*rank_app_, rank_, rank_.rank.exec, line);
    if (top_k_app_->parsed()) return take(*top_k_app_, top_k_, top_k_.top.exec, line);
    if (filter_app_->parsed()) return take(*filter_app_, filter_, filter_.filter.exec, line);
    return std::nullopt;
  }

 private:
  template <class Command>
  static command take(const CLI::App& app, Command& job, const execution& exec, const words& line) {
    settle_format(job.format, is_given(app, "--format"), {{"--output", job.output}});
    refuse(check_backend(exec));
    refuse(check_text_options(job.text));
    job.command_line = line;
    return std::move(job);
  }

  CLI::App* rank_app_;
  CLI::App* top_k_app_;
  CLI::App* filter_app_;
  rank_command rank_;
  top_k_command top_k_;
  mean_filter_command filter_;
};

// The verb that takes the measure as an option.
constexpr const char* measure_verb = "correlate";

void add_measure(CLI::App& app, measure& what) {
  std::vector<std::string> names;
  for (const measure each : all_measures()) names.emplace_back(to_string(each));
  app.add_option_function<std::string>(
         "--measure", [&what](const std::string& name) { what = measure_of(name); },
         "What is computed of two rows")
      ->check(CLI::IsMember(names))
      ->required();
}

/// A verb for each measure, and one that takes the measure as an option. Only one of them is
/// parsed, so all fill the same job.
std::vector<CLI::App*> add_pair_verbs(CLI::App& app, const words& line, pairs_command& job) {
  std::vector<CLI::App*> verbs;
  for (const measure what : all_measures()) {
    const measure_info& info = info_of(what);
    verbs.push_back(app.add_subcommand(std::string(info.name),
                                       fmt::format("{} of all pairs of rows", info.description)));
  }
  verbs.push_back(app.add_subcommand(measure_verb, "Any measure of all pairs of rows"));
  for (CLI::App* const verb : verbs) {
    if (!is_named(*verb, line)) continue;
    add_input(*verb, job);
    if (verb->get_name() == measure_verb) add_measure(*verb, job.what);
    add_against(*verb, job);
    add_filter(*verb, job);
    add_result(*verb, job);
    add_execution(*verb, job);
    add_parts(*verb, job);
  }
  return verbs;
}

}  // namespace

parsed_command parse_command_line(int argc, char** argv) {
  const words line(argv, argv + argc);
  CLI::App app("All pairs of rows that move together: correlations with p-values, on GPU or CPU");
  app.name("gpu-similarity");
  app.set_version_flag("--version", GPU_SIMILARITY_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done, 2 wrong usage, 3 bad input, 4 memory, device or disk, 130 interrupted, "
      "143 terminated, 141 nobody reads the result.");

  pairs_command pairs;
  const std::vector<CLI::App*> pair_apps = add_pair_verbs(app, line, pairs);
  row_commands rows(app, line);
  parts_command listing;
  CLI::App* const parts_app =
      app.add_subcommand("parts", "Which parts of a job are done, missing or damaged");
  if (is_named(*parts_app, line)) add_parts_verb(*parts_app, listing);
  merge_command merging;
  CLI::App* const merge_app =
      app.add_subcommand("merge", "Join the parts of a job to the file of a single run");
  if (is_named(*merge_app, line)) add_merge_verb(*merge_app, merging);
  const CLI::App* info = app.add_subcommand("info", "Version, backends and devices");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return answer(app, error);
  }
  if (info->parsed()) return command(info_command{});
  if (parts_app->parsed()) return command(std::move(listing));
  if (merge_app->parsed()) {
    merging.command_line = line;
    return command(std::move(merging));
  }
  if (auto job = rows.take_parsed(line)) return std::move(*job);
  for (const CLI::App* const verb : pair_apps) {
    if (!verb->parsed()) continue;
    if (verb->get_name() != measure_verb) pairs.what = measure_of(verb->get_name());
    settle_format(pairs.format, is_given(*verb, "--format"),
                  {{"--output", pairs.output}, {"--patterns", pairs.patterns}});
    refuse(check_kept(*verb, pairs));
    refuse(check_parts_options(*verb, pairs));
    refuse(check_files(*verb, pairs));
    refuse(check_backend(pairs.pairs.exec));
    refuse(check_text_options(pairs.text));
    pairs.command_line = line;
    return command(std::move(pairs));
  }
  return int{exit_usage};
}

}  // namespace gpu::cli
