#pragma once
// What the library must offer on the device at hand. It is asked of the device's properties and of
// the build, not of the library: a library that wrongly refuses fails the tests.

#include <string>

#include <gpu/binary_matmul.hpp>
#include <gpu/pair_options.hpp>

#include "support/skip.hpp"

#ifdef GPU_SIMILARITY_TEST_CUDA
#include <cuda_runtime_api.h>
#endif

namespace gpu_test {

/// The current device's compute capability, 10 * major + minor; 0 in a build without CUDA.
inline int compute_capability() {
  int major = 0;
  int minor = 0;
#ifdef GPU_SIMILARITY_TEST_CUDA
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) != cudaSuccess) {
    return 0;
  }
#endif
  return 10 * major + minor;
}

/// Whether the build holds the warpgroup products of compute capability 9.0 and this is such a
/// device.
inline bool offers_warpgroups() {
#ifdef GPU_SIMILARITY_SM90A
  return compute_capability() == 90;
#else
  return false;
#endif
}

inline bool cuda_must_offer(gpu::pair_variant variant) {
  if (variant == gpu::pair_variant::hopper) return offers_warpgroups();
  if (variant == gpu::pair_variant::tensor) return compute_capability() >= 80;
  return variant != gpu::pair_variant::tiled;
}

inline bool cuda_must_offer(gpu::binary_matmul_variant variant) {
  if (variant == gpu::binary_matmul_variant::hopper) return offers_warpgroups();
  if (variant == gpu::binary_matmul_variant::tensor) return compute_capability() >= 80;
  return true;
}

/// Whether the device must offer `variant`; where not, that is noted as skipped.
template <class Variant>
bool applies(Variant variant) {
  if (cuda_must_offer(variant)) return true;
  note_skip(missing::device, "variant " + std::string(gpu::to_string(variant)) +
                                 " on a device of compute capability " +
                                 std::to_string(compute_capability()));
  return false;
}

}  // namespace gpu_test
