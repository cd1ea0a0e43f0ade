#pragma once
// The manual page and the completions of the command.

#include <string>
#include <vector>

#include "cli/options/options.hpp"
#include "cli/options/verb.hpp"

namespace gpu::cli {

/// The page of verbs with their options, as troff for `man`.
[[nodiscard]] std::string manual_page(const std::vector<const verb*>& verbs);

/// A script that makes a shell complete verbs, options, their words and files. It asks the command
/// for its help.
[[nodiscard]] std::string completion_script(page_kind shell);

}  // namespace gpu::cli
