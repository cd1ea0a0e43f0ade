#pragma once
// The options of jobs in parts.

#include <CLI/CLI.hpp>

#include <string>

#include "cli/options/options.hpp"

namespace gpu::cli {

/// --part, --output-dir, --resume and --parts of a job of pairs, or of differences.
void add_parts(CLI::App& app, pairs_command& c);
void add_parts(CLI::App& app, differential_command& c);
/// What does not go together; "" where all does.
[[nodiscard]] std::string check_parts_options(const CLI::App& app, const pairs_command& c);
[[nodiscard]] std::string check_parts_options(const CLI::App& app, const differential_command& c);

/// The subcommands `parts` and `merge`.
void add_parts_verb(CLI::App& app, parts_command& c);
void add_merge_verb(CLI::App& app, merge_command& c);

}  // namespace gpu::cli
