#pragma once
// Options of the verbs that compute pairs.

#include <string>

#include "cli/options/options.hpp"
#include "cli/options/verb.hpp"

namespace gpu::cli {

/// Which measure, where the verb does not say it.
void add_measure(verb& v, measure& what);

/// Input, cuts, result, where it runs, and parts.
void add_pair_options(verb& v, pairs_command& c);

/// The same of tanimoto.
void add_tanimoto_options(verb& v, pairs_command& c);

/// The adjustment of the filter that --adjust asks for.
void settle_adjustment(pairs_command& c);

/// What of them does not go together, or would change nothing; "" where all does.
[[nodiscard]] std::string check_pair_options(const verb& v, const pairs_command& c);

}  // namespace gpu::cli
