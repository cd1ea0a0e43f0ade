#pragma once
// What every function of the absent CUDA backend does: it throws gpu::backend_unavailable.

#include <gpu/error.hpp>

namespace gpu::cuda {

inline constexpr const char* not_built = "the library was built without CUDA";

[[noreturn]] inline void throw_not_built() {
  throw backend_unavailable(std::string("execution.target: cuda was asked for, but ") + not_built);
}

}  // namespace gpu::cuda
