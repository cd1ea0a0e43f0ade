#include "cuda_runtime/device_info.hpp"

#include <gpu/error.hpp>

#include "cuda_absent/absent.hpp"

namespace gpu::cuda {

backend_info describe_backend() {
  return {.kind = backend::cuda,
          .name = "cuda",
          .description = "not part of this build",
          .usable = false,
          .reason = not_built};
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

std::vector<device_info> select_devices(const execution&) {
  throw_not_built();
}

std::string warn_of_compilation(std::span<const device_info>) {
  throw_not_built();
}

std::string describe_devices(std::span<const device_info>) {
  throw_not_built();
}

device_info select_device(const execution&) {
  throw_not_built();
}

}  // namespace gpu::cuda
