#include "cuda_runtime/device_limits.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <tuple>

#include "cuda_runtime/cuda_check.hpp"

namespace gpu::cuda {
namespace {

// Values by key, each made once. References stay valid, because nodes of a map do not move. Readers
// do not wait for each other.
template <class Key, class Value>
class kept {
 public:
  template <class Make>
  const Value& get(const Key& key, const Make& make) {
    {
      const std::shared_lock lock(mutex_);
      const auto found = values_.find(key);
      if (found != values_.end()) return found->second;
    }
    const Value value = make();
    const std::unique_lock lock(mutex_);
    return values_.emplace(key, value).first->second;
  }

 private:
  std::shared_mutex mutex_;
  std::map<Key, Value> values_;
};

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  GPU_SIMILARITY_CUDA_CHECK(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

int current_device() {
  int device = 0;
  GPU_SIMILARITY_CUDA_CHECK(cudaGetDevice(&device));
  return device;
}

std::size_t memory_of(int device) {
  cudaDeviceProp properties{};
  GPU_SIMILARITY_CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  return properties.totalGlobalMem;
}

device_limits ask_limits(int device) {
  return {.compute_major = attribute(cudaDevAttrComputeCapabilityMajor, device),
          .compute_minor = attribute(cudaDevAttrComputeCapabilityMinor, device),
          .multiprocessors = attribute(cudaDevAttrMultiProcessorCount, device),
          .block_shared_bytes =
              static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device)),
          .memory_bytes = memory_of(device)};
}

}  // namespace

const device_limits& limits_of(int device) {
  static kept<int, device_limits> known;
  return known.get(device, [&] { return ask_limits(device); });
}

const device_limits& current_limits() {
  return limits_of(current_device());
}

void allow_shared_memory(const void* kernel, std::size_t bytes) {
  static std::shared_mutex mutex;
  static std::map<std::tuple<int, const void*>, std::size_t> allowed;
  const std::tuple key(current_device(), kernel);
  {
    const std::shared_lock lock(mutex);
    const auto found = allowed.find(key);
    if (found != allowed.end() && found->second >= bytes) return;
  }
  const std::unique_lock lock(mutex);
  std::size_t& most = allowed[key];
  if (most >= bytes && bytes > 0) return;
  GPU_SIMILARITY_CUDA_CHECK(cudaFuncSetAttribute(
      kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
  most = bytes;
}

int resident_blocks_per_multiprocessor(const void* kernel, int threads, std::size_t bytes) {
  static kept<std::tuple<int, const void*, int, std::size_t>, int> known;
  return known.get({current_device(), kernel, threads, bytes}, [&] {
    int blocks = 0;
    GPU_SIMILARITY_CUDA_CHECK(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, bytes));
    return std::max(blocks, 1);
  });
}

}  // namespace gpu::cuda
