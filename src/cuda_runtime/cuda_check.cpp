#include "cuda_runtime/cuda_check.hpp"

#include <fmt/format.h>

#include <gpu/error.hpp>

namespace gpu::cuda {

void throw_cuda_error(cudaError_t status, const char* call, const char* file, int line,
                      std::size_t requested_bytes) {
  static_cast<void>(cudaGetLastError());
  const std::string what = fmt::format("CUDA: {} ({}) from {} at {}:{}", cudaGetErrorString(status),
                                       cudaGetErrorName(status), call, file, line);
  if (status == cudaErrorMemoryAllocation) {
    throw out_of_memory(
        requested_bytes == 0 ? what : fmt::format("{}, {} bytes", what, requested_bytes),
        requested_bytes);
  }
  throw cuda_error(what, static_cast<int>(status));
}

}  // namespace gpu::cuda
