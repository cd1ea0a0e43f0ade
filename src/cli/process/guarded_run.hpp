#pragma once
// The one place that turns what goes wrong into a message and an exit code.

#include <functional>

namespace gpu::cli {

/// What `run` returns, or the code of what it throws, after its message.
[[nodiscard]] int guarded_run(const std::function<int()>& run);

}  // namespace gpu::cli
