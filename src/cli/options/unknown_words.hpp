#pragma once
// What to say of a command line with words that nothing takes.

#include <CLI/CLI.hpp>

#include <string>

namespace gpu::cli {

/// Names the first word of the parsed line that no verb or option takes, with what was probably
/// meant; "" where there is none.
[[nodiscard]] std::string unknown_word(const CLI::App& app);

}  // namespace gpu::cli
