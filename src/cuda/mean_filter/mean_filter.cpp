#include "cuda/mean_filter/mean_filter.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <gpu/error.hpp>

#include "base/element_types.hpp"
#include "cuda/transfer/host_staging.hpp"
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

}  // namespace

template <class In, class Out>
void filter(device_matrix_view<const In> in, std::span<const double> weights,
            device_matrix_view<Out> out, const filter_shape& shape, mean_filter_variant variant,
            nan_policy nans, device_workspace workspace, const execution& exec) {
  const std::size_t bytes = filter_workspace(shape, std::ssize(weights), variant);
  check_workspace(bytes, exec);
  const device_guard guard(device_of(exec));
  const cudaStream_t stream = exec.stream.get();
  const scratch memory(workspace, bytes, stream);
  if (weights.empty()) {
    kernels::launch_mean_filter(in, out, shape, variant, nans, memory.data(), stream);
    return;
  }
  double flipped[max_convolve_weights];
  std::reverse_copy(weights.begin(), weights.end(), flipped);
  kernels::launch_correlate(in, out, shape, std::span<const double>(flipped, weights.size()),
                            variant, reinterpret_cast<double*>(memory.data()), stream);
}

template <class In, class Out>
void filter(matrix_view<const In> in, std::span<const double> weights, matrix_view<Out> out,
            const filter_shape& shape, mean_filter_variant variant, nan_policy nans,
            const execution& exec) {
  struct batch_memory {
    In* in;
    Out* out;
    device_workspace scratch;
  };
  const auto shape_of = [&](index_t rows) {
    filter_shape batch = shape;
    batch.rows = rows;
    return batch;
  };
  const auto divide = [&](arena& memory, index_t rows) {
    const std::size_t bytes = filter_workspace(shape_of(rows), std::ssize(weights), variant);
    return batch_memory{.in = memory.take<In>(static_cast<std::size_t>(rows * in.cols())),
                        .out = memory.take<Out>(static_cast<std::size_t>(rows * out.cols())),
                        .scratch = take_scratch(memory, bytes)};
  };
  const auto start = [&](const batch_memory& on, staged_rows rows, cudaStream_t stream) {
    upload_rows(on.in, in, rows, stream);
    execution on_stream = exec;
    on_stream.stream = stream_ref(stream);
    on_stream.workspace_bytes = 0;  // kept by the batches
    filter(device_matrix_view<const In>(on.in, rows.count, in.cols()), weights,
           device_matrix_view<Out>(on.out, rows.count, out.cols()), shape_of(rows.count), variant,
           nans, on.scratch, on_stream);
  };
  const auto finish = [&](const batch_memory& on, staged_rows rows, cudaStream_t stream) {
    download_rows<Out>(out, on.out, rows, stream);
  };
  const device_guard guard(device_of(exec));
  const char* const what = weights.empty() ? "mean_filter of one row" : "convolve of one row";
  run_in_batches({.what = what, .rows = in.rows()}, exec, divide, start, finish);
}

index_t filter_tile(std::size_t element_bytes, mean_filter_variant variant) {
  return kernels::mean_filter_tile_outputs(element_bytes, variant);
}

std::size_t filter_workspace(const filter_shape& shape, index_t weights,
                             mean_filter_variant variant) {
  if (weights == 0) return kernels::mean_filter_workspace_bytes(shape, variant);
  // The variant `direct` reads weights from device memory.
  return variant == mean_filter_variant::direct ? static_cast<std::size_t>(weights) * sizeof(double)
                                                : 0;
}

#define GPU_SIMILARITY_INSTANTIATE(In, Out)                                                       \
  template void filter(matrix_view<const In>, std::span<const double>, matrix_view<Out>,          \
                       const detail::filter_shape&, mean_filter_variant, nan_policy,              \
                       const execution&);                                                         \
  template void filter(device_matrix_view<const In>, std::span<const double>,                     \
                       device_matrix_view<Out>, const detail::filter_shape&, mean_filter_variant, \
                       nan_policy, device_workspace, const execution&);
GPU_SIMILARITY_FOR_EACH_FILTER_TYPES(GPU_SIMILARITY_INSTANTIATE)
#undef GPU_SIMILARITY_INSTANTIATE

}  // namespace gpu::cuda
