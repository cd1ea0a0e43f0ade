#pragma once
// What a user should know of the device before a call begins.

#include <gpu/execution.hpp>

namespace gpu::cli {

/// Says on standard error where the driver has to compile the library's code for a device of the
/// call before it can start: for seconds nothing else is to be seen then.
void note_compilation(const execution& exec);

}  // namespace gpu::cli
