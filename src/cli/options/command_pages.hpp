#pragma once
// The manual page and the completion scripts, made from the options that the parser has.

#include <CLI/CLI.hpp>

#include <string>

namespace gpu::cli {

enum class shell { bash, zsh, fish };

/// The manual page of a parser with the options of all verbs, as troff for `man`.
[[nodiscard]] std::string manual_page(const CLI::App& app, const std::string& version);

/// A script that makes a shell complete verbs, options, their words and files.
[[nodiscard]] std::string completion_script(const CLI::App& app, shell where);

}  // namespace gpu::cli
