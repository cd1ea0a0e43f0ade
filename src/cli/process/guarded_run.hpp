#pragma once
// The one place that turns what goes wrong into a message and an exit code.

#include <functional>
#include <string>
#include <string_view>

namespace gpu::cli {

/// A message of the library in the words of the command.
using library_translation = std::string (*)(std::string_view);

/// What `run` returns, or the code of what it throws, after its message.
[[nodiscard]] int guarded_run(const std::function<int()>& run, library_translation in_words);

}  // namespace gpu::cli
