#include "cuda/mean_filter/mean_filter.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <gpu/error.hpp>

#include "base/element_types.hpp"
#include "cuda_runtime/cuda_check.hpp"
#include "cuda_runtime/device_buffer.hpp"
#include "cuda_runtime/device_info.hpp"
#include "cuda_runtime/scratch.hpp"
#include "cuda_runtime/stream.hpp"
#include "kernels/mean_filter/kernels.hpp"

namespace gpu::cuda {
namespace {

using detail::filter_shape;

void check_workspace(std::size_t needed, const execution& exec) {
  if (exec.workspace_bytes == 0 || needed <= exec.workspace_bytes) return;
  throw out_of_memory(fmt::format("options.exec.workspace_bytes: got {}, this call needs {}",
                                  exec.workspace_bytes, needed),
                      needed);
}

// Device copies of host views on a stream of their own; `launch` filters them.
template <class In, class Out, class Launch>
void filter_host(matrix_view<const In> in, matrix_view<Out> out, const execution& exec,
                 const Launch& launch) {
  const device_guard guard(device_of(exec));
  const stream work;
  const auto elements = [](index_t rows, index_t cols) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
  };
  const device_buffer<In> device_in(elements(in.rows(), in.cols()), work.get());
  const device_buffer<Out> device_out(elements(out.rows(), out.cols()), work.get());
  const auto bytes = [](index_t count, std::size_t size) {
    return static_cast<std::size_t>(count) * size;
  };
  GPU_SIMILARITY_CUDA_CHECK(
      cudaMemcpy2DAsync(device_in.data(), bytes(in.cols(), sizeof(In)), in.data(),
                        bytes(in.row_stride(), sizeof(In)), bytes(in.cols(), sizeof(In)),
                        static_cast<std::size_t>(in.rows()), cudaMemcpyHostToDevice, work.get()));
  execution on_stream = exec;
  on_stream.stream = stream_ref(work.get());
  launch(device_matrix_view<const In>(device_in.data(), in.rows(), in.cols()),
         device_matrix_view<Out>(device_out.data(), out.rows(), out.cols()), on_stream);
  GPU_SIMILARITY_CUDA_CHECK(
      cudaMemcpy2DAsync(out.data(), bytes(out.row_stride(), sizeof(Out)), device_out.data(),
                        bytes(out.cols(), sizeof(Out)), bytes(out.cols(), sizeof(Out)),
                        static_cast<std::size_t>(out.rows()), cudaMemcpyDeviceToHost, work.get()));
  work.synchronize();
}

}  // namespace

template <class In, class Out>
void mean_filter(matrix_view<const In> in, matrix_view<Out> out, const filter_shape& shape,
                 mean_filter_variant variant, nan_policy nans, const execution& exec) {
  check_workspace(kernels::mean_filter_workspace_bytes(shape, variant), exec);
  filter_host(in, out, exec,
              [&](device_matrix_view<const In> from, device_matrix_view<Out> to,
                  const execution& on_stream) {
                mean_filter(from, to, shape, variant, nans, {}, on_stream);
              });
}

template <class In, class Out>
void convolve(matrix_view<const In> in, std::span<const double> weights, matrix_view<Out> out,
              const filter_shape& shape, mean_filter_variant variant, const execution& exec) {
  filter_host(in, out, exec,
              [&](device_matrix_view<const In> from, device_matrix_view<Out> to,
                  const execution& on_stream) {
                convolve(from, weights, to, shape, variant, {}, on_stream);
              });
}

template <class In, class Out>
void mean_filter(device_matrix_view<const In> in, device_matrix_view<Out> out,
                 const filter_shape& shape, mean_filter_variant variant, nan_policy nans,
                 device_workspace workspace, const execution& exec) {
  const std::size_t bytes = kernels::mean_filter_workspace_bytes(shape, variant);
  check_workspace(bytes, exec);
  const device_guard guard(device_of(exec));
  const scratch memory(workspace, bytes, exec.stream.get());
  kernels::launch_mean_filter(in, out, shape, variant, nans, memory.data(), exec.stream.get());
}

template <class In, class Out>
void convolve(device_matrix_view<const In> in, std::span<const double> weights,
              device_matrix_view<Out> out, const filter_shape& shape, mean_filter_variant variant,
              device_workspace workspace, const execution& exec) {
  double flipped[max_convolve_weights];
  std::reverse_copy(weights.begin(), weights.end(), flipped);
  const device_guard guard(device_of(exec));
  const std::size_t in_memory = variant == mean_filter_variant::direct ? weights.size() : 0;
  const scratch device_weights(workspace, in_memory * sizeof(double), exec.stream.get());
  kernels::launch_correlate(in, out, shape, std::span<const double>(flipped, weights.size()),
                            variant, reinterpret_cast<double*>(device_weights.data()),
                            exec.stream.get());
}

mean_filter_tile plan_mean_filter_tile(const filter_shape& shape, std::size_t element_bytes,
                                       mean_filter_variant variant) {
  return {kernels::mean_filter_tile_outputs(shape, element_bytes, variant),
          kernels::mean_filter_workspace_bytes(shape, variant)};
}

#define GPU_SIMILARITY_INSTANTIATE(In, Out)                                                 \
  template void mean_filter(matrix_view<const In>, matrix_view<Out>, const filter_shape&,   \
                            mean_filter_variant, nan_policy, const execution&);             \
  template void convolve(matrix_view<const In>, std::span<const double>, matrix_view<Out>,  \
                         const filter_shape&, mean_filter_variant, const execution&);       \
  template void mean_filter(device_matrix_view<const In>, device_matrix_view<Out>,          \
                            const filter_shape&, mean_filter_variant, nan_policy,           \
                            device_workspace, const execution&);                            \
  template void convolve(device_matrix_view<const In>, std::span<const double>,             \
                         device_matrix_view<Out>, const filter_shape&, mean_filter_variant, \
                         device_workspace, const execution&);
GPU_SIMILARITY_FOR_EACH_FILTER_TYPES(GPU_SIMILARITY_INSTANTIATE)
#undef GPU_SIMILARITY_INSTANTIATE

}  // namespace gpu::cuda
