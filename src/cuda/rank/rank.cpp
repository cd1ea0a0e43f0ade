#include "cuda/rank/rank.hpp"

#include <optional>

#include "base/element_types.hpp"
#include "cuda/transfer/host_staging.hpp"
#include "cuda_runtime/device_info.hpp"
#include "cuda_runtime/stream.hpp"
#include "kernels/rank/kernels.hpp"

namespace gpu::cuda {
namespace {

// `limit`: of the scratch of a sort, bytes; 0: the policy's.
kernels::rank_request request_of(const rank_options& options, std::size_t limit) {
  return {.ties = options.ties,
          .order = options.order,
          .variant = options.variant,
          .workspace_bytes = limit};
}

}  // namespace

template <class T>
void rank_rows(matrix_view<const T> data, matrix_view<double> ranks, const rank_options& options) {
  struct batch_memory {
    T* data;
    double* ranks;
    void* scratch;
  };
  const device_guard guard(device_of(options.exec));
  const index_t cols = data.cols();
  // Where a limit is set, batches keep it: a sort takes what it takes for all their rows.
  const kernels::rank_request request = request_of(options, 0);
  const auto divide = [&](arena& memory, index_t rows) {
    const auto elements = static_cast<std::size_t>(rows * cols);
    return batch_memory{
        .data = memory.take<T>(elements),
        .ranks = memory.take<double>(elements),
        .scratch = memory.take<std::byte>(kernels::rank_workspace_bytes<T>(rows, cols, request))};
  };
  const auto start = [&](const batch_memory& on, staged_rows rows, cudaStream_t stream) {
    upload_rows(on.data, data, rows, stream);
    kernels::rank_request batch = request;
    batch.workspace = on.scratch;
    kernels::launch_ranks<T>({on.data, rows.count, cols}, {on.ranks, rows.count, cols}, batch,
                             stream);
  };
  const auto finish = [&](const batch_memory& on, staged_rows rows, cudaStream_t stream) {
    download_rows<double>(ranks, on.ranks, rows, stream);
  };
  run_in_batches({.what = "rank_rows of one row", .rows = data.rows()}, options.exec, divide, start,
                 finish);
}

template <class T>
std::size_t rank_workspace(index_t rows, index_t cols, const rank_options& options) {
  if (options.variant != rank_variant::segmented_sort) return 0;
  const device_guard guard(device_of(options.exec));
  return kernels::rank_workspace_bytes<T>(rows, cols,
                                          request_of(options, options.exec.workspace_bytes));
}

template <class T>
void rank_rows(device_matrix_view<const T> data, device_matrix_view<double> ranks,
               const rank_options& options) {
  // Not select_device(): asking for a device's properties takes longer than a small ranking.
  std::optional<device_guard> guard;
  if (!options.exec.devices.empty()) guard.emplace(options.exec.devices.front());
  kernels::rank_request request = request_of(options, options.exec.workspace_bytes);
  request.workspace = options.workspace.data();
  kernels::launch_ranks<T>(data, ranks, request, options.exec.stream.get());
}

#define GPU_SIMILARITY_INSTANTIATE(T)                                                         \
  template std::size_t rank_workspace<T>(index_t, index_t, const rank_options&);              \
  template void rank_rows<T>(matrix_view<const T>, matrix_view<double>, const rank_options&); \
  template void rank_rows<T>(device_matrix_view<const T>, device_matrix_view<double>,         \
                             const rank_options&);

GPU_SIMILARITY_FOR_EACH_ELEMENT_TYPE(GPU_SIMILARITY_INSTANTIATE)

}  // namespace gpu::cuda
