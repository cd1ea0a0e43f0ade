#pragma once
// What the library must offer on the device at hand. It is worked out from the device's properties
// and the architectures that the build is for, and not asked of the library: a library that wrongly
// refuses fails the tests.

#include <string>

#include <gpu/binary_matmul.hpp>
#include <gpu/matmul.hpp>
#include <gpu/pair_options.hpp>

#include "support/built_code.hpp"
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

/// Where code runs: the device, and the capability that its code was compiled for.
struct code_place {
  int device = 0;               ///< 10 * major + minor; 0 where there is no device.
  int code = 0;                 ///< The same, of the code.
  bool has_warpgroups = false;  ///< Code of sm_90a.
};

/// The current device, and what of the build runs on it.
inline code_place current_place() {
  const int device = compute_capability();
  const built_code code = newest_code_for(device);
  return {device, code.capability, code.has_warpgroups};
}

/// Whether code of this capability must offer `variant` on a device of that one.
inline bool must_offer(const code_place& place, gpu::pair_variant variant) {
  if (variant == gpu::pair_variant::hopper) return place.has_warpgroups;
  if (variant == gpu::pair_variant::tensor) return place.code >= 75;
  return variant != gpu::pair_variant::tiled;
}
inline bool must_offer(const code_place& place, gpu::binary_matmul_variant variant) {
  if (variant == gpu::binary_matmul_variant::hopper) return place.has_warpgroups;
  if (variant == gpu::binary_matmul_variant::tensor) return place.code >= 80;
  return true;
}

inline bool must_offer(const code_place& place, gpu::matmul_variant variant) {
  return variant != gpu::matmul_variant::tensor || place.code >= 80;
}

template <class Variant>
bool cuda_must_offer(Variant variant) {
  return must_offer(current_place(), variant);
}

/// Matrix units where the device must offer them for pairs, else tiles of shared memory: for cases
/// that go through every kind of tile there is.
inline gpu::pair_variant tensor_or_tiles() {
  constexpr auto tensor = gpu::pair_variant::tensor;
  return cuda_must_offer(tensor) ? tensor : gpu::pair_variant::shared_tiled;
}

/// Whether the device must offer `variant`; where not, that is noted: as something that this build
/// lacks where the device could do it, else as skipped.
template <class Variant>
bool applies(Variant variant) {
  const code_place place = current_place();
  if (must_offer(place, variant)) return true;
  const code_place best{place.device, place.device, place.device == 90};
  const bool is_in_other_builds = must_offer(best, variant);
  note_skip(is_in_other_builds ? missing::code : missing::device,
            "variant " + std::string(gpu::to_string(variant)) +
                " on a device of compute capability " + std::to_string(place.device) +
                " by code for " + std::to_string(place.code));
  return false;
}

}  // namespace gpu_test
