#pragma once
// The architectures that the build is for, as CMake has them.

namespace gpu_test {

/// Device code of the build.
struct built_code {
  int capability = 0;  ///< That it was compiled for, 10 * major + minor; 0 where there is none.
  bool has_warpgroups = false;  ///< It is that of sm_90a.
};

/// What a device of this capability runs: machine code of its major number, else PTX, the newest
/// that is not newer than the device. Where CUDA_FORCE_PTX_JIT is 1, as CUDA knows it, PTX alone.
built_code newest_code_for(int device);

}  // namespace gpu_test
