#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

#include "cli/options/command_pages.hpp"
#include "cli/options/option_table.hpp"

namespace gpu::cli {
namespace {

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  return fmt::format("{}", fmt::join(words, between));
}

/// What of a description stands in a list of completions: its first sentence, without the default.
std::string in_short(const std::string& description) {
  const std::size_t end = std::min(description.find(" ["), description.find(';'));
  return description.substr(0, end);
}

/// In single quotes of a shell, where `marks` need a backslash.
std::string quoted_word(std::string_view text, std::string_view marks) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
      continue;
    }
    if (marks.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::vector<std::string> names_of_options(const verb_entry& verb) {
  std::vector<std::string> names;
  for (const option_entry& option : verb.options) {
    if (option.is_positional) continue;
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

std::vector<std::string> names_of_verbs(const std::vector<verb_entry>& verbs) {
  std::vector<std::string> names;
  for (const verb_entry& verb : verbs) names.push_back(verb.name);
  return names;
}

/// "spearman:-o|spearman:--output"
std::string pattern_of(const verb_entry& verb, const option_entry& option) {
  std::string pattern;
  for (const std::string& name : option.names) {
    pattern += fmt::format("{}{}:{}", pattern.empty() ? "" : "|", verb.name, name);
  }
  return pattern;
}

std::string bash_script(const std::vector<verb_entry>& verbs) {
  std::string out = fmt::format(
      "# Completions of gpu-similarity for bash.\n"
      "_gpu_similarity() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}\n"
      "  local verb=${{COMP_WORDS[1]}} options= arguments=\n"
      "  # --option=value is three words.\n"
      "  if [ \"$current\" = = ]; then\n"
      "    current=\n"
      "  elif [ \"$before\" = = ] && [ \"$COMP_CWORD\" -gt 2 ]; then\n"
      "    before=${{COMP_WORDS[COMP_CWORD-2]}}\n"
      "  fi\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W \"{} help --help --version\" -- \"$current\"))\n"
      "    return\n"
      "  fi\n"
      "  case $verb:$before in\n",
      joined(names_of_verbs(verbs), " "));
  out += fmt::format("    help:*) COMPREPLY=($(compgen -W \"{}\" -- \"$current\")); return ;;\n",
                     joined(names_of_verbs(verbs), " "));
  for (const verb_entry& verb : verbs) {
    for (const option_entry& option : verb.options) {
      if (option.is_positional) continue;
      const std::string pattern = pattern_of(verb, option);
      if (option.value == value_kind::word) {
        out += fmt::format("    {}) COMPREPLY=($(compgen -W \"{}\" -- \"$current\")); return ;;\n",
                           pattern, joined(option.words, " "));
      } else if (option.value == value_kind::file) {
        out +=
            fmt::format("    {}) COMPREPLY=($(compgen -f -- \"$current\")); return ;;\n", pattern);
      } else if (option.value == value_kind::folder) {
        out +=
            fmt::format("    {}) COMPREPLY=($(compgen -d -- \"$current\")); return ;;\n", pattern);
      } else if (option.value == value_kind::other) {
        out += fmt::format("    {}) COMPREPLY=(); return ;;\n", pattern);
      }
    }
  }
  out += "  esac\n  case $verb in\n";
  for (const verb_entry& verb : verbs) {
    out += fmt::format("    {}) options=\"{}\"", verb.name, joined(names_of_options(verb), " "));
    for (const option_entry& option : verb.options) {
      if (!option.is_positional || option.value != value_kind::word) continue;
      out += fmt::format(" arguments=\"{}\"", joined(option.words, " "));
    }
    out += " ;;\n";
  }
  out +=
      "  esac\n"
      "  if [[ $current == -* ]]; then\n"
      "    COMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
      "  elif [ -n \"$arguments\" ]; then\n"
      "    COMPREPLY=($(compgen -W \"$arguments\" -- \"$current\"))\n"
      "  else\n"
      "    COMPREPLY=($(compgen -f -- \"$current\"))\n"
      "  fi\n"
      "}\ncomplete -o filenames -F _gpu_similarity gpu-similarity\n";
  return out;
}

/// What zsh completes behind an option or as an argument.
std::string zsh_action(const option_entry& option) {
  switch (option.value) {
    case value_kind::none:
      return "";
    case value_kind::word:
      return fmt::format(":{}:({})", quoted_word(option.names.back(), ":"),
                         joined(option.words, " "));
    case value_kind::file:
      return fmt::format(":{}:_files", option.type);
    case value_kind::folder:
      return fmt::format(":{}:_files -/", option.type);
    case value_kind::other:
      return fmt::format(":{}: ", quoted_word(option.type, ":"));
  }
  return "";
}

std::string zsh_script(const std::vector<verb_entry>& verbs) {
  std::string out =
      "#compdef gpu-similarity\n"
      "# Completions of gpu-similarity for zsh.\n"
      "_gpu-similarity() {\n"
      "  local -a verbs=(\n";
  for (const verb_entry& verb : verbs) {
    out += fmt::format("    '{}:{}'\n", verb.name, quoted_word(verb.description, ":"));
  }
  out +=
      "    'help:What a command does'\n  )\n"
      "  if (( CURRENT == 2 )); then\n    _describe command verbs\n    return\n  fi\n"
      "  local verb=$words[2]\n"
      "  (( CURRENT-- ))\n  shift words\n"
      "  case $verb in\n"
      "    help) _describe command verbs ;;\n";
  for (const verb_entry& verb : verbs) {
    out += fmt::format("    {}) _arguments", verb.name);
    for (const option_entry& option : verb.options) {
      if (option.is_positional) {
        out += fmt::format(" \\\n      '{}'", zsh_action(option));
        continue;
      }
      for (const std::string& name : option.names) {
        // With the sign, the value may stand behind it or be the next word.
        const bool takes_sign = name.starts_with("--") && option.value != value_kind::none;
        out += fmt::format(" \\\n      '{}{}[{}]{}'", name, takes_sign ? "=" : "",
                           quoted_word(in_short(option.description), ":[]"), zsh_action(option));
      }
    }
    out += " ;;\n";
  }
  out += "  esac\n}\n_gpu-similarity \"$@\"\n";
  return out;
}

std::string fish_script(const std::vector<verb_entry>& verbs) {
  std::string out =
      "# Completions of gpu-similarity for fish.\n"
      "complete -c gpu-similarity -n __fish_use_subcommand -f\n"
      "complete -c gpu-similarity -n __fish_use_subcommand -a help -d 'What a command does'\n";
  out += fmt::format("complete -c gpu-similarity -n '__fish_seen_subcommand_from help' -fa '{}'\n",
                     joined(names_of_verbs(verbs), " "));
  for (const verb_entry& verb : verbs) {
    out += fmt::format("complete -c gpu-similarity -n __fish_use_subcommand -a {} -d '{}'\n",
                       verb.name, quoted_word(verb.description, ""));
    const std::string begin =
        fmt::format("complete -c gpu-similarity -n '__fish_seen_subcommand_from {}'", verb.name);
    for (const option_entry& option : verb.options) {
      std::string line = begin;
      for (const std::string& name : option.names) {
        if (option.is_positional) break;
        line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (option.value == value_kind::word) {
        line += fmt::format(" {} '{}'", option.is_positional ? "-fa" : "-xa",
                            joined(option.words, " "));
      } else if (option.is_positional) {
        continue;  // files, as everywhere
      } else if (option.value == value_kind::folder) {
        line += " -xa '(__fish_complete_directories)'";
      } else if (option.value == value_kind::file) {
        line += " -rF";
      } else if (option.value == value_kind::other) {
        line += " -x";
      }
      out += fmt::format("{} -d '{}'\n", line, quoted_word(in_short(option.description), ""));
    }
  }
  return out;
}

}  // namespace

std::string completion_script(const CLI::App& app, shell where) {
  const std::vector<verb_entry> verbs = verbs_of(app);
  switch (where) {
    case shell::bash:
      return bash_script(verbs);
    case shell::zsh:
      return zsh_script(verbs);
    case shell::fish:
      return fish_script(verbs);
  }
  return "";
}

}  // namespace gpu::cli
