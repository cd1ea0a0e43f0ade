#include "cuda/pairs/on_device/input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include <gpu/error.hpp>

#include "cuda_runtime/cuda_check.hpp"
#include "cuda_runtime/device_buffer.hpp"
#include "cuda_runtime/device_info.hpp"
#include "cuda_runtime/stream.hpp"
#include "kernels/pairs/on_device/kernels.hpp"
#include "pairs/tables.hpp"

namespace gpu::cuda {
namespace {

cudaPointerAttributes attributes_of(const void* memory) {
  cudaPointerAttributes out{};
  GPU_SIMILARITY_CUDA_CHECK(cudaPointerGetAttributes(&out, memory));
  return out;
}

// Ordinary host memory that kernels read through the tables of the host's own processor.
bool reads_host_memory(int device) {
  int answer = 0;
  GPU_SIMILARITY_CUDA_CHECK(
      cudaDeviceGetAttribute(&answer, cudaDevAttrPageableMemoryAccessUsesHostPageTables, device));
  return answer != 0;
}

const void* data_of(const detail::any_table& table) {
  return std::visit(
      [](const auto& view) -> const void* { return view.empty() ? nullptr : view.data(); }, table);
}

}  // namespace

table_place place_of(const detail::any_table& table) {
  if (!detail::is_on_device(table)) return table_place::host;
  const void* const memory = data_of(table);
  if (memory == nullptr) return table_place::this_device;
  int device = 0;
  GPU_SIMILARITY_CUDA_CHECK(cudaGetDevice(&device));
  const cudaPointerAttributes memory_is = attributes_of(memory);
  const bool elsewhere = memory_is.type == cudaMemoryTypeDevice && memory_is.device != device;
  return elsewhere ? table_place::other_device : table_place::this_device;
}

void check_memory(const char* name, const void* memory, std::span<const device_info> devices) {
  if (memory == nullptr) return;
  const cudaPointerAttributes memory_is = attributes_of(memory);
  if (memory_is.type == cudaMemoryTypeUnregistered) {
    if (reads_host_memory(devices.front().ordinal)) return;
    throw invalid_argument(fmt::format("{}: is not in device memory, expected memory of device {}",
                                       name, devices.front().ordinal));
  }
  if (memory_is.type != cudaMemoryTypeDevice) return;  // managed, or host memory that is mapped
  const auto is_there = [&](const device_info& device) {
    return device.ordinal == memory_is.device;
  };
  if (std::any_of(devices.begin(), devices.end(), is_there)) return;
  throw invalid_argument(
      fmt::format("{}: is in the memory of device {}, the call runs on device {}", name,
                  memory_is.device, devices.front().ordinal));
}

void check_tables(const detail::pair_tables& tables, std::span<const device_info> devices) {
  if (!detail::is_on_device(tables)) return;
  check_memory(detail::has_y(tables) ? "x" : "data", data_of(tables.x), devices);
  if (tables.y) check_memory("y", data_of(*tables.y), devices);
}

void wait_for_callers_stream(const execution& exec) {
  const cudaStream_t stream = exec.stream.get();
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamIsCapturing(stream, &status));
  if (status != cudaStreamCaptureStatusNone) {
    throw invalid_argument(
        "execution.stream: is being captured in a graph, but a result in host memory waits for the "
        "stream");
  }
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream));
}

index_t first_nan_column(const detail::any_device_matrix_view& table, index_t row,
                         const execution& exec) {
  const device_guard guard(device_of(exec));
  const stream work;
  const device_buffer<index_t> column(1, work.get());
  index_t out = 0;
  std::visit(
      [&]<class T>(const device_matrix_view<const T>& view) {
        kernels::launch_first_nan<T>({view.row(row), 1, view.cols()}, column.data(), work.get());
      },
      table);
  GPU_SIMILARITY_CUDA_CHECK(
      cudaMemcpyAsync(&out, column.data(), sizeof out, cudaMemcpyDeviceToHost, work.get()));
  work.synchronize();
  return out;
}

}  // namespace gpu::cuda
