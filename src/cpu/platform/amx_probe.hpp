#pragma once
// Whether this process may use AMX tiles of 8-bit integers.

namespace gpu::cpu {

/// Asks the operating system for leave once and tries a product; later calls repeat the answer.
/// The leave holds for every thread of the process. x86-64 alone.
bool amx_works();

}  // namespace gpu::cpu
