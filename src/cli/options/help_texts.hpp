#pragma once
// What the help of each verb says behind its options, the manual page and the completions.

#include <string>
#include <string_view>
#include <vector>

#include "cli/options/options.hpp"
#include "cli/options/verb.hpp"

namespace gpu::cli {

inline constexpr const char* command_text =
    "All pairs of rows that move together: correlations with p-values, on GPU or CPU";

[[nodiscard]] std::string exit_codes_text();

/// What the result of `verb` holds, and how it is used; "" where its options say all.
[[nodiscard]] std::string examples_text(std::string_view verb);

/// The page of verbs with their options, as troff for `man`.
[[nodiscard]] std::string manual_page(const std::vector<const verb*>& verbs);

/// A script that makes a shell complete verbs, options, their words and files. It asks the command
/// for its help.
[[nodiscard]] std::string completion_script(page_kind shell);

}  // namespace gpu::cli
