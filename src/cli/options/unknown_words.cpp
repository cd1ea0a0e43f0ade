#include "cli/options/unknown_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "cli/options/suggestion.hpp"

namespace gpu::cli {
namespace {

using words = std::vector<std::string>;

words verbs_of(const CLI::App& app) {
  words names;
  for (const CLI::App* const verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(verb->get_name());
  }
  return names;
}

words options_of(const CLI::App& verb) {
  words names;
  for (const CLI::Option* const option : verb.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string unknown_verb(const std::string& word, const CLI::App& app) {
  const words verbs = verbs_of(app);
  words known = verbs;
  known.emplace_back("help");
  const std::string meant = nearest_word(word, known);
  return meant.empty()
             ? fmt::format("unknown command {}, expected one of {}", word, fmt::join(verbs, ", "))
             : fmt::format("unknown command {}, did you mean {}?", word, meant);
}

/// What other programs call an option, and what it is called here.
struct other_word {
  std::string_view theirs;
  std::string_view option;         ///< The option that the verb must have.
  std::string_view ours = option;  ///< What to write.
};

constexpr std::array other_words{
    other_word{"--alpha", "--max-p"},
    other_word{"--pvalue", "--max-p"},
    other_word{"--p-value", "--max-p"},
    other_word{"--fdr", "--adjust", "--max-p P --adjust bh"},
    other_word{"--qvalue", "--adjust", "--max-p P --adjust bh"},
    other_word{"--q-value", "--adjust", "--max-p P --adjust bh"},
    other_word{"--bonferroni", "--adjust", "--adjust bonferroni"},
    other_word{"--threshold", "--min-abs"},
    other_word{"--cutoff", "--min-abs"},
    other_word{"--alternative", "--tail"},
    other_word{"--method", "--measure"},
    other_word{"--method", "--adjust", "correlate --measure NAME"},
    other_word{"--no-header", "--header", "--header no"},
    other_word{"--na-strings", "--na-values"},
    other_word{"--sep", "--delimiter"},
    other_word{"--separator", "--delimiter"},
    other_word{"--index-col", "--names-column"},
    other_word{"--jobs", "--threads"},
    other_word{"--n-jobs", "--threads"},
    other_word{"--cores", "--threads"},
    other_word{"--gpu", "--backend", "--backend cuda"},
    other_word{"--cpu", "--backend", "--backend cpu"},
    other_word{"--dry-run", "--plan"},
    other_word{"--top-k", "--keep", "--keep top-k -k K"},
};

std::string meant_by(const std::string& option, const words& known) {
  const auto* const other =
      std::find_if(other_words.begin(), other_words.end(), [&](const other_word& word) {
        return word.theirs == option &&
               std::find(known.begin(), known.end(), word.option) != known.end();
      });
  return other == other_words.end() ? nearest_word(option, known) : std::string(other->ours);
}

std::string unknown_option(const std::string& word, const CLI::App& verb) {
  const std::string option = word.substr(0, word.find('='));
  const std::string meant = meant_by(option, options_of(verb));
  const std::string of = verb.get_parent() == nullptr ? "" : " of " + verb.get_name();
  return meant.empty() ? fmt::format("unknown option {}{}, see --help", option, of)
                       : fmt::format("unknown option {}{}, did you mean {}?", option, of, meant);
}

bool is_option(const std::string& word) {
  return word.starts_with('-');
}

/// What stands in front of `verb`, which takes its options behind it.
std::string misplaced_word(const std::string& word, const CLI::App& verb) {
  const std::string option = word.substr(0, word.find('='));
  const words known = options_of(verb);
  const bool is_known = std::find(known.begin(), known.end(), option) != known.end();
  if (is_option(word) && !is_known && verb.get_option_no_throw(option) == nullptr) {
    return unknown_option(word, verb);
  }
  return fmt::format("{} is before {}, expected it after: gpu-similarity {} INPUT {}", option,
                     verb.get_name(), verb.get_name(), option);
}

/// Where no command is among the words that are left.
std::string without_verb(const words& left, const CLI::App& app) {
  const auto word = std::find_if_not(left.begin(), left.end(), is_option);
  if (word == left.end()) return unknown_option(left.front(), app);
  if (word == left.begin() || !nearest_word(*word, verbs_of(app)).empty()) {
    return unknown_verb(*word, app);
  }
  return fmt::format(
      "{} is before the command, expected the command first, as in gpu-similarity spearman INPUT",
      left.front());
}

}  // namespace

std::string unknown_word(const CLI::App& app) {
  const std::vector<CLI::App*> parsed = app.get_subcommands();
  const words left = app.remaining(true);
  if (left.empty()) return "";
  if (parsed.empty()) return without_verb(left, app);
  const CLI::App& verb = *parsed.front();
  const words in_front = app.remaining(false);
  if (!in_front.empty()) return misplaced_word(in_front.front(), verb);
  const auto option = std::find_if(left.begin(), left.end(), is_option);
  if (option != left.end()) return unknown_option(*option, verb);
  const words known = options_of(verb);
  const bool takes_two = std::find(known.begin(), known.end(), "--against") != known.end();
  return fmt::format("unexpected argument {} of {}, {}", left.front(), verb.get_name(),
                     takes_two ? "a second table follows --against" : "see --help");
}

}  // namespace gpu::cli
