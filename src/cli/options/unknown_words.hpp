#pragma once
// What to say of a command line with words that nothing takes.

#include <string>
#include <vector>

#include "cli/options/verb.hpp"

namespace gpu::cli {

/// A line that does not parse.
struct unparsed_words {
  std::vector<std::string> verbs;     ///< All that there are.
  const verb* parsed;                 ///< The one on the line, with its options; null: none.
  std::vector<std::string> left;      ///< What no verb or option takes.
  std::vector<std::string> in_front;  ///< Those of them that stand in front of the verb.
};

/// Names the first word that no verb or option takes, with what was probably meant; "" where there
/// is none.
[[nodiscard]] std::string unknown_word(const unparsed_words& line);

}  // namespace gpu::cli
