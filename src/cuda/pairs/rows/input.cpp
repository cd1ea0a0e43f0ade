#include "cuda/pairs/rows/input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <gpu/error.hpp>

#include "cuda/pairs/rows/gathered_block.hpp"
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
  const device_table_view view = detail::device_view(table);
  return view.empty() ? nullptr : view.data();
}

// The device whose memory a table is in; the device of the call if every device reads it.
int device_of_table(const device_table_view& table, const execution& exec) {
  const cudaPointerAttributes memory_is = attributes_of(table.data());
  return memory_is.type == cudaMemoryTypeDevice ? memory_is.device : device_of(exec);
}

// Rows of a table of the current device as doubles in host memory. Waits.
std::vector<double> read_rows(const device_table_view& table, detail::index_range rows,
                              const stream& work) {
  const auto elements = static_cast<std::size_t>(rows.size() * table.cols());
  const device_buffer<double> gathered(elements, work.get());
  std::vector<double> out(elements);
  kernels::launch_gather<double>(detail::rows_of(table, rows.begin, rows.size()), nullptr,
                                 table.cols(), gathered.data(), work.get());
  GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(out.data(), gathered.data(), gathered.bytes(),
                                            cudaMemcpyDeviceToHost, work.get()));
  work.synchronize();
  return out;
}

// Throws where a 64-bit integer is no double. Waits for the caller's stream.
template <class Integer>
void refuse_inexact(const char* name, const device_table_view& table, const execution& exec) {
  refuse_capture(exec, "a table of 64-bit integers");
  const device_guard guard(device_of_table(table, exec));
  const cudaStream_t stream = exec.stream.get();
  const device_buffer<unsigned long long> found(1, stream);
  unsigned long long first = ~0ULL;
  const auto copy = [&](void* to, const void* from, std::size_t bytes) {
    GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
  };
  copy(found.data(), &first, sizeof first);
  kernels::launch_find_inexact<Integer>(table, found.data(), stream);
  copy(&first, found.data(), sizeof first);
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream));
  if (first == ~0ULL) return;
  const auto row = static_cast<index_t>(first) / table.cols();
  const auto col = static_cast<index_t>(first) % table.cols();
  Integer value{};
  copy(&value,
       static_cast<const Integer*>(table.data()) + row * table.row_stride() +
           col * table.col_stride(),
       sizeof value);
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream));
  throw invalid_argument(
      fmt::format("{}: got {} at row {}, column {}, expected integers up to 2^53 in magnitude in "
                  "device memory; ranks of tables in host memory take larger ones",
                  name, value, row, col));
}

void check_table(const char* name, const detail::any_table& table, std::span<const int> devices,
                 const execution& exec) {
  const device_table_view view = detail::device_view(table);
  if (view.empty()) return;
  check_memory(name, view.data(), devices);
  if (devices.size() > 1 && !detail::lies_as_read(view)) {
    throw unsupported(
        fmt::format("{}: got columns that lie apart, or a type that is converted, and {} devices; "
                    "expected one device, or rows of int8 to int32, uint8, uint16, float or double",
                    name, devices.size()));
  }
  if (view.type() == device_element::int64) refuse_inexact<std::int64_t>(name, view, exec);
  if (view.type() == device_element::uint64) refuse_inexact<std::uint64_t>(name, view, exec);
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

void check_tables(const detail::pair_tables& tables, std::span<const int> devices,
                  const execution& exec) {
  check_table(detail::has_y(tables) ? "x" : "data", tables.x, devices, exec);
  if (tables.y) check_table("y", *tables.y, devices, exec);
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

index_t first_nan_column(const device_table_view& table, index_t row, const execution& exec,
                         std::span<const index_t> columns) {
  const device_guard guard(device_of_table(table, exec));
  const stream work;
  const std::vector<double> own = read_rows(table, {row, row + 1}, work);
  const auto is_nan = [](double value) { return std::isnan(value); };
  if (columns.empty()) return std::ranges::find_if(own, is_nan) - own.begin();
  const auto at = std::ranges::find_if(
      columns, [&](index_t k) { return is_nan(own[static_cast<std::size_t>(k)]); });
  return at == columns.end() ? table.cols() : *at;
}

std::vector<index_t> infinite_rows(const device_table_view& table, std::span<const index_t> rows,
                                   std::span<const index_t> columns, const execution& exec) {
  constexpr std::size_t block_bytes = std::size_t{16} << 20;
  std::vector<index_t> out;
  const device_guard guard(device_of_table(table, exec));
  const stream work;
  const auto is_infinite = [](double value) { return std::isinf(value); };
  const auto cols = static_cast<std::size_t>(table.cols());
  const std::size_t most = std::max<std::size_t>(1, block_bytes / (cols * sizeof(double) + 1));
  for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    // Rows that follow each other are copied at once.
    while (end < rows.size() && end - begin < most &&
           rows[end] == rows[begin] + static_cast<index_t>(end - begin)) {
      ++end;
    }
    const std::vector<double> block = read_rows(table, {rows[begin], rows[end - 1] + 1}, work);
    for (std::size_t k = begin; k < end; ++k) {
      const double* const own = block.data() + (k - begin) * cols;
      const bool holds = columns.empty()
                             ? std::any_of(own, own + cols, is_infinite)
                             : std::any_of(columns.begin(), columns.end(),
                                           [&](index_t c) { return is_infinite(own[c]); });
      if (holds) out.push_back(rows[k]);
    }
  }
  return out;
}

std::vector<row_ties> find_device_ties(const device_table_view& table, const execution& exec) {
  constexpr std::size_t block_bytes = std::size_t{64} << 20;
  std::vector<row_ties> out;
  if (table.empty()) return out;
  const int device = device_of_table(table, exec);
  const device_guard guard(device);
  check_table("data", table, {&device, 1}, exec);
  wait_for_callers_stream(exec, {&device, 1});
  const stream work;
  out.resize(static_cast<std::size_t>(table.rows()));
  const auto row_bytes =
      static_cast<std::size_t>(kernels::sign_row_layout{table.cols()}.pitch()) * 8;
  const std::size_t gathered_bytes = gathered_row_bytes(table);
  const auto fitting =
      static_cast<index_t>(std::max<std::size_t>(block_bytes / (row_bytes + gathered_bytes), 1));
  const index_t step = std::min(fitting, table.rows());
  const auto rows = static_cast<std::size_t>(step);
  const device_buffer<std::byte> gathered(rows * gathered_bytes, work.get());
  const device_buffer<std::byte> packed(rows * row_bytes, work.get());
  const device_buffer<std::int64_t> square_sums(rows, work.get());
  const device_buffer<row_ties> ties(rows, work.get());
  for (index_t begin = 0; begin < table.rows(); begin += step) {
    const index_t count = std::min(step, table.rows() - begin);
    with_block(table, {begin, begin + count}, gathered.data(), work.get(),
               [&]<class T>(device_matrix_view<const T> block) {
                 kernels::launch_pack_signs<T>(block, packed.data(), square_sums.data(),
                                               work.get());
               });
    kernels::launch_gather_ties(packed.data(), count, table.cols(), ties.data(), work.get());
    GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(out.data() + begin, ties.data(),
                                              static_cast<std::size_t>(count) * sizeof(row_ties),
                                              cudaMemcpyDeviceToHost, work.get()));
  }
  work.synchronize();
  return out;
}

}  // namespace gpu::cuda
