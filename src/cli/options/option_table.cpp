#include "cli/options/option_table.hpp"

#include <string_view>

namespace gpu::cli {
namespace {

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(at);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

value_kind kind_of(const std::string& type) {
  if (type.find('|') != std::string::npos) return value_kind::word;
  if (type == "FILE") return value_kind::file;
  if (type == "DIR") return value_kind::folder;
  return value_kind::other;
}

option_entry entry_of(const CLI::Option& option) {
  option_entry entry{.description = option.get_description(), .group = option.get_group()};
  if (option.get_positional() && option.get_lnames().empty() && option.get_snames().empty()) {
    entry.names = {option.get_name(true)};
    entry.is_positional = true;
    entry.type = entry.names.front();
    entry.value = entry.type == "DIR" ? value_kind::folder : value_kind::file;
    if (const auto words = option.get_type_name(); words.find('|') != std::string::npos) {
      entry.value = value_kind::word;
      entry.words = split(words, '|');
    }
    return entry;
  }
  for (const std::string& name : option.get_snames()) entry.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) entry.names.push_back("--" + name);
  if (option.get_expected_max() == 0) return entry;
  entry.type = option.get_type_name();
  entry.value = kind_of(entry.type);
  if (entry.value == value_kind::word) entry.words = split(entry.type, '|');
  return entry;
}

}  // namespace

std::string option_entry::title() const {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return value == value_kind::none || is_positional ? out : out + " " + type;
}

std::vector<verb_entry> verbs_of(const CLI::App& app) {
  std::vector<verb_entry> verbs;
  for (const CLI::App* const verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    verb_entry& entry = verbs.emplace_back(verb_entry{.name = verb->get_name(),
                                                      .description = verb->get_description(),
                                                      .footer = verb->get_footer()});
    for (const CLI::Option* const option : verb->get_options()) {
      entry.options.push_back(entry_of(*option));
    }
  }
  return verbs;
}

}  // namespace gpu::cli
