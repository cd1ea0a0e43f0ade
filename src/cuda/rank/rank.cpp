#include "cuda/rank/rank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include <gpu/error.hpp>

#include "base/element_types.hpp"
#include "cuda_runtime/cuda_check.hpp"
#include "cuda_runtime/device_buffer.hpp"
#include "cuda_runtime/device_info.hpp"
#include "cuda_runtime/stream.hpp"
#include "kernels/rank/kernels.hpp"

namespace gpu::cuda {
namespace {

// Device memory of a host call where the caller sets no limit. Blocks of rows are then large enough
// for copies at full speed; a row that is longer is a block of its own.
constexpr std::size_t default_workspace_bytes = std::size_t{1} << 30;

/// How device memory is divided: two blocks of rows in flight, and the scratch of the sort.
struct memory_split {
  index_t block_rows;
  std::size_t sort_bytes;
};

memory_split split_memory(index_t rows, index_t cols, std::size_t element_bytes,
                          const rank_options& options) {
  const bool sorts = options.variant == rank_variant::segmented_sort;
  const std::size_t row_bytes = static_cast<std::size_t>(cols) * (element_bytes + sizeof(double));
  // A sort needs about as much again per row as the row and its ranks: halve the memory.
  const std::size_t limit = options.exec.workspace_bytes;
  const std::size_t asked = limit == 0 ? default_workspace_bytes : limit;
  const std::size_t for_blocks = sorts ? asked / 2 : asked;
  const auto affordable = static_cast<index_t>(for_blocks / 2 / row_bytes);
  if (limit != 0 && affordable == 0) {
    const std::size_t needed = row_bytes * (sorts ? 4 : 2);
    throw out_of_memory(
        fmt::format("execution.workspace_bytes: {} bytes do not hold two rows of {} "
                    "columns and their ranks, which take {}",
                    limit, cols, needed),
        needed);
  }
  return {std::clamp<index_t>(affordable, 1, rows), limit == 0 ? 0 : limit - for_blocks};
}

/// One block of rows on the device, with a stream of its own.
template <class T>
class row_block {
 public:
  row_block(index_t rows, index_t cols)
      : data_(static_cast<std::size_t>(rows * cols), stream_.get()),
        ranks_(static_cast<std::size_t>(rows * cols), stream_.get()) {}

  /// Copies rows [first, last) up and ranks them.
  void start(matrix_view<const T> data, index_t first, index_t last,
             const kernels::rank_request& request) {
    first_ = first;
    last_ = last;
    const index_t cols = data.cols();
    copy(data_.data(), cols, data.row(first), data.row_stride(), cols, cudaMemcpyHostToDevice);
    kernels::launch_ranks<T>({data_.data(), last - first, cols},
                             {ranks_.data(), last - first, cols}, request, stream_.get());
  }

  /// Copies the ranks of the rows started last down, and waits for them.
  void finish(matrix_view<double> ranks) {
    copy(ranks.row(first_), ranks.row_stride(), ranks_.data(), ranks.cols(), ranks.cols(),
         cudaMemcpyDeviceToHost);
    stream_.synchronize();
  }

 private:
  template <class U>
  void copy(U* to, index_t to_stride, const U* from, index_t from_stride, index_t cols,
            cudaMemcpyKind kind) {
    const auto bytes = [](index_t count) { return static_cast<std::size_t>(count) * sizeof(U); };
    const auto rows = static_cast<std::size_t>(last_ - first_);
    if (to_stride == cols && from_stride == cols) {
      GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes(cols) * rows, kind, stream_.get()));
    } else {
      GPU_SIMILARITY_CUDA_CHECK(cudaMemcpy2DAsync(to, bytes(to_stride), from, bytes(from_stride),
                                                  bytes(cols), rows, kind, stream_.get()));
    }
  }

  stream stream_;
  device_buffer<T> data_;
  device_buffer<double> ranks_;
  index_t first_ = 0;
  index_t last_ = 0;
};

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
  const device_guard guard(select_device(options.exec).ordinal);
  const index_t rows = data.rows();
  const auto [block_rows, sort_bytes] = split_memory(rows, data.cols(), sizeof(T), options);
  const kernels::rank_request request = request_of(options, sort_bytes);
  // The next block goes up and is ranked before the last one comes down: the copy down waits.
  std::array<row_block<T>, 2> blocks{row_block<T>(block_rows, data.cols()),
                                     row_block<T>(rows > block_rows ? block_rows : 0, data.cols())};
  index_t count = 0;
  for (index_t first = 0; first < rows; first += block_rows, ++count) {
    blocks[static_cast<std::size_t>(count % 2)].start(data, first,
                                                      std::min(rows, first + block_rows), request);
    if (count > 0) blocks[static_cast<std::size_t>((count - 1) % 2)].finish(ranks);
  }
  blocks[static_cast<std::size_t>((count - 1) % 2)].finish(ranks);
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
