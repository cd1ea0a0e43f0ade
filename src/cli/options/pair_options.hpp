#pragma once
// Options of the verbs that compute pairs.

#include <CLI/CLI.hpp>

#include <string>

#include "cli/options/options.hpp"

namespace gpu::cli {

/// Which measure, where the verb does not say it.
void add_measure(CLI::App& app, measure& what);

/// Input, cuts, result, where it runs, and parts.
void add_pair_options(CLI::App& app, pairs_command& c);

/// The same of tanimoto; `bits` says how the rows are read.
void add_tanimoto_options(CLI::App& app, pairs_command& c, io::fingerprint_options& bits);

/// The adjustment of the filter that --adjust asks for.
void settle_adjustment(pairs_command& c);

/// What of them does not go together, or would change nothing; "" where all does.
[[nodiscard]] std::string check_pair_options(const CLI::App& app, const pairs_command& c);

}  // namespace gpu::cli
