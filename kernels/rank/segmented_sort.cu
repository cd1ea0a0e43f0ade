// Ranks rows of any length by sorting (key, place) in global memory, as many rows at a time as the
// scratch holds. The rows of a chunk are sorted as if they were one, by cub::DeviceRadixSort: by
// key, and then, as the sort is stable, by the row that each place names. That takes one pass more
// for up to 256 rows, and every pass keeps the whole device busy, whatever the rows are like.
// Then every sorted element looks for the borders of its run of equal keys: at its neighbours
// first, then by bisection within its row. So only dense ranks need a scan over the row. Ranks are
// written scattered, in the order of the columns.

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <bit>
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
// The second dimension of a grid, which counts rows, has 16 bits.
constexpr index_t most_grid_rows = 65535;

constexpr std::size_t aligned(std::size_t bytes) {
  return (bytes + 255) / 256 * 256;
}

/// Where an element of a chunk lies, as one number: its row above, its column in the low bits.
struct place_layout {
  int col_bits;

  explicit place_layout(index_t cols)
      : col_bits(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(cols - 1)))) {}

  [[nodiscard]] index_t most_rows() const { return index_t{1} << (32 - col_bits); }
  [[nodiscard]] int bits(index_t rows) const {
    return col_bits + static_cast<int>(std::bit_width(static_cast<std::uint64_t>(rows - 1)));
  }
  __device__ std::uint32_t of(index_t row, index_t col) const {
    return static_cast<std::uint32_t>(row << col_bits | col);
  }
  __device__ index_t col_of(std::uint32_t place) const {
    return place & ((std::uint32_t{1} << col_bits) - 1);
  }
};

/// The scratch of some rows: keys and places, each twice, and run numbers for dense ranks.
template <class Key>
struct sort_scratch {
  cub::DoubleBuffer<Key> keys;
  cub::DoubleBuffer<std::uint32_t> places;
  std::uint32_t* runs = nullptr;
};

/// Rows of a chunk in order, from row `first_row` of the source on.
template <class Key>
struct sorted_rows {
  const Key* keys;
  const std::uint32_t* places;
  const std::uint32_t* runs;  // null unless ranks are dense
  place_layout layout;
  index_t first_row;
};

template <class Key>
__global__ void fill_kernel(row_source source, index_t first_row, index_t row_in_chunk,
                            place_layout layout, Key* keys, std::uint32_t* places) {
  const index_t row = row_in_chunk + blockIdx.y;
  const index_t step = index_t{gridDim.x} * threads;
  for (index_t col = index_t{blockIdx.x} * threads + threadIdx.x; col < source.cols; col += step) {
    const index_t at = row * source.cols + col;
    keys[at] = source.plain_key<Key>(first_row + row, col) ^ static_cast<Key>(source.flip);
    places[at] = layout.of(row, col);
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

// Most runs are short. Bisection within so many places stays in lines that neighbours read.
constexpr int run_reach = 32;

/// Where the run of `key`, which reaches below place `at`, begins.
template <class Key>
__device__ int run_begin(const Key* keys, int at, Key key) {
  const int near = max(at - run_reach, 0);
  return keys[near] == key ? bisect<false>(keys, 0, near, key)
                           : bisect<false>(keys, near + 1, at, key);
}

/// Where the run of `key`, which reaches beyond place `at`, ends.
template <class Key>
__device__ int run_end(const Key* keys, int at, int cols, Key key) {
  const int near = min(at + run_reach, cols - 1);
  return keys[near] == key ? bisect<true>(keys, near + 1, cols, key)
                           : bisect<true>(keys, at + 1, near, key);
}

template <class Key>
__global__ void rank_sorted_kernel(row_source source, rank_target target, tie_method ties,
                                   index_t row_in_chunk, sorted_rows<Key> sorted) {
  const int cols = source.cols;
  const index_t row = row_in_chunk + blockIdx.y;
  const index_t target_row = sorted.first_row + row;
  const Key* keys = sorted.keys + row * cols;
  const std::uint32_t* places = sorted.places + row * cols;
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
    const int first = starts ? at : run_begin(keys, at, key);
    const int last = ends ? at + 1 : run_end(keys, at, cols, key);
    const std::uint32_t* runs = sorted.runs;
    const int distinct =
        runs == nullptr ? 0 : static_cast<int>(runs[row * cols + at] - runs[row * cols]);
    const int count = count_in_run(ties, cols, first, last, at, distinct);
    target.store(target_row, sorted.layout.col_of(places[at]), count, has_nan);
    squares += static_cast<unsigned long long>(static_cast<long long>(count) * count);
  }
  for (index_t col = cols + index_t{blockIdx.x} * threads + threadIdx.x; col < target.cols;
       col += step) {
    target.store(target_row, col, 0, false);
  }
  if (target.square_sums != nullptr) {
    for (int lanes = 16; lanes > 0; lanes /= 2) {
      squares += __shfl_xor_sync(0xffffffffU, squares, lanes);
    }
    // Integers: the sum does not depend on the order in which warps add to it.
    if (threadIdx.x % 32 == 0 && squares != 0) {
      atomicAdd(reinterpret_cast<unsigned long long*>(target.square_sums + target_row), squares);
    }
  }
}

/// Sorts, finds the runs and writes the ranks of chunks of rows.
template <class Key>
class row_sorter {
 public:
  row_sorter(const row_source& source, const rank_target& target, tie_method ties,
             cudaStream_t stream)
      : source_(source), target_(target), ties_(ties), stream_(stream), layout_(source.cols) {}

  /// The most rows that one sort takes.
  [[nodiscard]] index_t most_rows() const {
    return std::min(layout_.most_rows(), std::max<index_t>(most_chunk_elements / source_.cols, 1));
  }

  /// Scratch for `rows` rows, bytes.
  [[nodiscard]] std::size_t bytes(index_t rows) { return divide(rows).bytes; }

  /// Ranks all rows, `chunk_rows` at a time, in device memory of bytes(chunk_rows).
  void rank(index_t chunk_rows, std::byte* memory) {
    const auto count = static_cast<std::size_t>(chunk_rows * source_.cols);
    const division at = divide(chunk_rows);
    auto* keys = reinterpret_cast<Key*>(memory);
    auto* places = reinterpret_cast<std::uint32_t*>(memory + at.places);
    scratch_ = {
        {keys, keys + count}, {places, places + count}, dense() ? places + 2 * count : nullptr};
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
    std::size_t places;
    std::size_t temporary;
    std::size_t bytes;
  };
  struct cub_memory {
    void* data;
    std::size_t bytes;
  };

  [[nodiscard]] division divide(index_t rows) {
    const auto count = static_cast<std::size_t>(rows * source_.cols);
    const std::size_t places = aligned(count * 2 * sizeof(Key));
    const std::size_t temporary =
        places + aligned(count * (dense() ? 3 : 2) * sizeof(std::uint32_t));
    return {places, temporary, temporary + cub_bytes(rows)};
  }
  [[nodiscard]] bool dense() const { return ties_ == tie_method::dense; }

  void rank_chunk(index_t first_row, index_t rows, const cub_memory& temporary) {
    const index_t count = rows * source_.cols;
    for_rows(rows, [&](index_t row, const dim3& grid) {
      fill_kernel<Key><<<grid, threads, 0, stream_>>>(
          source_, first_row, row, layout_, scratch_.keys.Current(), scratch_.places.Current());
    });
    std::size_t bytes = temporary.bytes;
    GPU_SIMILARITY_CUDA_CHECK(sort_keys(temporary.data, bytes, count));
    if (rows > 1) GPU_SIMILARITY_CUDA_CHECK(part_rows(temporary.data, bytes, rows));
    if (dense()) GPU_SIMILARITY_CUDA_CHECK(number_runs(temporary.data, bytes, count));
    const sorted_rows<Key> sorted{scratch_.keys.Current(), scratch_.places.Current(), scratch_.runs,
                                  layout_, first_row};
    for_rows(rows, [&](index_t row, const dim3& grid) {
      rank_sorted_kernel<Key><<<grid, threads, 0, stream_>>>(source_, target_, ties_, row, sorted);
    });
  }

  /// launch(first row, grid) for as many rows of a chunk at a time as a grid counts.
  template <class Launch>
  void for_rows(index_t rows, const Launch& launch) const {
    for (index_t row = 0; row < rows; row += most_grid_rows) {
      launch(row, dim3(grid_blocks(source_.cols, threads * 4),
                       static_cast<unsigned>(std::min(most_grid_rows, rows - row))));
      GPU_SIMILARITY_CHECK_LAUNCH();
    }
  }

  // Each of these three only measures `bytes` where `temporary` is null, as CUB does.
  cudaError_t sort_keys(void* temporary, std::size_t& bytes, index_t count) {
    return cub::DeviceRadixSort::SortPairs(temporary, bytes, scratch_.keys, scratch_.places,
                                           static_cast<int>(count), 0, source_.key_bits, stream_);
  }
  cudaError_t part_rows(void* temporary, std::size_t& bytes, index_t rows) {
    return cub::DeviceRadixSort::SortPairs(temporary, bytes, scratch_.places, scratch_.keys,
                                           static_cast<int>(rows * source_.cols), layout_.col_bits,
                                           layout_.bits(rows), stream_);
  }
  cudaError_t number_runs(void* temporary, std::size_t& bytes, index_t count) {
    const auto heads = thrust::make_transform_iterator(
        thrust::make_counting_iterator(index_t{0}),
        run_head<Key>{scratch_.keys.Current(), index_t{source_.cols}});
    return cub::DeviceScan::InclusiveSum(temporary, bytes, heads, scratch_.runs,
                                         static_cast<int>(count), stream_);
  }
  [[nodiscard]] std::size_t cub_bytes(index_t rows) {
    std::size_t sort = 0;
    std::size_t part = 0;
    std::size_t scan = 0;
    GPU_SIMILARITY_CUDA_CHECK(sort_keys(nullptr, sort, rows * source_.cols));
    if (rows > 1) GPU_SIMILARITY_CUDA_CHECK(part_rows(nullptr, part, rows));
    if (dense()) GPU_SIMILARITY_CUDA_CHECK(number_runs(nullptr, scan, rows * source_.cols));
    return std::max({sort, part, scan});
  }

  row_source source_;
  rank_target target_;
  tie_method ties_;
  cudaStream_t stream_;
  place_layout layout_;
  sort_scratch<Key> scratch_{};
};

/// How many rows are sorted at a time.
template <class Key>
index_t rows_of_chunk(const row_source& source, row_sorter<Key>& sorter,
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
  const auto affordable = static_cast<index_t>(limit / one);
  index_t rows = std::clamp<index_t>(std::min(affordable, sorter.most_rows()), 1, source.rows);
  // One pass parts so many rows. Chunks of them cost nothing where they fill the device.
  if (rows * source.cols > rank_sort_full_elements) {
    rows = std::min(
        rows, std::max<index_t>(rank_sort_rows_of_pass, rank_sort_full_elements / source.cols));
  }
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
  row_sorter<Key> sorter(source, {}, request.ties, nullptr);
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
