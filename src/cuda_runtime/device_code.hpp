#pragma once
// The device code that really runs on a device: kernels are empty, or lack what the capability of
// the device has, where they were compiled for another one. Whoever chooses a kernel by what its
// code can do asks here; by how fast the device is, device_limits.hpp.

namespace gpu::cuda {

/// What runs on a device.
struct loaded_code {
  int capability = 0;           ///< That it was compiled for, 10 * major + minor.
  bool has_warpgroups = false;  ///< It holds the warpgroup products of compute capability 9.0.
};

/// The code of the device with this ordinal, as the driver has loaded it; asked once.
/// @throw gpu::backend_unavailable where the library holds none that the driver takes.
const loaded_code& code_of(int device);
/// The code of the current device.
const loaded_code& current_code();

/// A kernel that does nothing, compiled with the others (kernels/common/code_probe.cu). Its largest
/// block has code_probe_threads threads, twice as many where it was compiled for sm_90a.
inline constexpr int code_probe_threads = 32;
const void* code_probe();

}  // namespace gpu::cuda
