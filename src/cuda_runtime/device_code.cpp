#include "cuda_runtime/device_code.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <map>
#include <mutex>
#include <shared_mutex>

#include <gpu/error.hpp>

#include "base/built_code.hpp"
#include "cuda_runtime/cuda_check.hpp"
#include "cuda_runtime/stream.hpp"

namespace gpu::cuda {
namespace {

// Errors that say that there is no code, or none that this driver can compile.
bool means_no_code(cudaError_t status) {
  switch (status) {
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorInvalidPtx:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorJitCompilerNotFound:
    case cudaErrorJitCompilationDisabled:
      return true;
    default:
      return false;
  }
}

loaded_code ask_code(int device) {
  const device_guard guard(device);
  cudaFuncAttributes attributes{};
  const cudaError_t status = cudaFuncGetAttributes(&attributes, code_probe());
  if (means_no_code(status)) {
    static_cast<void>(cudaGetLastError());
    throw backend_unavailable(fmt::format(
        "execution.devices: no code of this library, which was built for {}, runs on device {}: {}",
        detail::built_architectures(), device, cudaGetErrorString(status)));
  }
  GPU_SIMILARITY_CUDA_CHECK(status);
  return {.capability = attributes.ptxVersion,
          .has_warpgroups = attributes.maxThreadsPerBlock > code_probe_threads};
}

}  // namespace

const loaded_code& code_of(int device) {
  static std::shared_mutex mutex;
  static std::map<int, loaded_code> known;  // nodes of a map do not move
  {
    const std::shared_lock lock(mutex);
    const auto found = known.find(device);
    if (found != known.end()) return found->second;
  }
  const loaded_code code = ask_code(device);
  const std::unique_lock lock(mutex);
  return known.emplace(device, code).first->second;
}

const loaded_code& current_code() {
  int device = 0;
  GPU_SIMILARITY_CUDA_CHECK(cudaGetDevice(&device));
  return code_of(device);
}

}  // namespace gpu::cuda
