// top_k on CUDA: device, stream and memory around the launches.
#include "cuda/top_k/top_k.hpp"

#include <cuda_runtime_api.h>

#include "base/element_types.hpp"
#include "cuda/transfer/host_staging.hpp"
#include "cuda_runtime/cuda_check.hpp"
#include "cuda_runtime/device_info.hpp"
#include "cuda_runtime/device_limits.hpp"
#include "cuda_runtime/scratch.hpp"
#include "cuda_runtime/stream.hpp"
#include "kernels/top_k/kernels.hpp"

namespace gpu::cuda {
namespace {

kernels::top_k_job make_job(index_t rows, index_t cols, index_t k, bool distinct,
                            const top_k_options& options, int device) {
  return {.rows = rows,
          .cols = cols,
          .k = k,
          .largest = options.select == top_k_select::largest,
          .sorted = options.order == top_k_order::sorted,
          .distinct = distinct,
          .variant = options.variant,
          .multiprocessors = limits_of(device).multiprocessors,
          .shared_bytes = limits_of(device).block_shared_bytes};
}

// Device memory of a batch of rows of host data.
template <class T>
struct batch_memory {
  T* input;
  T* values;
  index_t* indices;
  index_t* counts = nullptr;  // distinct only
  index_t* found = nullptr;
  device_workspace scratch = {};
};

}  // namespace

std::size_t top_k_shared_bytes(const execution& exec) {
  return limits_of(device_of(exec)).block_shared_bytes;
}

template <class T>
std::size_t top_k_workspace(index_t rows, index_t cols, index_t k, bool distinct,
                            const top_k_options& options) {
  const device_guard guard(device_of(options.exec));
  return kernels::top_k_workspace<T>(
      make_job(rows, cols, k, distinct, options, device_of(options.exec)));
}

template <class T>
void top_k(device_matrix_view<const T> data, index_t k, device_matrix_view<T> values,
           device_matrix_view<index_t> indices, device_matrix_view<index_t> counts, index_t* found,
           const top_k_options& options) {
  const int device = device_of(options.exec);
  const device_guard guard(device);
  const cudaStream_t stream = options.exec.stream.get();
  const bool distinct = found != nullptr;
  if (distinct && data.cols() == 0) {
    GPU_SIMILARITY_CUDA_CHECK(
        cudaMemsetAsync(found, 0, static_cast<std::size_t>(data.rows()) * sizeof(index_t), stream));
    return;
  }
  const kernels::top_k_job job = make_job(data.rows(), data.cols(), k, distinct, options, device);
  const scratch memory(options.workspace,
                       options.workspace.empty() ? kernels::top_k_workspace<T>(job) : 0, stream);
  kernels::launch_top_k<T>(job, data, values, indices, memory.data(), stream, counts, found);
}

template <class T>
void top_k(matrix_view<const T> data, index_t k, T* values, index_t* indices, index_t* counts,
           index_t* found, const top_k_options& options) {
  const bool distinct = found != nullptr;
  const device_guard guard(device_of(options.exec));
  const auto divide = [&](arena& memory, index_t rows) {
    const auto entries = static_cast<std::size_t>(rows * k);
    batch_memory<T> of{.input = memory.take<T>(static_cast<std::size_t>(rows * data.cols())),
                       .values = memory.take<T>(entries),
                       .indices = memory.take<index_t>(entries)};
    if (distinct) {
      of.counts = memory.take<index_t>(entries);
      of.found = memory.take<index_t>(static_cast<std::size_t>(rows));
    }
    const std::size_t bytes = top_k_workspace<T>(rows, data.cols(), k, distinct, options);
    of.scratch = take_scratch(memory, bytes);
    return of;
  };
  const auto start = [&](const batch_memory<T>& on, staged_rows rows, cudaStream_t stream) {
    upload_rows(on.input, data, rows, stream);
    top_k_options batch = options;
    batch.exec.stream = stream;
    batch.workspace = on.scratch;
    const device_matrix_view<index_t> batch_counts =
        distinct ? device_matrix_view<index_t>(on.counts, rows.count, k)
                 : device_matrix_view<index_t>();
    top_k<T>({on.input, rows.count, data.cols()}, k, {on.values, rows.count, k},
             {on.indices, rows.count, k}, batch_counts, on.found, batch);
  };
  const auto download = [&](const batch_memory<T>& on, staged_rows rows, cudaStream_t stream) {
    download_rows<T>({values, data.rows(), k}, on.values, rows, stream);
    download_rows<index_t>({indices, data.rows(), k}, on.indices, rows, stream);
    if (!distinct) return;
    download_rows<index_t>({counts, data.rows(), k}, on.counts, rows, stream);
    download_rows<index_t>({found, data.rows(), 1}, on.found, rows, stream);
  };
  const char* const what = distinct ? "top_k_distinct of one row" : "top_k of one row";
  run_in_batches({.what = what, .rows = data.rows()}, options.exec, divide, start, download);
}

#define GPU_SIMILARITY_INSTANTIATE(T)                                                             \
  template std::size_t top_k_workspace<T>(index_t, index_t, index_t, bool, const top_k_options&); \
  template void top_k<T>(matrix_view<const T>, index_t, T*, index_t*, index_t*, index_t*,         \
                         const top_k_options&);                                                   \
  template void top_k<T>(device_matrix_view<const T>, index_t, device_matrix_view<T>,             \
                         device_matrix_view<index_t>, device_matrix_view<index_t>, index_t*,      \
                         const top_k_options&);
GPU_SIMILARITY_FOR_EACH_ELEMENT_TYPE(GPU_SIMILARITY_INSTANTIATE)
#undef GPU_SIMILARITY_INSTANTIATE

}  // namespace gpu::cuda
