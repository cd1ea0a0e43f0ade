#include "cli/options/library_words.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace gpu::cli {
namespace {

constexpr std::array words_of_options{
    library_word{"options.exec.workspace_bytes", "--memory-limit"},
    library_word{"execution.workspace_bytes", "--memory-limit"},
    library_word{"execution.cpu_threads", "--threads"},
    library_word{"execution.devices", "--devices"},
    library_word{"execution.target", "--backend"},
    library_word{"options.min_observations", "--min-observations"},
    library_word{"options.covariates", "--covariates"},
    library_word{"options.column_weights", "--weights"},
    library_word{"options.effective_observations", "--effective-observations"},
    library_word{"options.p_method", "--p-method"},
    library_word{"options.part.index", "--part"},
    library_word{"options.part.of", "--part"},
    library_word{"options.part", "--part"},
    library_word{"mean_filter_options.variant", "--variant"},
    library_word{"rank_options.variant", "--variant"},
    library_word{"top_k_options.variant", "--variant"},
    library_word{"options.variant", "--variant"},
    library_word{"options.boundary", "--boundary"},
    library_word{"options.origin", "--origin"},
    library_word{"options.window", "--window"},
    library_word{"options.select", "--largest or --smallest"},
    library_word{"options.order", "--order"},
    library_word{"options.fold", "--fold"},
    library_word{"options.nans", "--nan"},
    library_word{"max_t_options.permutations", "--permutations"},
    library_word{"max_t_options.side", "--tail"},
    library_word{"max_t_options.shuffle", "--shuffle"},
    library_word{"with circular shuffles", "with --shuffle circular"},
    library_word{"options.ties", "--ties"},
    library_word{"connectivity_sink.powers", "--powers"},
    library_word{"scale_free_options.bins", "--bins"},
    library_word{"scale_free_options.r_squared_cut", "--min-r-squared"},
    library_word{"differential_top_k_sink.k", "-k"},
    library_word{"differential_filter.min_abs_z", "--min-abs-z"},
    library_word{"differential_filter.adjust", "--adjust"},
    library_word{"differential_filter.max_p", "--max-p"},
    library_word{"differential_filter.side", "--tail"},
    library_word{"pair_filter.min_abs", "--min-abs"},
    library_word{"pair_filter.adjust", "--adjust"},
    library_word{"pair_filter.max_p", "--max-p"},
    library_word{"pair_filter.side", "--tail"},
    library_word{"top_k_sink.order", "--order"},
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

/// The entry whose words_of_options stand whole at the beginning of `text`, or none.
const library_word* word_at(std::string_view text) {
  const auto found = std::find_if(words_of_options.begin(), words_of_options.end(), [text](const library_word& word) {
    return text.starts_with(word.said) &&
           (text.size() == word.said.size() || !is_of_word(text[word.said.size()]));
  });
  return found == words_of_options.end() ? nullptr : &*found;
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
    const bool begins = at == 0 || (!is_of_word(message[at - 1]) && message[at - 1] != '.');
    const library_word* const word = begins ? word_at(message.substr(at)) : nullptr;
    if (word == nullptr) {
      out += message[at++];
      continue;
    }
    out += word->meant;
    at += word->said.size();
  }
  return out;
}

}  // namespace gpu::cli
