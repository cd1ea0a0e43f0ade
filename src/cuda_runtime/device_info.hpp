#pragma once
// What the backend selection asks of the CUDA backend. src/cuda_absent has the same functions for
// builds without CUDA.

#include <span>
#include <string>
#include <vector>

#include <gpu/execution.hpp>

namespace gpu::cuda {

/// The CUDA backend as available_backends() lists it.
backend_info describe_backend();

/// Whether the backend is usable, as describe_backend() says, without its description.
bool is_usable();

/// Whether this process has used a device: no device is asked, nor the driver loaded.
bool has_context();

/// The devices that can be used; empty where there are none.
std::vector<device_info> list_devices();

/// The devices of a call: exec.devices, else the thread's current device. At least one.
/// Throws gpu::backend_unavailable where there is none.
std::vector<device_info> select_devices(const execution& exec);
/// The first of them, for what runs on one device.
device_info select_device(const execution& exec);

/// The ordinal of select_device(exec), without asking for the device's properties.
int device_of(const execution& exec);

/// What a caller should know of devices for which the driver compiles code first; else empty.
std::string warn_of_compilation(std::span<const device_info> devices);

/// Names and numbers of devices, as in "2 x NVIDIA H200".
std::string describe_devices(std::span<const device_info> devices);

}  // namespace gpu::cuda
