// top_k on CUDA: device, stream and buffers around the launches.
#include "cuda/top_k/top_k.hpp"

#include <cuda_runtime_api.h>

#include "base/element_types.hpp"
#include "cuda_runtime/cuda_check.hpp"
#include "cuda_runtime/device_buffer.hpp"
#include "cuda_runtime/device_info.hpp"
#include "cuda_runtime/device_limits.hpp"
#include "cuda_runtime/scratch.hpp"
#include "cuda_runtime/stream.hpp"
#include "kernels/top_k/kernels.hpp"

namespace gpu::cuda {
namespace {

kernels::top_k_job make_job(index_t rows, index_t cols, index_t k, const top_k_options& options,
                            int device) {
  return {.rows = rows,
          .cols = cols,
          .k = k,
          .largest = options.select == top_k_select::largest,
          .sorted = options.order == top_k_order::sorted,
          .variant = options.variant,
          .multiprocessors = limits_of(device).multiprocessors,
          .shared_bytes = limits_of(device).block_shared_bytes};
}

// Copies host data to the device, rows without padding.
template <class T>
device_buffer<T> upload(matrix_view<const T> data, cudaStream_t stream) {
  device_buffer<T> buffer(static_cast<std::size_t>(data.rows() * data.cols()), stream);
  const std::size_t row_bytes = static_cast<std::size_t>(data.cols()) * sizeof(T);
  GPU_SIMILARITY_CUDA_CHECK(
      cudaMemcpy2DAsync(buffer.data(), row_bytes, data.data(),
                        static_cast<std::size_t>(data.row_stride()) * sizeof(T), row_bytes,
                        static_cast<std::size_t>(data.rows()), cudaMemcpyHostToDevice, stream));
  return buffer;
}

template <class T>
void download(T* host, const T* device, index_t count, cudaStream_t stream) {
  GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(
      host, device, static_cast<std::size_t>(count) * sizeof(T), cudaMemcpyDeviceToHost, stream));
}

}  // namespace

std::size_t top_k_shared_bytes(const execution& exec) {
  return limits_of(device_of(exec)).block_shared_bytes;
}

template <class T>
std::size_t top_k_workspace(index_t rows, index_t cols, index_t k, bool distinct,
                            const top_k_options& options) {
  const device_guard guard(device_of(options.exec));
  const kernels::top_k_job job = make_job(rows, cols, k, options, device_of(options.exec));
  return distinct ? kernels::top_k_distinct_workspace<T>(job) : kernels::top_k_workspace<T>(job);
}

template <class T>
void top_k(device_matrix_view<const T> data, index_t k, device_matrix_view<T> values,
           device_matrix_view<index_t> indices, const top_k_options& options) {
  const int device = device_of(options.exec);
  const device_guard guard(device);
  const cudaStream_t stream = options.exec.stream.get();
  const kernels::top_k_job job = make_job(data.rows(), data.cols(), k, options, device);
  const scratch memory(options.workspace,
                       options.workspace.empty() ? kernels::top_k_workspace<T>(job) : 0, stream);
  kernels::launch_top_k<T>(job, data, values, indices, memory.data(), stream);
}

template <class T>
void top_k_distinct(device_matrix_view<const T> data, index_t k, device_matrix_view<T> values,
                    device_matrix_view<index_t> indices, device_matrix_view<index_t> counts,
                    index_t* found, const top_k_options& options) {
  const int device = device_of(options.exec);
  const device_guard guard(device);
  const cudaStream_t stream = options.exec.stream.get();
  if (data.cols() == 0) {
    GPU_SIMILARITY_CUDA_CHECK(
        cudaMemsetAsync(found, 0, static_cast<std::size_t>(data.rows()) * sizeof(index_t), stream));
    return;
  }
  const kernels::top_k_job job = make_job(data.rows(), data.cols(), k, options, device);
  const scratch memory(options.workspace,
                       options.workspace.empty() ? kernels::top_k_distinct_workspace<T>(job) : 0,
                       stream);
  kernels::launch_top_k_distinct<T>(job, data, values, indices, counts, found, memory.data(),
                                    stream);
}

template <class T>
void top_k(matrix_view<const T> data, index_t k, T* values, index_t* indices,
           const top_k_options& options) {
  const device_guard guard(device_of(options.exec));
  const stream work;
  const cudaStream_t on = work.get();
  const device_buffer<T> input = upload(data, on);
  const index_t entries = data.rows() * k;
  const device_buffer<T> best(static_cast<std::size_t>(entries), on);
  const device_buffer<index_t> positions(static_cast<std::size_t>(entries), on);
  top_k_options on_stream = options;
  on_stream.exec.stream = on;
  on_stream.workspace = {};
  top_k<T>(device_matrix_view<const T>(input.data(), data.rows(), data.cols()), k,
           {best.data(), data.rows(), k}, {positions.data(), data.rows(), k}, on_stream);
  download(values, best.data(), entries, on);
  download(indices, positions.data(), entries, on);
  work.synchronize();
}

template <class T>
void top_k_distinct(matrix_view<const T> data, index_t k, T* values, index_t* indices,
                    index_t* counts, index_t* found, const top_k_options& options) {
  const device_guard guard(device_of(options.exec));
  const stream work;
  const cudaStream_t on = work.get();
  const device_buffer<T> input = upload(data, on);
  const index_t entries = data.rows() * k;
  const device_buffer<T> best(static_cast<std::size_t>(entries), on);
  const device_buffer<index_t> positions(static_cast<std::size_t>(entries), on);
  const device_buffer<index_t> occurrences(static_cast<std::size_t>(entries), on);
  const device_buffer<index_t> there(static_cast<std::size_t>(data.rows()), on);
  top_k_options on_stream = options;
  on_stream.exec.stream = on;
  on_stream.workspace = {};
  top_k_distinct<T>(device_matrix_view<const T>(input.data(), data.rows(), data.cols()), k,
                    {best.data(), data.rows(), k}, {positions.data(), data.rows(), k},
                    {occurrences.data(), data.rows(), k}, there.data(), on_stream);
  download(values, best.data(), entries, on);
  download(indices, positions.data(), entries, on);
  download(counts, occurrences.data(), entries, on);
  download(found, there.data(), data.rows(), on);
  work.synchronize();
}

#define GPU_SIMILARITY_INSTANTIATE(T)                                                              \
  template std::size_t top_k_workspace<T>(index_t, index_t, index_t, bool, const top_k_options&);  \
  template void top_k<T>(matrix_view<const T>, index_t, T*, index_t*, const top_k_options&);       \
  template void top_k_distinct<T>(matrix_view<const T>, index_t, T*, index_t*, index_t*, index_t*, \
                                  const top_k_options&);                                           \
  template void top_k<T>(device_matrix_view<const T>, index_t, device_matrix_view<T>,              \
                         device_matrix_view<index_t>, const top_k_options&);                       \
  template void top_k_distinct<T>(device_matrix_view<const T>, index_t, device_matrix_view<T>,     \
                                  device_matrix_view<index_t>, device_matrix_view<index_t>,        \
                                  index_t*, const top_k_options&);
GPU_SIMILARITY_FOR_EACH_ELEMENT_TYPE(GPU_SIMILARITY_INSTANTIATE)
#undef GPU_SIMILARITY_INSTANTIATE

}  // namespace gpu::cuda
