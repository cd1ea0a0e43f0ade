#pragma once
// SIGINT and SIGTERM as a question that the work asks now and then.

namespace gpu::cli {

/// From now on the first SIGINT or SIGTERM is noted; the second ends the process. A closed pipe
/// becomes an error of the write.
void handle_signals();

/// Whether the run is to end.
[[nodiscard]] bool is_interrupted() noexcept;

}  // namespace gpu::cli
