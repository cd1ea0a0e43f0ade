#include "cli/options/suggestion.hpp"

#include <algorithm>
#include <numeric>

namespace gpu::cli {
namespace {

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
std::string shortest_with_begin(std::string_view begin, const std::vector<std::string>& known) {
  constexpr std::size_t fewest_letters = 3;
  if (letters_of(begin) < fewest_letters) return "";
  std::string shortest;
  for (const std::string& candidate : known) {
    if (!candidate.starts_with(begin)) continue;
    if (shortest.empty() || candidate.size() < shortest.size()) shortest = candidate;
  }
  return shortest;
}

}  // namespace

std::string nearest_word(std::string_view word, const std::vector<std::string>& known) {
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

}  // namespace gpu::cli
