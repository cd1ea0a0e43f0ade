#include "cli/options/library_words.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace gpu::cli {
namespace {

/// Structs whose members are options of the same name, with - for _.
constexpr std::array<std::string_view, 12> structs{
    "options",      "execution",         "pair_filter",         "differential_filter",
    "rank_options", "top_k_options",     "mean_filter_options", "max_t_options",
    "top_k_sink",   "connectivity_sink", "scale_free_options",  "differential_top_k_sink"};

/// Members whose option has another name, and other words.
constexpr std::array words_of_options{
    library_word{"options.exec.workspace_bytes", "--memory-limit"},
    library_word{"execution.workspace_bytes", "--memory-limit"},
    library_word{"execution.cpu_threads", "--threads"},
    library_word{"execution.target", "--backend"},
    library_word{"options.column_weights", "--weights"},
    library_word{"options.part.index", "--part"},
    library_word{"options.part.of", "--part"},
    library_word{"options.select", "--largest or --smallest"},
    library_word{"options.nans", "--nan"},
    library_word{"max_t_options.side", "--tail"},
    library_word{"with circular shuffles", "with --shuffle circular"},
    library_word{"scale_free_options.r_squared_cut", "--min-r-squared"},
    library_word{"differential_top_k_sink.k", "-k"},
    library_word{"differential_filter.side", "--tail"},
    library_word{"pair_filter.side", "--tail"},
    library_word{"top_k_sink.q", "--adjust with --keep top-k"},
    library_word{"top_k_sink.k", "-k"},
    library_word{"nan_policy::propagate", "--nan propagate"},
    library_word{"nan_policy::pairwise", "--nan pairwise"},
    library_word{"benjamini_hochberg", "bh"},
    library_word{"boundary::valid", "--boundary valid"},
    library_word{"by min_abs", "by --min-abs"},
};

/// What a message begins with: the argument.
constexpr std::array words_of_tables{
    library_word{"data: ", "INPUT: "},
    library_word{"x: ", "INPUT: "},
    library_word{"y: ", "--against: "},
    library_word{"k: ", "-k: "},
};

bool is_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// The entry whose words stand whole at the beginning of `text`, or none.
const library_word* word_at(std::string_view text) {
  const auto found = std::find_if(
      words_of_options.begin(), words_of_options.end(), [text](const library_word& word) {
        return text.starts_with(word.said) &&
               (text.size() == word.said.size() || !is_of_word(text[word.said.size()]));
      });
  return found == words_of_options.end() ? nullptr : &*found;
}

/// How many letters at the beginning of `text` are a member of one of the structs, or 0.
std::size_t member_length(std::string_view text) {
  const std::size_t point = text.find('.');
  if (std::find(structs.begin(), structs.end(), text.substr(0, point)) == structs.end()) return 0;
  std::size_t end = point + 1;
  while (end < text.size() && is_of_word(text[end])) ++end;
  return end;
}

}  // namespace

std::span<const library_word> library_words() {
  return words_of_options;
}

std::string in_words_of_command(std::string_view message) {
  std::string out;
  for (const library_word& table : words_of_tables) {
    if (!message.starts_with(table.said)) continue;
    out = table.meant;
    message.remove_prefix(table.said.size());
    break;
  }
  for (std::size_t at = 0; at < message.size();) {
    const std::string_view rest = message.substr(at);
    const bool begins = at == 0 || (!is_of_word(message[at - 1]) && message[at - 1] != '.');
    if (const library_word* const word = begins ? word_at(rest) : nullptr) {
      out += word->meant;
      at += word->said.size();
    } else if (const std::size_t length = begins ? member_length(rest) : 0) {
      std::string name(rest.substr(rest.find('.') + 1, length - rest.find('.') - 1));
      std::replace(name.begin(), name.end(), '_', '-');
      out += "--" + name;
      at += length;
    } else {
      out += message[at++];
    }
  }
  return out;
}

}  // namespace gpu::cli
