#include "cuda/pairs/rows/input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <variant>

#include <gpu/error.hpp>

#include "cuda_runtime/cuda_check.hpp"
#include "cuda_runtime/device_buffer.hpp"
#include "cuda_runtime/device_info.hpp"
#include "cuda_runtime/stream.hpp"
#include "kernels/pairs/on_device/kernels.hpp"
#include "kernels/pairs/signs/kernels.hpp"
#include "pairs/engine.hpp"
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

// Where a table begins that is in device memory; null where it is empty, or in host memory.
const void* data_of(const detail::any_table& table) {
  return std::visit(
      [](const auto& view) -> const void* { return view.empty() ? nullptr : view.data(); },
      detail::device_view(table));
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

void check_memory(const char* name, const void* memory, std::span<const int> devices) {
  if (memory == nullptr) return;
  const cudaPointerAttributes memory_is = attributes_of(memory);
  if (memory_is.type == cudaMemoryTypeUnregistered) {
    if (reads_host_memory(devices.front())) return;
    throw invalid_argument(fmt::format("{}: is not in device memory, expected memory of device {}",
                                       name, devices.front()));
  }
  if (memory_is.type != cudaMemoryTypeDevice) return;  // managed, or host memory that is mapped
  if (std::find(devices.begin(), devices.end(), memory_is.device) != devices.end()) return;
  throw invalid_argument(
      fmt::format("{}: is in the memory of device {}, the call runs on device {}", name,
                  memory_is.device, devices.front()));
}

void check_tables(const detail::pair_tables& tables, std::span<const int> devices) {
  if (!detail::is_on_device(tables)) return;
  check_memory(detail::has_y(tables) ? "x" : "data", data_of(tables.x), devices);
  if (tables.y) check_memory("y", data_of(*tables.y), devices);
}

std::vector<int> ordinals_of(std::span<const device_info> devices) {
  std::vector<int> out;
  for (const device_info& device : devices) out.push_back(device.ordinal);
  return out;
}

bool is_capturing(const execution& exec) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamIsCapturing(exec.stream.get(), &status));
  return status != cudaStreamCaptureStatusNone;
}

void check_stream([[maybe_unused]] const execution& exec, [[maybe_unused]] int device) {
#if CUDART_VERSION >= 12080
  const cudaStream_t stream = exec.stream.get();
  if (stream == nullptr || is_capturing(exec)) return;  // the first is of the current device
  int owner = device;
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamGetDevice(stream, &owner));
  if (owner == device) return;
  throw invalid_argument(
      fmt::format("execution.stream: is a stream of device {}, the call runs on "
                  "device {}",
                  owner, device));
#endif
}

void refuse_capture(const execution& exec, const char* why) {
  if (!is_capturing(exec)) return;
  throw invalid_argument(fmt::format(
      "execution.stream: is being captured in a graph, but {} waits for the stream", why));
}

void wait_for_callers_stream(const execution& exec, std::span<const int> devices) {
  refuse_capture(exec, "a result in host memory");
  const cudaStream_t stream = exec.stream.get();
  if (stream != nullptr) {
    GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream));
    return;
  }
  for (const int device : devices) {
    const device_guard guard(device);
    GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(nullptr));
  }
}

index_t first_nan_column(const detail::any_device_matrix_view& table, index_t row,
                         const execution& exec, std::span<const index_t> columns) {
  const device_guard guard(device_of(exec));
  const stream work;
  return std::visit(
      [&]<class T>(const device_matrix_view<const T>& view) {
        std::vector<T> own(static_cast<std::size_t>(view.cols()));
        GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(own.data(), view.row(row), own.size() * sizeof(T),
                                                  cudaMemcpyDefault, work.get()));
        work.synchronize();
        const auto is_nan = [](T value) { return value != value; };
        if (columns.empty()) return std::ranges::find_if(own, is_nan) - own.begin();
        const auto at = std::ranges::find_if(
            columns, [&](index_t k) { return is_nan(own[static_cast<std::size_t>(k)]); });
        return at == columns.end() ? view.cols() : *at;
      },
      table);
}

std::vector<index_t> infinite_rows(const detail::any_device_matrix_view& table,
                                   std::span<const index_t> rows, std::span<const index_t> columns,
                                   const execution& exec) {
  constexpr std::size_t block_bytes = std::size_t{16} << 20;
  std::vector<index_t> out;
  const device_guard guard(device_of(exec));
  const stream work;
  std::visit(
      [&]<class T>(const device_matrix_view<const T>& view) {
        if constexpr (std::floating_point<T>) {
          const auto is_infinite = [](T value) { return std::isinf(value); };
          const auto cols = static_cast<std::size_t>(view.cols());
          const std::size_t most = std::max<std::size_t>(1, block_bytes / (cols * sizeof(T) + 1));
          std::vector<T> block;
          for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
            // Rows that follow each other are copied at once.
            while (end < rows.size() && end - begin < most &&
                   rows[end] == rows[begin] + static_cast<index_t>(end - begin)) {
              ++end;
            }
            block.resize((end - begin) * cols);
            GPU_SIMILARITY_CUDA_CHECK(cudaMemcpy2DAsync(
                block.data(), cols * sizeof(T), view.row(rows[begin]),
                static_cast<std::size_t>(view.row_stride()) * sizeof(T), cols * sizeof(T),
                end - begin, cudaMemcpyDeviceToHost, work.get()));
            work.synchronize();
            for (std::size_t k = begin; k < end; ++k) {
              const T* const own = block.data() + (k - begin) * cols;
              const bool holds = columns.empty()
                                     ? std::any_of(own, own + cols, is_infinite)
                                     : std::any_of(columns.begin(), columns.end(),
                                                   [&](index_t c) { return is_infinite(own[c]); });
              if (holds) out.push_back(rows[k]);
            }
          }
        }
      },
      table);
  return out;
}

std::vector<row_ties> find_device_ties(const detail::any_device_matrix_view& table,
                                       const execution& exec) {
  constexpr std::size_t block_bytes = std::size_t{64} << 20;
  const void* const memory = std::visit(
      [](const auto& view) -> const void* { return view.empty() ? nullptr : view.data(); }, table);
  std::vector<row_ties> out;
  if (memory == nullptr) return out;
  const cudaPointerAttributes memory_is = attributes_of(memory);
  const int device = memory_is.type == cudaMemoryTypeDevice ? memory_is.device : device_of(exec);
  const device_guard guard(device);
  wait_for_callers_stream(exec, {&device, 1});
  const stream work;
  std::visit(
      [&]<class T>(const device_matrix_view<const T>& view) {
        out.resize(static_cast<std::size_t>(view.rows()));
        const auto row_bytes =
            static_cast<std::size_t>(kernels::sign_row_layout{view.cols()}.pitch()) * 8;
        const auto fitting =
            static_cast<index_t>(std::max<std::size_t>(block_bytes / row_bytes, 1));
        const index_t step = std::min(fitting, view.rows());
        const auto rows = static_cast<std::size_t>(step);
        const device_buffer<std::byte> packed(rows * row_bytes, work.get());
        const device_buffer<std::int64_t> square_sums(rows, work.get());
        const device_buffer<row_ties> ties(rows, work.get());
        for (index_t begin = 0; begin < view.rows(); begin += step) {
          const index_t count = std::min(step, view.rows() - begin);
          kernels::launch_pack_signs<T>({view.row(begin), count, view.cols(), view.row_stride()},
                                        packed.data(), square_sums.data(), work.get());
          kernels::launch_gather_ties(packed.data(), count, view.cols(), ties.data(), work.get());
          GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(
              out.data() + begin, ties.data(), static_cast<std::size_t>(count) * sizeof(row_ties),
              cudaMemcpyDeviceToHost, work.get()));
        }
      },
      table);
  work.synchronize();
  return out;
}

}  // namespace gpu::cuda
