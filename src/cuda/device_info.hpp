#pragma once
// What the backend selection asks of the CUDA backend. src/cuda_absent has the same functions for
// builds without CUDA.

#include <string>
#include <vector>

#include <gpu/backend.hpp>

namespace gpu::cuda {

/// The CUDA backend as available_backends() lists it.
backend_info describe_backend();

/// The devices that can be used; empty where there are none.
std::vector<device_info> list_devices();

/// The device of a call: the first of exec.devices, else the thread's current device.
/// Throws gpu::backend_unavailable where there is none.
device_info select_device(const execution& exec);

}  // namespace gpu::cuda
