// Ranks rows of any length by sorting (key, column) in global memory, as many rows at a time as
// the scratch holds: cub::DeviceRadixSort for a long row alone, cub::DeviceSegmentedRadixSort (one
// block a row) for many shorter ones. Both are stable and work on the stream without waiting for
// it. Then every sorted element looks for the borders of its run of equal keys: at its neighbours
// first, then by bisection within its row. So only dense ranks need a scan over the row. Ranks are
// written scattered, in the order of the columns.

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_radix_sort.cuh>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <string>

#include <gpu/error.hpp>

#include "cuda_runtime/device_buffer.hpp"
#include "kernels/common/launch.cuh"
#include "kernels/rank/launches.cuh"
#include "plan/rank_policy.hpp"

namespace gpu::kernels {
namespace {

constexpr int threads = 256;
// CUB counts the elements of one call in 32 bits.
constexpr index_t most_chunk_elements = index_t{1} << 30;

constexpr std::size_t aligned(std::size_t bytes) {
  return (bytes + 255) / 256 * 256;
}

/// The scratch of `rows` rows: keys and columns twice, run numbers for dense ranks.
template <class Key>
struct sort_scratch {
  Key* keys;
  Key* sorted_keys;
  std::uint32_t* columns;
  std::uint32_t* sorted_columns;
  std::uint32_t* runs;
};

template <class Key>
__global__ void fill_kernel(row_source source, index_t first_row, index_t rows, Key* keys,
                            std::uint32_t* columns) {
  const index_t count = rows * source.cols;
  const index_t step = index_t{gridDim.x} * threads;
  for (index_t at = index_t{blockIdx.x} * threads + threadIdx.x; at < count; at += step) {
    const index_t row = at / source.cols;
    const index_t col = at - row * source.cols;
    keys[at] = source.plain_key<Key>(first_row + row, col) ^ static_cast<Key>(source.flip);
    columns[at] = static_cast<std::uint32_t>(col);
  }
}

/// 1 where a run of equal keys starts.
template <class Key>
struct run_head {
  const Key* keys;
  index_t cols;
  __device__ std::uint32_t operator()(index_t at) const {
    return at % cols == 0 || keys[at] != keys[at - 1] ? 1U : 0U;
  }
};

/// Where a row starts among the rows of a chunk.
struct row_start {
  index_t cols;
  __host__ __device__ index_t operator()(index_t row) const { return row * cols; }
};

/// The first place in [low, high) whose key is not below (or, Above: is above) `key`.
template <bool Above, class Key>
__device__ int bisect(const Key* keys, int low, int high, Key key) {
  while (low < high) {
    const int middle = low + (high - low) / 2;
    const bool left = Above ? keys[middle] <= key : keys[middle] < key;
    low = left ? middle + 1 : low;
    high = left ? high : middle;
  }
  return low;
}

template <class Key>
__global__ void rank_sorted_kernel(row_source source, rank_target target, tie_method ties,
                                   index_t first_row, index_t rows, sort_scratch<Key> scratch) {
  const int cols = source.cols;
  const index_t row = blockIdx.y;
  if (row >= rows) return;
  const Key* keys = scratch.sorted_keys + row * cols;
  const std::uint32_t* columns = scratch.sorted_columns + row * cols;
  // A NaN has the largest key before `flip`: it is last, or first in descending order.
  const Key flip = static_cast<Key>(source.flip);
  const bool has_nan = source.is_nan(keys[flip == 0 ? cols - 1 : 0] ^ flip);
  unsigned long long squares = 0;
  const index_t step = index_t{gridDim.x} * threads;
  for (index_t place = index_t{blockIdx.x} * threads + threadIdx.x; place < cols; place += step) {
    const int at = static_cast<int>(place);
    const Key key = keys[at];
    const bool starts = at == 0 || keys[at - 1] != key;
    const bool ends = at + 1 == cols || keys[at + 1] != key;
    const int first = starts ? at : bisect<false>(keys, 0, at, key);
    const int last = ends ? at + 1 : bisect<true>(keys, at + 1, cols, key);
    const std::uint32_t* runs = scratch.runs;
    const int distinct =
        runs == nullptr ? 0 : static_cast<int>(runs[row * cols + at] - runs[row * cols]);
    const int count = count_in_run(ties, cols, first, last, at, distinct);
    target.store(first_row + row, columns[at], count, has_nan);
    squares += static_cast<unsigned long long>(static_cast<long long>(count) * count);
  }
  for (index_t col = cols + index_t{blockIdx.x} * threads + threadIdx.x; col < target.cols;
       col += step) {
    target.store(first_row + row, col, 0, false);
  }
  if (target.square_sums != nullptr) {
    for (int lanes = 16; lanes > 0; lanes /= 2) {
      squares += __shfl_xor_sync(0xffffffffU, squares, lanes);
    }
    // Integers: the sum does not depend on the order in which warps add to it.
    if (threadIdx.x % 32 == 0 && squares != 0) {
      atomicAdd(reinterpret_cast<unsigned long long*>(target.square_sums + first_row + row),
                squares);
    }
  }
}

/// Sorts, finds the runs and writes the ranks of chunks of rows.
template <class Key>
class row_sorter {
 public:
  row_sorter(const row_source& source, const rank_target& target, tie_method ties,
             cudaStream_t stream)
      : source_(source), target_(target), ties_(ties), stream_(stream) {}

  /// Scratch for `rows` rows, bytes.
  [[nodiscard]] std::size_t bytes(index_t rows) const { return divide(rows).bytes; }

  /// Ranks all rows, `chunk_rows` at a time, in device memory of bytes(chunk_rows).
  void rank(index_t chunk_rows, std::byte* memory) {
    const auto count = static_cast<std::size_t>(chunk_rows * source_.cols);
    const division at = divide(chunk_rows);
    auto* keys = reinterpret_cast<Key*>(memory);
    auto* columns = reinterpret_cast<std::uint32_t*>(memory + at.columns);
    scratch_ = {keys, keys + count, columns, columns + count,
                dense() ? columns + 2 * count : nullptr};
    const cub_memory temporary{memory + at.temporary, at.bytes - at.temporary};
    if (target_.square_sums != nullptr) {
      GPU_SIMILARITY_CUDA_CHECK(
          cudaMemsetAsync(target_.square_sums, 0,
                          static_cast<std::size_t>(source_.rows) * sizeof(std::int64_t), stream_));
    }
    for (index_t row = 0; row < source_.rows; row += chunk_rows) {
      rank_chunk(row, std::min(chunk_rows, source_.rows - row), temporary);
    }
  }

 private:
  /// Where the parts of the scratch begin: keys at 0.
  struct division {
    std::size_t columns;
    std::size_t temporary;
    std::size_t bytes;
  };
  struct cub_memory {
    void* data;
    std::size_t bytes;
  };

  [[nodiscard]] division divide(index_t rows) const {
    const auto count = static_cast<std::size_t>(rows * source_.cols);
    const std::size_t columns = aligned(count * 2 * sizeof(Key));
    const std::size_t temporary =
        columns + aligned(count * (dense() ? 3 : 2) * sizeof(std::uint32_t));
    return {columns, temporary, temporary + cub_bytes(rows)};
  }
  [[nodiscard]] bool dense() const { return ties_ == tie_method::dense; }
  [[nodiscard]] bool whole_device() const { return source_.cols >= rank_whole_device_cols; }

  void rank_chunk(index_t first_row, index_t rows, const cub_memory& temporary) {
    const index_t count = rows * source_.cols;
    fill_kernel<Key><<<grid_blocks(count, threads * 4), threads, 0, stream_>>>(
        source_, first_row, rows, scratch_.keys, scratch_.columns);
    GPU_SIMILARITY_CHECK_LAUNCH();
    std::size_t bytes = temporary.bytes;
    if (whole_device()) {
      for (index_t row = 0; row < rows; ++row) {
        GPU_SIMILARITY_CUDA_CHECK(sort_row(temporary.data, bytes, row * source_.cols));
      }
    } else {
      GPU_SIMILARITY_CUDA_CHECK(sort_segments(temporary.data, bytes, rows));
    }
    if (dense()) GPU_SIMILARITY_CUDA_CHECK(number_runs(temporary.data, bytes, count));
    // The second grid dimension counts rows and has 16 bits.
    constexpr index_t most = 65535;
    for (index_t row = 0; row < rows; row += most) {
      const index_t some = std::min(most, rows - row);
      const dim3 grid(grid_blocks(source_.cols, threads * 4), static_cast<unsigned>(some));
      rank_sorted_kernel<Key><<<grid, threads, 0, stream_>>>(source_, target_, ties_,
                                                             first_row + row, some, moved_by(row));
      GPU_SIMILARITY_CHECK_LAUNCH();
    }
  }

  [[nodiscard]] sort_scratch<Key> moved_by(index_t row) const {
    const index_t at = row * source_.cols;
    return {scratch_.keys + at, scratch_.sorted_keys + at, scratch_.columns + at,
            scratch_.sorted_columns + at, scratch_.runs == nullptr ? nullptr : scratch_.runs + at};
  }

  // Each of these three only measures `bytes` where `temporary` is null, as CUB does.
  cudaError_t sort_row(void* temporary, std::size_t& bytes, index_t at) const {
    return cub::DeviceRadixSort::SortPairs(
        temporary, bytes, scratch_.keys + at, scratch_.sorted_keys + at, scratch_.columns + at,
        scratch_.sorted_columns + at, source_.cols, 0, source_.key_bits, stream_);
  }
  cudaError_t sort_segments(void* temporary, std::size_t& bytes, index_t rows) const {
    const auto begins = thrust::make_transform_iterator(thrust::make_counting_iterator(index_t{0}),
                                                        row_start{source_.cols});
    return cub::DeviceSegmentedRadixSort::SortPairs(
        temporary, bytes, scratch_.keys, scratch_.sorted_keys, scratch_.columns,
        scratch_.sorted_columns, static_cast<int>(rows * source_.cols), static_cast<int>(rows),
        begins, begins + 1, 0, source_.key_bits, stream_);
  }
  cudaError_t number_runs(void* temporary, std::size_t& bytes, index_t count) const {
    const auto heads =
        thrust::make_transform_iterator(thrust::make_counting_iterator(index_t{0}),
                                        run_head<Key>{scratch_.sorted_keys, index_t{source_.cols}});
    return cub::DeviceScan::InclusiveSum(temporary, bytes, heads, scratch_.runs,
                                         static_cast<int>(count), stream_);
  }
  [[nodiscard]] std::size_t cub_bytes(index_t rows) const {
    std::size_t sort = 0;
    std::size_t scan = 0;
    GPU_SIMILARITY_CUDA_CHECK(whole_device() ? sort_row(nullptr, sort, 0)
                                             : sort_segments(nullptr, sort, rows));
    if (dense()) GPU_SIMILARITY_CUDA_CHECK(number_runs(nullptr, scan, rows * source_.cols));
    return std::max(sort, scan);
  }

  row_source source_;
  rank_target target_;
  tie_method ties_;
  cudaStream_t stream_;
  sort_scratch<Key> scratch_{};
};

/// How many rows are sorted at a time.
template <class Key>
index_t rows_of_chunk(const row_source& source, const row_sorter<Key>& sorter,
                      std::size_t workspace_bytes) {
  const std::size_t limit = workspace_bytes == 0 ? rank_sort_workspace_bytes : workspace_bytes;
  // The bytes of one row give those of others: scratch is nearly linear in the rows.
  const std::size_t one = sorter.bytes(1);
  if (workspace_bytes != 0 && one > limit) {
    throw out_of_memory("execution.workspace_bytes: " + std::to_string(limit) +
                            " bytes do not hold one row of " + std::to_string(source.cols) +
                            " columns, which takes " + std::to_string(one),
                        one);
  }
  const index_t affordable = static_cast<index_t>(limit / one);
  const index_t countable = most_chunk_elements / source.cols;
  index_t rows = std::clamp<index_t>(std::min(affordable, countable), 1, source.rows);
  while (rows > 1 && sorter.bytes(rows) > limit) --rows;
  return rows;
}

template <class Key>
void launch_for(const row_source& source, const rank_target& target, const rank_request& request,
                cudaStream_t stream) {
  row_sorter<Key> sorter(source, target, request.ties, stream);
  const index_t rows = rows_of_chunk(source, sorter, request.workspace_bytes);
  const cuda::device_buffer<std::byte> own(request.workspace == nullptr ? sorter.bytes(rows) : 0,
                                           stream);
  sorter.rank(
      rows, request.workspace == nullptr ? own.data() : static_cast<std::byte*>(request.workspace));
}

template <class Key>
std::size_t bytes_for(const row_source& source, const rank_request& request) {
  const row_sorter<Key> sorter(source, {}, request.ties, nullptr);
  return sorter.bytes(rows_of_chunk(source, sorter, request.workspace_bytes));
}

}  // namespace

void launch_segmented_sort(const row_source& source, const rank_target& target,
                           const rank_request& request, cudaStream_t stream) {
  if (source.tag == element_tag::f64) {
    launch_for<std::uint64_t>(source, target, request, stream);
  } else {
    launch_for<std::uint32_t>(source, target, request, stream);
  }
}

std::size_t segmented_sort_bytes(const row_source& source, const rank_request& request) {
  return source.tag == element_tag::f64 ? bytes_for<std::uint64_t>(source, request)
                                        : bytes_for<std::uint32_t>(source, request);
}

}  // namespace gpu::kernels
