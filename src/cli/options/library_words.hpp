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

/// Those that do not follow from a rule, see in_words_of_command(); of two that begin alike, the
/// longer one stands first.
[[nodiscard]] std::span<const library_word> library_words();

/// `message` with options in place of members, as "--memory-limit: got 10, expected ...". The
/// member options.a_name is --a-name: a new option needs no word of its own.
[[nodiscard]] std::string in_words_of_command(std::string_view message);

}  // namespace gpu::cli
