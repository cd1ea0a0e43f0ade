#include "cli/options/unknown_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <string_view>

namespace gpu::cli {
namespace {

using word_list = std::vector<std::string>;

/// Typing errors between two words: the optimal string alignment distance.
std::size_t typing_errors(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({changed, above[j] + 1, row[j - 1] + 1});
      const bool is_exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_exchanged) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

/// Characters behind the hyphens of an option.
std::size_t letters_of(std::string_view word) {
  return word.size() - std::min(word.find_first_not_of('-'), word.size());
}

/// The shortest word that begins with `begin`, which has three letters at least; "" where there is
/// none.
std::string shortest_with_begin(std::string_view begin, const word_list& known) {
  constexpr std::size_t fewest_letters = 3;
  if (letters_of(begin) < fewest_letters) return "";
  std::string shortest;
  for (const std::string& candidate : known) {
    if (!candidate.starts_with(begin)) continue;
    if (shortest.empty() || candidate.size() < shortest.size()) shortest = candidate;
  }
  return shortest;
}

/// The shortest word of `known` that begins with `word`; else the one that is fewest typing errors
/// away from `word`: letters left out, added, changed, or two exchanged. "" where each is further
/// away than a third of the letters behind its hyphens, or behind those of `word`: of a word of
/// three to five letters, further than one error.
std::string nearest_word(std::string_view word, const word_list& known) {
  constexpr std::size_t longest = 64;  // no option is longer
  if (word.size() > longest) return "";
  if (const std::string whole = shortest_with_begin(word, known); !whole.empty()) return whole;
  std::string nearest;
  std::size_t fewest = 0;
  for (const std::string& candidate : known) {
    const std::size_t errors = typing_errors(word, candidate);
    if (errors * 3 > std::min(letters_of(word), letters_of(candidate)) ||
        (!nearest.empty() && errors >= fewest))
      continue;
    nearest = candidate;
    fewest = errors;
  }
  return nearest;
}

/// The long names of a verb's options, or where there is no verb those of the command.
word_list options_of(const verb* v) {
  word_list names{"--help"};
  if (v == nullptr) names.emplace_back("--version");
  if (v == nullptr) return names;
  for (const option& o : v->options) {
    for (const std::string& name : o.names) {
      if (name.starts_with("--")) names.push_back(name);
    }
  }
  return names;
}

std::string unknown_verb(const std::string& word, const word_list& verbs) {
  word_list known = verbs;
  known.emplace_back("help");
  const std::string meant = nearest_word(word, known);
  if (!meant.empty()) return fmt::format("unknown command {}, did you mean {}?", word, meant);
  std::string list;
  for (const std::string& name : verbs) list.append(list.empty() ? "" : ", ").append(name);
  return fmt::format("unknown command {}, expected one of {}", word, list);
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

std::string meant_by(const std::string& option, const word_list& known) {
  const auto* const other =
      std::find_if(other_words.begin(), other_words.end(), [&](const other_word& word) {
        return word.theirs == option &&
               std::find(known.begin(), known.end(), word.option) != known.end();
      });
  return other == other_words.end() ? nearest_word(option, known) : std::string(other->ours);
}

std::string unknown_option(const std::string& word, const verb* v) {
  const std::string option = word.substr(0, word.find('='));
  const std::string meant = meant_by(option, options_of(v));
  const std::string of = v == nullptr ? "" : " of " + v->name;
  return meant.empty() ? fmt::format("unknown option {}{}, see --help", option, of)
                       : fmt::format("unknown option {}{}, did you mean {}?", option, of, meant);
}

bool is_option(const std::string& word) {
  return word.starts_with('-');
}

/// What stands in front of a verb, which takes its options behind it.
std::string misplaced_word(const std::string& word, const verb& v) {
  const std::string name = word.substr(0, word.find('='));
  const bool is_known = name == "-h" || name == "--help" ||
                        std::any_of(v.options.begin(), v.options.end(), [&](const option& o) {
                          return std::find(o.names.begin(), o.names.end(), name) != o.names.end();
                        });
  if (is_option(word) && !is_known) return unknown_option(word, &v);
  return fmt::format("{} is before {}, expected it after: gpu-similarity {} INPUT {}", name, v.name,
                     v.name, name);
}

/// Where no command is among the words that are left.
std::string without_verb(const word_list& left, const word_list& verbs) {
  const auto word = std::find_if_not(left.begin(), left.end(), is_option);
  if (word == left.end()) return unknown_option(left.front(), nullptr);
  if (word == left.begin() || !nearest_word(*word, verbs).empty()) {
    return unknown_verb(*word, verbs);
  }
  return fmt::format(
      "{} is before the command, expected the command first, as in gpu-similarity spearman INPUT",
      left.front());
}

}  // namespace

std::string unknown_word(const unparsed_words& line) {
  if (line.left.empty()) return "";
  if (line.parsed == nullptr) return without_verb(line.left, line.verbs);
  if (!line.in_front.empty()) return misplaced_word(line.in_front.front(), *line.parsed);
  const auto option = std::find_if(line.left.begin(), line.left.end(), is_option);
  if (option != line.left.end()) return unknown_option(*option, line.parsed);
  const word_list known = options_of(line.parsed);
  const bool takes_two = std::find(known.begin(), known.end(), "--against") != known.end();
  return fmt::format("unexpected argument {} of {}, {}", line.left.front(), line.parsed->name,
                     takes_two ? "a second table follows --against" : "see --help");
}

}  // namespace gpu::cli
