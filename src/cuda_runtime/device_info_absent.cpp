// The CUDA backend of a build without CUDA.
#include "cuda_runtime/device_info.hpp"

namespace gpu::cuda {

backend_info describe_backend() {
  return {.kind = backend::cuda,
          .name = "cuda",
          .description = "not part of this build",
          .usable = false,
          .reason = detail::not_built};
}

bool is_usable() {
  return false;
}

bool has_context() {
  return false;
}

std::vector<device_info> list_devices() {
  return {};
}

}  // namespace gpu::cuda
