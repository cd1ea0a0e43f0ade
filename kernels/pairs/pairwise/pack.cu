// Packs rows with missing values.

#include <math_constants.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_segmented_radix_sort.cuh>

#include <algorithm>
#include <bit>

#include "base/element_types.hpp"
#include "base/ordered_key.hpp"
#include "cuda_runtime/device_buffer.hpp"
#include "kernels/common/launch.cuh"
#include "kernels/common/warp.cuh"
#include "kernels/pairs/pairwise/kernels.hpp"
#include "stats/shared_columns.hpp"

namespace gpu::kernels {
namespace {

constexpr int warps_of_block = 4;
constexpr int row_threads = 256;
// Elements that are sorted at a time.
constexpr index_t most_sorted = index_t{1} << 27;

// Of a value that is not there; above all others.
constexpr std::uint64_t no_value = detail::nan_key<double>;

template <class T>
__device__ std::uint64_t key_of(T value) {
  return detail::ordered_key(static_cast<double>(value));
}

// A packed row of ranks.
struct rank_pieces {
  std::uint64_t* mask;
  std::uint16_t* order;
  std::uint16_t* below;
  std::uint16_t* up_to;

  __device__ rank_pieces(std::uint64_t* out, index_t row, index_t cols) {
    const pairwise_rank_layout layout{cols};
    mask = out + row * layout.pitch();
    order = reinterpret_cast<std::uint16_t*>(mask + layout.order());
    below = reinterpret_cast<std::uint16_t*>(mask + layout.below());
    up_to = reinterpret_cast<std::uint16_t*>(mask + layout.up_to());
  }
};

template <class T>
__global__ void write_keys(device_matrix_view<const T> data, std::uint64_t* keys,
                           std::uint16_t* columns) {
  const index_t row = blockIdx.x;
  for (index_t k = threadIdx.x; k < data.cols(); k += row_threads) {
    keys[row * data.cols() + k] = key_of(data.row(row)[k]);
    columns[row * data.cols() + k] = static_cast<std::uint16_t>(k);
  }
}

// A block a row: from sorted keys and their columns to the packed row.
__global__ void pack_sorted(const std::uint64_t* keys, const std::uint16_t* columns, index_t cols,
                            index_t min_observations, std::uint64_t* out,
                            std::int64_t* square_sums) {
  const index_t row = blockIdx.x;
  const std::uint64_t* const own = keys + row * cols;
  const std::uint16_t* const column = columns + row * cols;
  const rank_pieces to(out, row, cols);
  const auto first_from = [own, cols](std::uint64_t key, bool after) {
    index_t begin = 0;
    for (index_t end = cols; begin < end;) {
      const index_t middle = begin + (end - begin) / 2;
      if (after ? own[middle] <= key : own[middle] < key) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return begin;
  };
  const index_t count = first_from(no_value, false);
  for (index_t w = threadIdx.x; w < mask_words(cols); w += row_threads) to.mask[w] = 0;
  __syncthreads();
  for (index_t p = threadIdx.x; p < column_places(cols); p += row_threads) {
    if (p >= count) {
      to.order[p] = no_column;
      continue;
    }
    const std::uint16_t c = column[p];
    to.order[p] = c;
    to.below[c] = static_cast<std::uint16_t>(first_from(own[p], false));
    to.up_to[c] = static_cast<std::uint16_t>(first_from(own[p], true));
    atomicOr(reinterpret_cast<unsigned long long*>(to.mask) + c / 64, 1ULL << (c % 64));
  }
  if (threadIdx.x == 0) {
    const bool has = count >= min_observations && own[0] != own[count - 1];
    square_sums[row] = has ? 1 : 0;
  }
}

// The longest rows of which every value is compared with every other: a sort of segments takes as
// long for short rows as for some hundred columns.
constexpr index_t most_counted = 1024;

// A warp a row, by counting: a lane takes every 32nd column, `at_once` of them together.
template <class T>
__global__ void __launch_bounds__(32 * warps_of_block)
    pack_counted(device_matrix_view<const T> data, index_t min_observations, std::uint64_t* out,
                 std::int64_t* square_sums) {
  constexpr int at_once = 4;
  extern __shared__ std::uint64_t counted_keys[];
  const index_t row = index_t{blockIdx.x} * warps_of_block + threadIdx.x / 32;
  if (row >= data.rows()) return;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int cols = static_cast<int>(data.cols());
  std::uint64_t* const keys = counted_keys + static_cast<int>(threadIdx.x / 32) * cols;
  const rank_pieces to(out, row, cols);
  auto* const half_words = reinterpret_cast<std::uint32_t*>(to.mask);
  int count = 0;
  for (int begin = 0; begin < 64 * static_cast<int>(mask_words(cols)); begin += 32) {
    const int k = begin + lane;
    const std::uint64_t key = k < cols ? key_of(data.row(row)[k]) : no_value;
    if (k < cols) keys[k] = key;
    const unsigned there = __ballot_sync(all_lanes, key != no_value);
    if (lane == 0) half_words[begin / 32] = there;
    count += __popc(there);
  }
  __syncwarp();
  bool varies = false;
  for (int begin = lane; begin < cols; begin += 32 * at_once) {
    std::uint64_t own[at_once];
    int less[at_once] = {};
    int less_or_equal[at_once] = {};
    int place[at_once] = {};
#pragma unroll
    for (int c = 0; c < at_once; ++c) {
      own[c] = begin + 32 * c < cols ? keys[begin + 32 * c] : no_value;
    }
    for (int k = 0; k < cols; ++k) {
      const std::uint64_t key = keys[k];
#pragma unroll
      for (int c = 0; c < at_once; ++c) {
        const bool is_less = key < own[c];
        const bool is_up_to = key <= own[c];
        less[c] += is_less;
        less_or_equal[c] += is_up_to;
        // Equal values stand in the order of their columns.
        place[c] += k < begin + 32 * c ? is_up_to : is_less;
      }
    }
#pragma unroll
    for (int c = 0; c < at_once; ++c) {
      const int k = begin + 32 * c;
      if (k >= cols || own[c] == no_value) continue;
      to.order[place[c]] = static_cast<std::uint16_t>(k);
      to.below[k] = static_cast<std::uint16_t>(less[c]);
      to.up_to[k] = static_cast<std::uint16_t>(less_or_equal[c]);
      varies = varies || less[c] > 0;
    }
  }
  for (int p = count + lane; p < static_cast<int>(column_places(cols)); p += 32) {
    to.order[p] = no_column;
  }
  varies = __any_sync(all_lanes, varies);
  if (lane == 0) square_sums[row] = count >= min_observations && varies ? 1 : 0;
}

template <class T>
void count_rows(device_matrix_view<const T> data, index_t min_observations, std::uint64_t* out,
                std::int64_t* square_sums, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(ceil_div(data.rows(), index_t{warps_of_block}));
  const std::size_t bytes =
      sizeof(std::uint64_t) * warps_of_block * static_cast<std::size_t>(data.cols());
  pack_counted<T>
      <<<blocks, 32 * warps_of_block, bytes, stream>>>(data, min_observations, out, square_sums);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

struct begin_of_row {
  index_t cols;
  __host__ __device__ index_t operator()(index_t row) const { return row * cols; }
};

template <class T>
void sort_rows(device_matrix_view<const T> data, index_t min_observations, std::uint64_t* out,
               std::int64_t* square_sums, cudaStream_t stream) {
  const index_t elements = data.rows() * data.cols();
  const auto size = static_cast<std::size_t>(elements);
  cuda::device_buffer<std::uint64_t> keys(size, stream);
  cuda::device_buffer<std::uint64_t> sorted(size, stream);
  cuda::device_buffer<std::uint16_t> columns(size, stream);
  cuda::device_buffer<std::uint16_t> order(size, stream);
  const auto blocks = static_cast<unsigned>(data.rows());
  write_keys<T><<<blocks, row_threads, 0, stream>>>(data, keys.data(), columns.data());
  GPU_SIMILARITY_CHECK_LAUNCH();
  const auto begins = thrust::make_transform_iterator(thrust::counting_iterator<index_t>(0),
                                                      begin_of_row{data.cols()});
  const auto sort = [&](void* scratch, std::size_t& bytes) {
    GPU_SIMILARITY_CUDA_CHECK(cub::DeviceSegmentedRadixSort::SortPairs(
        scratch, bytes, keys.data(), sorted.data(), columns.data(), order.data(),
        static_cast<int>(elements), static_cast<int>(data.rows()), begins, begins + 1, 0, 64,
        stream));
  };
  std::size_t bytes = 0;
  sort(nullptr, bytes);
  const cuda::device_buffer<std::byte> scratch(bytes, stream);
  sort(scratch.data(), bytes);
  pack_sorted<<<blocks, row_threads, 0, stream>>>(sorted.data(), order.data(), data.cols(),
                                                  min_observations, out, square_sums);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

// What look_at_row finds, by a warp: sums in the order of the columns.
template <class T>
__device__ detail::shared_row_scale look_at(const T* row, index_t cols, index_t min_observations,
                                            detail::row_centre centre) {
  const index_t lane = threadIdx.x % 32;
  double least = CUDART_INF;
  double most = -CUDART_INF;
  int count = 0;
  for (index_t k = lane; k < cols; k += 32) {
    const auto value = static_cast<double>(row[k]);
    if (value != value) continue;
    least = fmin(least, value);
    most = fmax(most, value);
    ++count;
  }
  least = warp_min(least);
  most = warp_max(most);
  count = warp_sum(count);
  detail::shared_row_scale out{false, 1, 0};
  const double largest = fmax(fabs(least), fabs(most));
  if (count == 0 || isinf(largest)) return out;
  out.has_statistic =
      count >= min_observations && (detail::is_centred(centre) ? least != most : largest > 0);
  if (!out.has_statistic) return out;
  out.scale = detail::power_of_two_scale(largest);
  if (!detail::is_centred(centre)) return out;
  double sum = 0;
  for (index_t begin = 0; begin < cols; begin += 32) {
    const index_t k = begin + lane;
    const double value = k < cols ? static_cast<double>(row[k]) : CUDART_NAN;
    const unsigned there = __ballot_sync(all_lanes, value == value);
#pragma unroll 1  // ptxas of CUDA 13.0 fails on the unrolled loop
    for (int from = 0; from < 32; ++from) {
      const double next = __shfl_sync(all_lanes, value, from);
      if ((there >> from & 1) != 0) sum += next * out.scale;
    }
  }
  out.mean = sum / static_cast<double>(count);
  return out;
}

// A warp a row.
template <class T>
__global__ void pack_values(device_matrix_view<const T> data, index_t min_observations,
                            detail::row_centre centre, std::uint64_t* out,
                            std::int64_t* square_sums) {
  const index_t row = index_t{blockIdx.x} * warps_of_block + threadIdx.x / 32;
  if (row >= data.rows()) return;
  const index_t lane = threadIdx.x % 32;
  const index_t cols = data.cols();
  const pairwise_value_layout layout{cols};
  const T* const from = data.row(row);
  const detail::shared_row_scale how = look_at(from, cols, min_observations, centre);
  std::uint64_t* const to = out + row * layout.pitch();
  auto* const values = reinterpret_cast<double*>(to);
  auto* const raw = reinterpret_cast<double*>(to + layout.raw());
  auto* const half_words = reinterpret_cast<std::uint32_t*>(to + layout.mask());
  for (index_t begin = 0; begin < 64 * mask_words(cols); begin += 32) {
    const index_t k = begin + lane;
    const double value = k < cols ? static_cast<double>(from[k]) : CUDART_NAN;
    const unsigned there = __ballot_sync(all_lanes, value == value);
    if (lane == 0) half_words[begin / 32] = there;
    if (k >= cols) continue;
    values[k] = detail::shared_value(value, how);
    raw[k] = value;
  }
  if (lane == 0) square_sums[row] = how.has_statistic ? 1 : 0;
}

}  // namespace

template <class T>
void launch_pack_pairwise_ranks(device_matrix_view<const T> data, index_t min_observations,
                                std::uint64_t* out, std::int64_t* square_sums,
                                cudaStream_t stream) {
  if (data.rows() == 0) return;
  if (data.cols() <= most_counted) {
    return count_rows(data, min_observations, out, square_sums, stream);
  }
  const index_t step = std::max<index_t>(1, most_sorted / data.cols());
  const index_t pitch = pairwise_rank_layout{data.cols()}.pitch();
  for (index_t begin = 0; begin < data.rows(); begin += step) {
    const device_matrix_view<const T> some(data.row(begin), std::min(step, data.rows() - begin),
                                           data.cols(), data.row_stride());
    sort_rows<T>(some, min_observations, out + begin * pitch, square_sums + begin, stream);
  }
}

template <class T>
void launch_pack_pairwise_values(device_matrix_view<const T> data, index_t min_observations,
                                 detail::row_centre centre, std::uint64_t* out,
                                 std::int64_t* square_sums, cudaStream_t stream) {
  if (data.rows() == 0) return;
  const auto blocks = static_cast<unsigned>(ceil_div(data.rows(), index_t{warps_of_block}));
  pack_values<T><<<blocks, 32 * warps_of_block, 0, stream>>>(data, min_observations, centre, out,
                                                             square_sums);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

#define GPU_SIMILARITY_INSTANTIATE(T)                                                             \
  template void launch_pack_pairwise_ranks<T>(device_matrix_view<const T>, index_t,               \
                                              std::uint64_t*, std::int64_t*, cudaStream_t);       \
  template void launch_pack_pairwise_values<T>(device_matrix_view<const T>, index_t,              \
                                               detail::row_centre, std::uint64_t*, std::int64_t*, \
                                               cudaStream_t);
GPU_SIMILARITY_FOR_EACH_ELEMENT_TYPE(GPU_SIMILARITY_INSTANTIATE)

}  // namespace gpu::kernels
