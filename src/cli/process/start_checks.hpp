#pragma once
// Checks that are made before a large file is read.

#include <gpu/execution.hpp>

namespace gpu::cli {

/// Whether the run can begin: there is the backend that `exec` asks for, and the variables of the
/// environment have legal values. From here on `exec.cpu_threads` holds for all that the process
/// does.
/// @throw refused_options, gpu::backend_unavailable
void check_execution(const execution& exec);

}  // namespace gpu::cli
