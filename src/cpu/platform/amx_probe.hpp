#pragma once
// Whether this process may use AMX tiles of 8-bit integers.

namespace gpu::cpu {

/// Asks the operating system for permission once and tries a product; later calls return the same
/// answer. The permission holds for every thread of the process. x86-64 alone.
bool amx_works();

}  // namespace gpu::cpu
