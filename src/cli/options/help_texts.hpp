#pragma once
// What the help of each verb says behind its options.

#include <string>
#include <string_view>

namespace gpu::cli {

/// What the command does.
inline constexpr const char* command_text =
    "All pairs of rows that move together: correlations with p-values, on GPU or CPU";

/// Codes that the command ends with.
[[nodiscard]] std::string exit_codes_text();

/// What the result of `verb` holds, and how it is used; "" where its options say all.
[[nodiscard]] std::string examples_text(std::string_view verb);

}  // namespace gpu::cli
