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

/// What the library holds for a device.
enum class device_code {
  machine,   ///< Machine code.
  portable,  ///< PTX alone: the driver compiles the kernels of a call at its first use, which takes
             ///< seconds, and keeps them in its cache.
  none       ///< Nothing that the device runs: it is not used.
};

/// One CUDA device.
struct device_info {
  int ordinal = 0;                          ///< As execution::devices takes it.
  std::string name = {};                    ///< As the driver gives it.
  int compute_major = 0;                    ///< Compute capability, before the dot.
  int compute_minor = 0;                    ///< Compute capability, behind the dot.
  int multiprocessors = 0;                  ///< Streaming multiprocessors.
  std::size_t memory_bytes = 0;             ///< Device memory in all.
  std::size_t l2_bytes = 0;                 ///< Second-level cache.
  device_code code = device_code::machine;  ///< What the library holds for it.
  int code_major = 0;  ///< Compute capability that this was compiled for, before the dot.
  int code_minor = 0;  ///< The same, behind the dot.
};

/// Every backend of this build, the CPU first. Never throws for a missing device or driver.
[[nodiscard]] GPU_SIMILARITY_EXPORT std::vector<backend_info> available_backends();

/// The CUDA devices that can be used; empty where there are none.
[[nodiscard]] GPU_SIMILARITY_EXPORT std::vector<device_info> available_devices();

/// The backend that a call with this `execution` would run on: `cpu` or `cuda`. Honours the
/// environment variable GPU_SIMILARITY_BACKEND where `target` is `automatic`.
/// @throw gpu::backend_unavailable where CUDA, or a device, is asked for and cannot be used.
/// @throw gpu::invalid_argument where the environment variable has another value, a device ordinal
///   does not exist, or devices are named and the CPU is asked for.
[[nodiscard]] GPU_SIMILARITY_EXPORT backend resolve_backend(const execution& exec = {});

/// "machine", "portable" or "none".
[[nodiscard]] GPU_SIMILARITY_EXPORT std::string_view to_string(device_code code) noexcept;

/// "automatic", "cpu" or "cuda".
[[nodiscard]] GPU_SIMILARITY_EXPORT std::string_view to_string(backend kind) noexcept;

}  // namespace v0
}  // namespace gpu
