#pragma once
// Checks that are made before a large file is read.

#include <gpu/execution.hpp>

namespace gpu::cli {

/// Whether the run can begin: there is the backend that `exec` asks for, the variables of the
/// environment have legal values, and the system starts the threads.
/// @throw refused_options, gpu::backend_unavailable, no_threads
void check_execution(const execution& exec);

}  // namespace gpu::cli
