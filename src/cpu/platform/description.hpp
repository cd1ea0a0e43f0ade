#pragma once
// What a summary says of the CPU.

#include <string>

namespace gpu::cpu {

/// The processor's name, the instruction set that is used, and the threads of a call.
std::string describe_device(int threads);

}  // namespace gpu::cpu
