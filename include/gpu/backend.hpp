#pragma once
/// @file
/// Lists the backends and devices, and tells which one a call would use.

#include <cstddef>
#include <string>
#include <vector>

#include <gpu/execution.hpp>
#include <gpu/export.hpp>

namespace gpu {
inline namespace v0 {

/// One backend as built into this library.
struct backend_info {
  backend kind = backend::cpu;   ///< `cpu` or `cuda`.
  std::string name = {};         ///< "cpu" or "cuda".
  std::string description = {};  ///< Instruction set and threads, or runtime and driver version.
  bool usable = false;           ///< Whether a call can run on it here and now.
  std::string reason = {};       ///< Why not, where it is not usable.
};

/// One CUDA device.
struct device_info {
  int ordinal = 0;               ///< As execution::devices takes it.
  std::string name = {};         ///< As the driver gives it.
  int compute_major = 0;         ///< Compute capability, before the dot.
  int compute_minor = 0;         ///< Compute capability, behind the dot.
  int multiprocessors = 0;       ///< Streaming multiprocessors.
  std::size_t memory_bytes = 0;  ///< Device memory in all.
  std::size_t l2_bytes = 0;      ///< Second-level cache.
};

/// Every backend of this build, the CPU first. Never throws for a missing device or driver.
[[nodiscard]] GPU_SIMILARITY_EXPORT std::vector<backend_info> available_backends();

/// The CUDA devices that can be used; empty where there are none.
[[nodiscard]] GPU_SIMILARITY_EXPORT std::vector<device_info> available_devices();

/// The backend that a call with this `execution` would run on: `cpu` or `cuda`. Honours the
/// environment variable GPU_SIMILARITY_BACKEND where `target` is `automatic`.
/// @throw gpu::backend_unavailable where CUDA is asked for and cannot be used.
/// @throw gpu::invalid_argument where the environment variable has another value, or a device
///   ordinal does not exist.
[[nodiscard]] GPU_SIMILARITY_EXPORT backend resolve_backend(const execution& exec = {});

/// "automatic", "cpu" or "cuda".
[[nodiscard]] GPU_SIMILARITY_EXPORT std::string_view to_string(backend kind) noexcept;

}  // namespace v0
}  // namespace gpu
