#pragma once
// The options of jobs in parts.

#include <string>

#include "cli/options/options.hpp"
#include "cli/options/verb.hpp"

namespace gpu::cli {

/// --part, --output-dir, --resume and --parts.
void add_parts(verb& v, pairs_command& c, const char* parts_text);
/// What does not go together; "" where all does.
[[nodiscard]] std::string check_parts_options(const verb& v, const pairs_command& c);

/// The subcommands `parts` and `merge`.
void add_parts_verb(verb& v, parts_command& c);
void add_merge_verb(verb& v, merge_command& c);

}  // namespace gpu::cli
