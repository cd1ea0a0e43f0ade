#pragma once
// What a mistyped word was probably meant to be.

#include <string>
#include <string_view>
#include <vector>

namespace gpu::cli {

/// The shortest word of `known` that begins with `word`; else the one that is fewest typing errors
/// away from `word`: letters left out, added, changed, or two exchanged. "" where each is further
/// away than a third of the letters behind its hyphens, or behind those of `word`: of a word of
/// three to five letters, further than one error.
[[nodiscard]] std::string nearest_word(std::string_view word,
                                       const std::vector<std::string>& known);

}  // namespace gpu::cli
