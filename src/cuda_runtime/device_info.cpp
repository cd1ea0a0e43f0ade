#include "cuda_runtime/device_info.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <atomic>
#include <map>
#include <mutex>

#include <gpu/error.hpp>

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
  return {.ordinal = ordinal,
          .name = properties.name,
          .compute_major = properties.major,
          .compute_minor = properties.minor,
          .multiprocessors = properties.multiProcessorCount,
          .memory_bytes = properties.totalGlobalMem,
          .l2_bytes = static_cast<std::size_t>(properties.l2CacheSize)};
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
  int count = 0;
  static_cast<void>(count_devices(count));
  if (count > 0) found.store(true, std::memory_order_relaxed);
  return count > 0;
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
  info.usable = count > 0;
  if (!info.usable) {
    info.reason = reason_of(status, driver);
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
  return describe_device(exec.devices.empty() ? current_ordinal() : exec.devices.front());
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
  for (const int ordinal : exec.devices) devices.push_back(describe_device(ordinal));
  if (devices.empty()) devices.push_back(describe_device(current_ordinal()));
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

}  // namespace gpu::cuda
