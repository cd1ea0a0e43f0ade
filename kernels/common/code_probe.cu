// A kernel whose attributes tell what the device code of the library was compiled for: of all that
// is in the binary, the driver loads the same for it as for the others.

#include "cuda_runtime/device_code.hpp"

namespace gpu::cuda {
namespace {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
constexpr int most_threads = 2 * code_probe_threads;
#else
constexpr int most_threads = code_probe_threads;
#endif

__global__ void __launch_bounds__(most_threads) probe_kernel() {}

}  // namespace

const void* code_probe() {
  return reinterpret_cast<const void*>(probe_kernel);
}

}  // namespace gpu::cuda
