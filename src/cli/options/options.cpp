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

#include "cli/options/command_pages.hpp"
#include "cli/options/help_texts.hpp"
#include "cli/options/option_groups.hpp"
#include "cli/options/option_values.hpp"
#include "cli/options/output_names.hpp"
#include "cli/options/pair_options.hpp"
#include "cli/options/part_options.hpp"
#include "cli/options/unknown_words.hpp"
#include "cli/process/exit_code.hpp"
#include "cli/process/messages.hpp"
#include "io/read/sparse/names_beside.hpp"
#include "io/write/output_file.hpp"

namespace gpu::cli {
namespace {

std::string check_backend(const execution& exec) {
  return exec.target == backend::cpu && !exec.devices.empty()
             ? "--devices does not go with --backend cpu"
             : "";
}

/// Of the commands that take rows one by one.
std::string check_one_device(const CLI::App& verb, const execution& exec) {
  if (exec.devices.size() < 2) return "";
  return fmt::format("--devices: got {} devices, expected one: {} does not share its rows",
                     exec.devices.size(), verb.get_name());
}

void refuse(const std::string& wrong) {
  if (!wrong.empty()) throw usage_error(wrong);
}

void print(const std::string& text) {
  io::output_file standard_output("-");
  standard_output.write(text);
  standard_output.commit();
}

/// Prints the message of the parser: help and version to standard output, errors to standard error.
int answer(const CLI::App& app, const CLI::ParseError& error) {
  const bool is_help = error.get_exit_code() == 0;
  const bool may_be_unknown = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr ||
                              dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
                              (is_help && app.get_subcommands().empty());
  if (may_be_unknown) refuse(unknown_word(app));
  std::ostringstream out;
  std::ostringstream err;
  const int code = app.exit(error, out, err);
  // The parser's message has the form of all others, then its hint.
  std::istringstream lines(err.str());
  std::string first;
  if (std::getline(lines, first)) complain(first);
  for (std::string line; std::getline(lines, line);) say(printable(line) + "\n");
  if (code != 0) return exit_usage;
  print(out.str());
  return exit_ok;
}

using words = std::vector<std::string>;

/// `help` and `help VERB` as the parser has them: --help and VERB --help.
words with_help_option(words line) {
  if (line.size() < 2 || line[1] != "help") return line;
  line.erase(line.begin() + 1);
  line.push_back("--help");
  return line;
}

/// Whose options are made: that is most of what parsing takes.
enum class made_verbs { named, all };

/// Whether the options of a verb are needed.
bool is_needed(const CLI::App& verb, const words& line, made_verbs made) {
  return made == made_verbs::all ||
         std::find(line.begin(), line.end(), verb.get_name()) != line.end();
}

/// What is wrong with a job of differential correlation; "" where nothing is.
std::string check_differential(const CLI::App& app, const differential_command& job) {
  if (job.groups == "-") {
    return "--groups -: standard input is taken for INPUT alone, expected a file or labels";
  }
  if (is_given(app, "-k") && job.keep != keep_kind::top_k) return "-k needs --keep top-k";
  if (job.format != io::result_format::npy) return check_parts_options(app, job);
  return "--format: npy is not offered for differential, expected tsv or csv";
}

/// The commands that take rows one by one, differential and soft-threshold.
class row_commands {
 public:
  row_commands(CLI::App& app, const words& line, made_verbs made)
      : rank_app_(app.add_subcommand("rank", "Ranks of each row, or of a column of numbers")),
        top_k_app_(
            app.add_subcommand("top-k", "The best values of each row, or of a column of numbers")),
        filter_app_(app.add_subcommand("mean-filter",
                                       "Moving mean along each row, or along a column of numbers")),
        differential_app_(app.add_subcommand(
            "differential", "Pairs of rows whose correlation differs between groups of columns")),
        soft_threshold_app_(app.add_subcommand(
            "soft-threshold", "Powers for soft-threshold networks: fits and connectivities")),
        modules_app_(app.add_subcommand(
            "modules", "Connected components of a table of edges, or single linkage at a cut")) {
    if (is_needed(*rank_app_, line, made)) add_rank(*rank_app_, rank_);
    if (is_needed(*top_k_app_, line, made)) add_top_k(*top_k_app_, top_k_);
    if (is_needed(*filter_app_, line, made)) add_mean_filter(*filter_app_, filter_);
    if (is_needed(*differential_app_, line, made)) {
      add_differential(*differential_app_, differential_);
    }
    if (is_needed(*modules_app_, line, made)) add_modules(*modules_app_, modules_);
    if (is_needed(*soft_threshold_app_, line, made)) {
      add_soft_threshold(*soft_threshold_app_, soft_threshold_);
    }
  }

  /// The one on the command line, or nothing.
  std::optional<command> take_parsed(const words& line) {
    if (rank_app_->parsed()) return take_rows(*rank_app_, rank_, rank_.rank.exec, line);
    if (top_k_app_->parsed()) return take_rows(*top_k_app_, top_k_, top_k_.top.exec, line);
    if (filter_app_->parsed()) return take_rows(*filter_app_, filter_, filter_.filter.exec, line);
    if (differential_app_->parsed()) {
      auto job = take(*differential_app_, differential_, differential_.pairs.exec, line);
      refuse(check_differential(*differential_app_, std::get<differential_command>(job)));
      return job;
    }
    if (modules_app_->parsed()) {
      settle_format(modules_.format, false, {{"--output", modules_.output}});
      refuse(check_format(modules_));
      return std::move(modules_);
    }
    if (soft_threshold_app_->parsed()) {
      refuse(check_soft_threshold(*soft_threshold_app_, soft_threshold_));
      return take(*soft_threshold_app_, soft_threshold_, soft_threshold_.pairs.exec, line);
    }
    return std::nullopt;
  }

 private:
  template <class Command>
  static command take_rows(const CLI::App& app, Command& job, const execution& exec,
                           const words& line) {
    refuse(check_one_device(app, exec));
    return take(app, job, exec, line);
  }
  template <class Command>
  static command take(const CLI::App& app, Command& job, const execution& exec, const words& line) {
    settle_format(job.format, is_given(app, "--format"), {{"--output", job.output}});
    refuse(check_format(job));
    refuse(check_backend(exec));
    refuse(check_text_options(job.text));
    job.input = io::input_file(job.input);
    job.command_line = line;
    return std::move(job);
  }

  CLI::App* rank_app_;
  CLI::App* top_k_app_;
  CLI::App* filter_app_;
  CLI::App* differential_app_;
  CLI::App* soft_threshold_app_;
  CLI::App* modules_app_;
  rank_command rank_;
  top_k_command top_k_;
  mean_filter_command filter_;
  differential_command differential_;
  soft_threshold_command soft_threshold_;
  modules_command modules_;
};

// The verb that takes the measure as an option.
constexpr const char* measure_verb = "correlate";
constexpr const char* tanimoto_verb = "tanimoto";

/// A verb for each measure, and one that takes the measure as an option. Only one of them is
/// parsed, so all fill the same job.
std::vector<CLI::App*> add_pair_verbs(CLI::App& app, const words& line, made_verbs made,
                                      pairs_command& job) {
  std::vector<CLI::App*> verbs;
  for (const measure what : all_measures()) {
    const measure_info& info = info_of(what);
    verbs.push_back(app.add_subcommand(std::string(info.name),
                                       fmt::format("{} of all pairs of rows", info.description)));
  }
  verbs.push_back(app.add_subcommand(measure_verb, "Any measure of all pairs of rows"));
  for (CLI::App* const verb : verbs) {
    if (!is_needed(*verb, line, made)) continue;
    if (verb->get_name() == measure_verb) add_measure(*verb, job.what);
    add_pair_options(*verb, job);
  }
  return verbs;
}

/// The command line of gpu-similarity.
class command_parser {
 public:
  command_parser(const words& line, made_verbs made)
      : pair_apps_(add_pair_verbs(app_, line, made, pairs_)),
        tanimoto_(
            app_.add_subcommand(tanimoto_verb, "Tanimoto similarity of all pairs of fingerprints")),
        rows_(app_, line, made),
        parts_app_(
            app_.add_subcommand("parts", "Which parts of a job are done, missing or damaged")),
        merge_app_(
            app_.add_subcommand("merge", "Join the parts of a job to the file of a single run")),
        info_(app_.add_subcommand("info", "Version, backends and devices")),
        completion_app_(
            app_.add_subcommand("completion", "Completions of this command for a shell")),
        manual_(app_.add_subcommand("manual", "This command's manual page, for man -l")) {
    app_.name("gpu-similarity");
    app_.set_version_flag("--version", GPU_SIMILARITY_VERSION);
    app_.require_subcommand(1);
    app_.footer("gpu-similarity help COMMAND lists the options of a command.\n" +
                exit_codes_text());
    if (is_needed(*tanimoto_, line, made)) add_tanimoto_options(*tanimoto_, pairs_, bits_);
    if (is_needed(*parts_app_, line, made)) add_parts_verb(*parts_app_, listing_);
    if (is_needed(*merge_app_, line, made)) add_merge_verb(*merge_app_, merging_);
    add_choice<shell>(*completion_app_, "SHELL", shell_,
                      {{"bash", shell::bash}, {"fish", shell::fish}, {"zsh", shell::zsh}},
                      "For which shell")
        ->required();
    for (CLI::App* const verb : app_.get_subcommands([](CLI::App*) { return true; })) {
      verb->footer(examples_text(verb->get_name()));
    }
  }

  parsed_command parse(const words& line) {
    words rest(line.rbegin(), line.rend() - 1);
    try {
      app_.parse(rest);
    } catch (const CLI::ParseError& error) {
      return answer(app_, error);
    }
    if (info_->parsed()) return command(info_command{});
    if (completion_app_->parsed()) {
      print(completion_script(command_parser({}, made_verbs::all).app_, shell_));
      return int{exit_ok};
    }
    if (manual_->parsed()) {
      print(manual_page(command_parser({}, made_verbs::all).app_, GPU_SIMILARITY_VERSION));
      return int{exit_ok};
    }
    if (parts_app_->parsed()) return command(std::move(listing_));
    if (merge_app_->parsed()) {
      merging_.command_line = line;
      return command(std::move(merging_));
    }
    if (auto job = rows_.take_parsed(line)) return std::move(*job);
    if (tanimoto_->parsed()) {
      pairs_.fingerprints = bits_;
      return take_pairs(*tanimoto_, line);
    }
    for (const CLI::App* const verb : pair_apps_) {
      if (!verb->parsed()) continue;
      if (verb->get_name() != measure_verb) pairs_.what = measure_of(verb->get_name());
      return take_pairs(*verb, line);
    }
    return int{exit_usage};
  }

 private:
  parsed_command take_pairs(const CLI::App& verb, const words& line) {
    settle_format(pairs_.format, is_given(verb, "--format"),
                  {{"--output", pairs_.output},
                   {"--patterns", pairs_.patterns},
                   {"--observations-output", pairs_.observations}});
    settle_adjustment(pairs_);
    refuse(check_pair_options(verb, pairs_));
    refuse(check_backend(pairs_.pairs.exec));
    refuse(check_text_options(pairs_.text));
    pairs_.input = io::input_file(pairs_.input);
    pairs_.against = io::input_file(pairs_.against);
    pairs_.command_line = line;
    return command(std::move(pairs_));
  }

  CLI::App app_{"All pairs of rows that move together: correlations with p-values, on GPU or CPU"};
  pairs_command pairs_;
  io::fingerprint_options bits_;  // of tanimoto
  parts_command listing_;
  merge_command merging_;
  shell shell_ = shell::bash;
  std::vector<CLI::App*> pair_apps_;
  CLI::App* tanimoto_;
  row_commands rows_;
  CLI::App* parts_app_;
  CLI::App* merge_app_;
  const CLI::App* info_;
  CLI::App* completion_app_;
  const CLI::App* manual_;
};

}  // namespace

parsed_command parse_command_line(int argc, char** argv) {
  const words line = with_help_option(words(argv, argv + argc));
  return command_parser(line, made_verbs::named).parse(line);
}

}  // namespace gpu::cli
