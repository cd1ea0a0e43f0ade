#include "cuda_runtime/device_info.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

#include <gpu/error.hpp>

#include "base/built_code.hpp"
#include "cuda_runtime/cuda_check.hpp"

namespace gpu::cuda {
namespace {

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

// The number of devices, 0 where they cannot be counted; the status says why. A missing driver is
// no error here.
cudaError_t count_devices(int& count) {
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    count = 0;
  }
  return status;
}

device_code origin_of(const detail::offered_code& code) {
  if (code.capability == 0) return device_code::none;
  return code.is_machine ? device_code::machine : device_code::portable;
}

// Why no device can be used. CUDA's own text speaks of a driver's version where there is no driver.
std::string reason_of(cudaError_t status, int driver) {
  if (driver == 0) return "no NVIDIA driver was found";
  if (status == cudaSuccess || status == cudaErrorNoDevice) return "no CUDA device was found";
  if (status == cudaErrorInsufficientDriver) {
    return fmt::format("the NVIDIA driver is too old: it is for CUDA {}, expected {} or later",
                       version_text(driver), version_text(CUDART_VERSION / 1000 * 1000));
  }
  return cudaGetErrorString(status);
}

device_info ask_properties(int ordinal) {
  cudaDeviceProp properties{};
  GPU_SIMILARITY_CUDA_CHECK(cudaGetDeviceProperties(&properties, ordinal));
  const detail::offered_code code = detail::offered_to(10 * properties.major + properties.minor);
  return {.ordinal = ordinal,
          .name = properties.name,
          .compute_major = properties.major,
          .compute_minor = properties.minor,
          .multiprocessors = properties.multiProcessorCount,
          .memory_bytes = properties.totalGlobalMem,
          .l2_bytes = static_cast<std::size_t>(properties.l2CacheSize),
          .code = origin_of(code),
          .code_major = code.capability / 10,
          .code_minor = code.capability % 10};
}

// The answer is kept: the query takes longer than many calls.
device_info describe_device(int ordinal) {
  static std::mutex mutex;
  static std::map<int, device_info> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(ordinal);
  if (found != known.end()) return found->second;
  return known[ordinal] = ask_properties(ordinal);
}

// The device, where the library has code for it.
device_info describe_usable_device(int ordinal) {
  device_info device = describe_device(ordinal);
  if (device.code == device_code::none) {
    throw backend_unavailable(
        fmt::format("execution.devices: the library has no code for device {}, {} of compute "
                    "capability {}.{}: it was "
                    "built for {}",
                    ordinal, device.name, device.compute_major, device.compute_minor,
                    detail::built_architectures()));
  }
  return device;
}

bool has_code(const device_info& device) {
  return device.code != device_code::none;
}

int current_ordinal() {
  int current = 0;
  GPU_SIMILARITY_CUDA_CHECK(cudaGetDevice(&current));
  return current;
}

void require_usable() {
  if (is_usable()) return;
  const backend_info info = describe_backend();
  throw backend_unavailable(
      fmt::format("execution.target: cuda was asked for, but {}", info.reason));
}

}  // namespace

bool is_usable() {
  static std::atomic<bool> found{false};  // devices do not go away
  if (found.load(std::memory_order_relaxed)) return true;
  const std::vector<device_info> devices = list_devices();
  const bool usable = std::any_of(devices.begin(), devices.end(), has_code);
  if (usable) found.store(true, std::memory_order_relaxed);
  return usable;
}

bool has_context() {
  using count_call = int(int*);
  using state_call = int(int, unsigned*, int*);
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (driver == nullptr) return false;
  auto* const count_of = reinterpret_cast<count_call*>(dlsym(driver, "cuDeviceGetCount"));
  auto* const state_of = reinterpret_cast<state_call*>(dlsym(driver, "cuDevicePrimaryCtxGetState"));
  int count = 0;
  bool found = false;
  if (count_of != nullptr && state_of != nullptr && count_of(&count) == 0) {
    for (int device = 0; device < count && !found; ++device) {
      unsigned flags = 0;
      int active = 0;
      found = state_of(device, &flags, &active) == 0 && active != 0;
    }
  }
  static_cast<void>(dlclose(driver));
  return found;
}

backend_info describe_backend() {
  int runtime = 0;
  int driver = 0;
  static_cast<void>(cudaRuntimeGetVersion(&runtime));
  static_cast<void>(cudaDriverGetVersion(&driver));
  int count = 0;
  const cudaError_t status = count_devices(count);
  backend_info info{.kind = backend::cuda, .name = "cuda"};
  info.description = fmt::format("CUDA runtime {}, driver {}", version_text(runtime),
                                 driver == 0 ? "absent" : version_text(driver));
  info.usable = is_usable();
  if (count == 0) {
    info.reason = reason_of(status, driver);
  } else if (!info.usable) {
    info.reason = fmt::format("no device runs the library's code, which was built for {}",
                              detail::built_architectures());
  }
  return info;
}

std::vector<device_info> list_devices() {
  int count = 0;
  static_cast<void>(count_devices(count));
  std::vector<device_info> devices;
  for (int ordinal = 0; ordinal < count; ++ordinal) devices.push_back(describe_device(ordinal));
  return devices;
}

device_info select_device(const execution& exec) {
  require_usable();
  return describe_usable_device(exec.devices.empty() ? current_ordinal() : exec.devices.front());
}

int device_of(const execution& exec) {
  if (!exec.devices.empty()) return exec.devices.front();
  int current = 0;
  // Where there is no driver, select_device() throws an error that says so.
  return cudaGetDevice(&current) == cudaSuccess ? current : select_device(exec).ordinal;
}

std::vector<device_info> select_devices(const execution& exec) {
  require_usable();
  std::vector<device_info> devices;
  for (const int ordinal : exec.devices) devices.push_back(describe_usable_device(ordinal));
  if (devices.empty()) devices.push_back(describe_usable_device(current_ordinal()));
  return devices;
}

std::string describe_devices(std::span<const device_info> devices) {
  std::string text;
  for (std::size_t first = 0; first < devices.size();) {
    std::size_t last = first + 1;
    while (last < devices.size() && devices[last].name == devices[first].name) ++last;
    if (!text.empty()) text += ", ";
    if (last - first > 1) text += fmt::format("{} x ", last - first);
    text += devices[first].name;
    first = last;
  }
  return text;
}

std::string warn_of_compilation(std::span<const device_info> devices) {
  for (const device_info& device : devices) {
    if (device.code != device_code::portable) continue;
    return fmt::format(
        "the library holds no machine code for {} of compute capability {}.{}: the driver compiles "
        "its code for "
        "{}.{} at the first call of each kind, which takes seconds",
        device.name, device.compute_major, device.compute_minor, device.code_major,
        device.code_minor);
  }
  return {};
}

}  // namespace gpu::cuda
