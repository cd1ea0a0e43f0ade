#pragma once
// What the backend selection asks of the CUDA backend.

#include <span>
#include <string>
#include <vector>

#include <gpu/execution.hpp>

#include "base/cuda_function.hpp"

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
GPU_SIMILARITY_CUDA_FUNCTION std::vector<device_info> select_devices(const execution& exec)
    GPU_SIMILARITY_OR_THROW;
/// The first of them, for what runs on one device.
GPU_SIMILARITY_CUDA_FUNCTION device_info select_device(const execution& exec)
    GPU_SIMILARITY_OR_THROW;

/// The ordinal of select_device(exec), without asking for the device's properties.
int device_of(const execution& exec);

/// What a caller should know of devices for which the driver compiles code first; else empty.
GPU_SIMILARITY_CUDA_FUNCTION std::string warn_of_compilation(std::span<const device_info> devices)
    GPU_SIMILARITY_OR_THROW;

/// Names and numbers of devices, as in "2 x NVIDIA H200".
GPU_SIMILARITY_CUDA_FUNCTION std::string describe_devices(std::span<const device_info> devices)
    GPU_SIMILARITY_OR_THROW;

}  // namespace gpu::cuda
