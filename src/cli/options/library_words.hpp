#pragma once
// Messages of the library in the words of the command: it names members of C++ structs, whoever
// typed a line knows options.

#include <span>
#include <string>
#include <string_view>

namespace gpu::cli {

/// What the library says, and what the command says in its place.
struct library_word {
  std::string_view said;
  std::string_view meant;
};

/// All of them; of two that begin alike, the longer one stands first.
[[nodiscard]] std::span<const library_word> library_words();

/// `message` with options in place of members, as "--memory-limit: got 10, expected ...".
[[nodiscard]] std::string in_words_of_command(std::string_view message);

}  // namespace gpu::cli
