// The verbs of the command, and the parser that is made of them.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gpu/version.hpp>

#include "cli/options/help_texts.hpp"
#include "cli/options/option_groups.hpp"
#include "cli/options/options.hpp"
#include "cli/options/unknown_words.hpp"
#include "cli/process/exit_code.hpp"
#include "cli/process/messages.hpp"
#include "io/read/sparse/names_beside.hpp"

namespace gpu::cli {
namespace {

using command_line = std::vector<std::string>;

std::string check_backend(const verb& v, const execution& exec) {
  return v.broken({{exec.target == backend::cpu, "--devices", "does not go with --backend cpu"}});
}

/// Of the commands that take rows one by one.
std::string check_one_device(const verb& v, const execution& exec) {
  if (exec.devices.size() < 2) return "";
  return fmt::format("--devices: got {} devices, expected one: {} does not share its rows",
                     exec.devices.size(), v.name);
}

void refuse(const std::string& wrong) {
  if (!wrong.empty()) throw usage_error(wrong);
}

/// What is wrong with a job of differential correlation; "" where nothing is.
std::string check_differential(const verb& v, const pairs_command& job) {
  const std::string wrong = v.broken({
      {job.groups == "-", "--groups",
       "-: only INPUT may be standard input, expected a file or labels"},
      {job.keep != keep_kind::top_k, "-k", "needs --keep top-k"},
  });
  if (!wrong.empty()) return wrong;
  if (job.format != io::result_format::npy) return check_parts_options(v, job);
  return "--format: npy is not offered for differential, expected tsv or csv";
}

/// `help` and `help VERB` as the parser has them: --help and VERB --help.
command_line with_help_option(command_line line) {
  if (line.size() < 2 || line[1] != "help") return line;
  line.erase(line.begin() + 1);
  line.push_back("--help");
  return line;
}

/// The output of a job with one result: where it goes, and in what format.
void check_output(const verb& v, job_files& job) {
  if (job.output.empty()) job.output = "-";
  settle_format(job.format, v.is_given("--format"), {{"--output", job.output}});
}

void check_modules(const verb& v, modules_command& job) {
  check_output(v, job);
  if (job.format != io::result_format::npy) return;
  refuse(fmt::format("--output: {} names npy, expected tsv or csv", job.output));
}

/// The output, the devices and the text of a job with one result.
void check_files(const verb& v, job_files& job, const execution& exec) {
  job.input = io::input_file(job.input);
  check_output(v, job);
  refuse(check_backend(v, exec));
  refuse(check_text_options(job.text));
}

/// The check of a command over rows; the member has its options, with where it runs.
template <class Job, class Options>
auto rows_of(Options Job::* options) {
  return [options](const verb& v, Job& job) {
    refuse(check_one_device(v, (job.*options).exec));
    check_files(v, job, (job.*options).exec);
  };
}

void check_pairs(const verb& v, pairs_command& job) {
  job.input = io::input_file(job.input);
  job.against = io::input_file(job.against);
  settle_format(job.format, v.is_given("--format"),
                {{"--output", job.output}, {"--observations-output", job.observations}});
  settle_adjustment(job);
  refuse(check_pair_options(v, job));
  check_with_library(job);
  refuse(check_backend(v, job.pairs.exec));
  refuse(check_text_options(job.text));
}

/// A verb and the command that a line with it is.
struct known_verb {
  verb itself;
  command job;  ///< The options fill it.
  std::function<void(known_verb&)> add_options;
  /// @throw usage_error where options do not go together
  std::function<void(known_verb&)> check;
};

/// All verbs, in the order of the help.
class known_verbs {
 public:
  known_verbs() {
    for (const measure what : all_measures()) {
      const measure_info& info = info_of(what);
      add<pairs_command>(std::string(info.name),
                         fmt::format("{} of all pairs of rows", info.description), pairs_of(what),
                         add_pair_options, check_pairs);
    }
    add<pairs_command>(
        "correlate", "Any measure of all pairs of rows", {},
        [](verb& v, pairs_command& job) {
          add_measure(v, job.what);
          add_pair_options(v, job);
        },
        check_pairs);
    for (const measure what : bit_measures()) {
      const measure_info& info = info_of(what);
      pairs_command job = pairs_of(what);
      job.fingerprints.emplace();
      add<pairs_command>(std::string(info.name),
                         fmt::format("{} of all pairs of fingerprints", info.description), job,
                         add_bit_options, check_pairs);
    }
    add<rank_command>("rank", "Ranks of each row, or of a column of numbers", {}, add_rank,
                      rows_of(&rank_command::rank));
    add<top_k_command>("top-k", "The best values of each row, or of a column of numbers", {},
                       add_top_k, rows_of(&top_k_command::top));
    add<mean_filter_command>("mean-filter",
                             "Moving mean along each row, or along a column of numbers", {},
                             add_mean_filter, rows_of(&mean_filter_command::filter));
    add<pairs_command>(
        "differential", "Pairs of rows whose correlation differs between groups of columns",
        pairs_of(measure::pearson), add_differential, [](const verb& v, pairs_command& job) {
          check_files(v, job, job.pairs.exec);
          refuse(check_differential(v, job));
        });
    add<soft_threshold_command>("soft-threshold",
                                "Powers for soft-threshold networks: fits and connectivities", {},
                                add_soft_threshold, [](const verb& v, soft_threshold_command& job) {
                                  refuse(check_soft_threshold(v, job));
                                  check_files(v, job, job.pairs.exec);
                                });
    add<parts_command>("parts", "Which parts of a job are done, missing or damaged", {},
                       add_parts_verb);
    add<merge_command>("merge", "Join the parts of a job to the file of a single run", {},
                       add_merge_verb);
    add<modules_command>("modules",
                         "Connected components of a table of edges, or single linkage at a cut", {},
                         add_modules, check_modules);
    add<info_command>("info", "Version, backends and devices", {}, [](verb&, info_command&) {});
    add<page_command>("completion", "Completions of this command for a shell", {},
                      [](verb& v, page_command& page) {
                        add_choice(v, "SHELL", page.what, "For which shell")->required();
                      });
    add<page_command>("manual", "This command's manual page, for man -l", {},
                      [](verb&, page_command&) {});
  }

  [[nodiscard]] std::deque<known_verb>& all() { return all_; }

 private:
  static pairs_command pairs_of(measure what) {
    pairs_command job;
    job.what = what;
    return job;
  }
  template <class Job, class AddOptions, class Check>
  void add(std::string name, std::string description, Job job, AddOptions add_options,
           Check check) {
    all_.push_back(
        {.itself = {.name = std::move(name), .description = std::move(description)},
         .job = std::move(job),
         .add_options = [=](known_verb& v) { add_options(v.itself, std::get<Job>(v.job)); },
         .check = [=](known_verb& v) { check(v.itself, std::get<Job>(v.job)); }});
    all_.back().itself.footer = examples_text(all_.back().itself.name);
  }
  template <class Job, class AddOptions>
  void add(std::string name, std::string description, Job job, AddOptions add_options) {
    add<Job>(std::move(name), std::move(description), std::move(job), add_options,
             [](const verb&, const Job&) {});
  }

  std::deque<known_verb> all_;
};

/// Gives the parser an option.
CLI::Option* add_option(CLI::App& app, const option& o) {
  std::string names;
  for (const std::string& name : o.names) names += (names.empty() ? "" : ",") + name;
  return std::visit(
      [&](const auto& to) -> CLI::Option* {
        using destination = std::decay_t<decltype(to)>;
        if constexpr (std::is_same_v<destination, bool*>) {
          return app.add_flag(names, *to, o.help);
        } else if constexpr (std::is_same_v<destination, std::function<void()>>) {
          return app.add_flag_callback(names, to, o.help);
        } else if constexpr (std::is_same_v<destination, text_taker>) {
          const auto take = [to, name = o.names.back()](const std::string& text) {
            const std::string wrong = to(text);
            if (!wrong.empty()) throw CLI::ValidationError(name, wrong);
          };
          return app.add_option_function<std::string>(names, take, o.help);
        } else if constexpr (std::is_same_v<destination, std::vector<int>*>) {
          return app.add_option(names, *to, o.help)->delimiter(',');
        } else {
          return app.add_option(names, *to, o.help);
        }
      },
      o.to);
}

/// Gives the parser the options of a verb, in their order.
std::vector<CLI::Option*> add_options(CLI::App& app, const verb& v) {
  std::vector<CLI::Option*> made;
  for (const option& o : v.options) {
    CLI::Option* const added = made.emplace_back(add_option(app, o));
    if (!o.heading.empty()) added->group(o.heading);
    if (!o.type.empty()) added->type_name(o.type);
    if (o.look) {
      added->check(CLI::Validator([look = o.look](std::string& text) { return look(text); }, ""));
    }
    added->required(o.is_required);
  }
  for (std::size_t i = 0; i < made.size(); ++i) {
    const option* const other = v.options[i].excluded;
    if (other != nullptr) made[i]->excludes(app.get_option(other->names.back()));
  }
  return made;
}

/// The command line of gpu-similarity.
class command_parser {
 public:
  explicit command_parser(command_line line) : line_(std::move(line)) {
    app_.name("gpu-similarity");
    app_.set_version_flag("--version", GPU_SIMILARITY_VERSION);
    app_.require_subcommand(1);
    app_.footer("gpu-similarity help COMMAND lists the options of a command.\n" +
                exit_codes_text());
    for (known_verb& v : verbs_.all()) {
      CLI::App* const app =
          apps_.emplace_back(app_.add_subcommand(v.itself.name, v.itself.description));
      app->footer(v.itself.footer);
      auto& options = options_.emplace_back();
      // Making options is most of what parsing takes: those of other verbs are not needed.
      if (std::find(line_.begin(), line_.end(), v.itself.name) == line_.end()) continue;
      v.add_options(v);
      options = add_options(*app, v.itself);
    }
  }

  parsed_command parse() {
    try {
      app_.parse(command_line(line_.rbegin(), line_.rend() - 1));
    } catch (const CLI::ParseError& error) {
      return answer(error);
    }
    const std::size_t at = parsed();
    known_verb& v = verbs_.all()[at];
    for (std::size_t i = 0; i < options_[at].size(); ++i) {
      v.itself.options[i].is_given = options_[at][i]->count() > 0;
    }
    v.check(v);
    std::visit(
        [&](auto& job) {
          if constexpr (requires { job.command_line; }) job.command_line = line_;
        },
        v.job);
    return std::move(v.job);
  }

 private:
  /// The number of the verb on the line; their number where there is none.
  [[nodiscard]] std::size_t parsed() const {
    const auto found =
        std::find_if(apps_.begin(), apps_.end(), [](const CLI::App* app) { return app->parsed(); });
    return static_cast<std::size_t>(found - apps_.begin());
  }

  /// Prints the message of the parser: help and version to standard output, errors to standard
  /// error.
  int answer(const CLI::ParseError& error) {
    const bool is_help = error.get_exit_code() == 0;
    const bool has_verb = parsed() < apps_.size();
    const bool may_be_unknown = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr ||
                                dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
                                (is_help && !has_verb);
    if (may_be_unknown) {
      std::vector<std::string> names;
      for (const known_verb& v : verbs_.all()) names.push_back(v.itself.name);
      refuse(unknown_word({.verbs = names,
                           .parsed = has_verb ? &verbs_.all()[parsed()].itself : nullptr,
                           .left = app_.remaining(true),
                           .in_front = app_.remaining(false)}));
    }
    std::ostringstream out;
    std::ostringstream err;
    const int code = app_.exit(error, out, err);
    // The parser's message has the form of all others, then its hint.
    std::istringstream lines(err.str());
    std::string first;
    if (std::getline(lines, first)) complain(first);
    for (std::string text; std::getline(lines, text);) say(printable(text) + "\n");
    if (code != 0) return exit_usage;
    print(out.str());
    return exit_ok;
  }

  command_line line_;
  CLI::App app_{command_text};
  known_verbs verbs_;
  std::vector<CLI::App*> apps_;                     // one for each verb
  std::vector<std::vector<CLI::Option*>> options_;  // of each verb
};

}  // namespace

parsed_command parse_command_line(int argc, char** argv) {
  return command_parser(with_help_option(command_line(argv, argv + argc))).parse();
}

std::string page_text(page_kind kind) {
  if (kind != page_kind::manual) return completion_script(kind);
  known_verbs verbs;
  std::vector<const verb*> all;
  for (known_verb& v : verbs.all()) {
    v.add_options(v);
    all.push_back(&v.itself);
  }
  return manual_page(all);
}

}  // namespace gpu::cli
