#pragma once
// The least memory limit under which a call runs, by what its refusal says.

#include <cstddef>

#include <gpu/error.hpp>
#include <gpu/pair_options.hpp>

namespace gpu_test {

/// What call(options) says that it needs at least; 0 where it needs nothing.
template <class Call>
std::size_t least_workspace(const Call& call, gpu::pair_options options) {
  options.exec.workspace_bytes = 1;
  try {
    call(options);
  } catch (const gpu::out_of_memory& refusal) {
    return refusal.requested_bytes();
  }
  return 0;
}

}  // namespace gpu_test
