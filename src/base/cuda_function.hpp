#pragma once
// How functions of the CUDA backend are declared. In a build without CUDA the declaration is the
// definition, and throws: GPU_SIMILARITY_CUDA_FUNCTION stands before those that are no template,
// GPU_SIMILARITY_OR_THROW behind every one.

#ifdef GPU_SIMILARITY_WITHOUT_CUDA

#include <gpu/error.hpp>

namespace gpu::inline v0::detail {
inline constexpr const char* not_built = "the library was built without CUDA";
[[noreturn]] inline void throw_not_built() {
  throw backend_unavailable(std::string("execution.target: cuda was asked for, but ") + not_built);
}
}  // namespace gpu::inline v0::detail

#define GPU_SIMILARITY_CUDA_FUNCTION inline
#define GPU_SIMILARITY_OR_THROW       \
  {                                   \
    ::gpu::detail::throw_not_built(); \
  }

#else

#define GPU_SIMILARITY_CUDA_FUNCTION
#define GPU_SIMILARITY_OR_THROW

#endif
