#include "cli/options/unknown_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
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
  const std::string meant = nearest_word(word, verbs);
  return meant.empty()
             ? fmt::format("unknown command {}, expected one of {}", word, fmt::join(verbs, ", "))
             : fmt::format("unknown command {}, did you mean {}?", word, meant);
}

std::string unknown_option(const std::string& word, const CLI::App& verb) {
  const std::string option = word.substr(0, word.find('='));
  const std::string meant = nearest_word(option, options_of(verb));
  const std::string of = verb.get_parent() == nullptr ? "" : " of " + verb.get_name();
  return meant.empty() ? fmt::format("unknown option {}{}, see --help", option, of)
                       : fmt::format("unknown option {}{}, did you mean {}?", option, of, meant);
}

}  // namespace

std::string unknown_word(const CLI::App& app) {
  const std::vector<CLI::App*> parsed = app.get_subcommands();
  const CLI::App& verb = parsed.empty() ? app : *parsed.front();
  const words left = app.remaining(true);
  if (left.empty()) return "";
  const auto is_option = [](const std::string& word) { return word.starts_with('-'); };
  if (parsed.empty()) {
    const auto word = std::find_if_not(left.begin(), left.end(), is_option);
    if (word != left.end()) return unknown_verb(*word, app);
  }
  const auto option = std::find_if(left.begin(), left.end(), is_option);
  if (option != left.end()) return unknown_option(*option, verb);
  return fmt::format("unexpected argument {} of {}, see --help", left.front(), verb.get_name());
}

}  // namespace gpu::cli
