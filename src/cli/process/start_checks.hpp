#pragma once
// What is looked at before a large file is read, and before a call begins.

#include <gpu/execution.hpp>

namespace gpu::cli {

/// Whether the run can begin: there is the backend that `exec` asks for, and the variables of the
/// environment have legal values. From here on `exec.cpu_threads` holds for all that the process
/// does.
/// @throw refused_options, gpu::backend_unavailable
void check_execution(const execution& exec);

/// Says on standard error where the driver has to compile the library's code for a device of the
/// call before it can start: for seconds nothing else is to be seen then.
void note_compilation(const execution& exec);

}  // namespace gpu::cli
