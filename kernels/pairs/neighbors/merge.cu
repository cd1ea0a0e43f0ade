// Top-k: merges a batch of candidates into the lists of k best neighbours.
//
// Items are the present entries of all lists and, behind them, the candidates in ascending (row,
// column). Two stable radix sorts (by rank key, then by row) put each row's items best first with
// ties in ascending column; the first k of each row are the new list.

#include <math_constants.h>

#include <cub/device/device_radix_sort.cuh>

#include "base/ordered_key.hpp"
#include "cuda_runtime/arena.hpp"
#include "kernels/common/launch.cuh"
#include "kernels/pairs/neighbors/merge.hpp"
#include "kernels/pairs/sinks/kernels.hpp"

namespace gpu::kernels {
namespace {

constexpr int threads = 256;

struct merge_scratch {
  std::size_t items;
  std::uint64_t* rank_keys[2];
  std::uint32_t* rows[2];
  std::uint32_t* numbers[2];
  std::uint32_t* starts;
  std::uint32_t* index;
  double* statistic;
  std::size_t sort_bytes = 0;
  std::byte* sort;

  merge_scratch(cuda::arena& memory, index_t row_count, index_t k, std::uint64_t count)
      : items(static_cast<std::size_t>(row_count * k) + count) {
    for (auto& piece : rank_keys) piece = memory.take<std::uint64_t>(items);
    for (auto& piece : rows) piece = memory.take<std::uint32_t>(items);
    for (auto& piece : numbers) piece = memory.take<std::uint32_t>(items);
    starts = memory.take<std::uint32_t>(row_count);
    index = memory.take<std::uint32_t>(row_count * k);
    statistic = memory.take<double>(row_count * k);
    std::size_t by_row = 0;
    GPU_SIMILARITY_CUDA_CHECK(cub::DeviceRadixSort::SortPairs(
        nullptr, sort_bytes, rank_keys[0], rank_keys[1], numbers[0], numbers[1], items));
    GPU_SIMILARITY_CUDA_CHECK(cub::DeviceRadixSort::SortPairs(nullptr, by_row, rows[0], rows[1],
                                                              numbers[1], numbers[0], items));
    if (by_row > sort_bytes) sort_bytes = by_row;
    sort = memory.take<std::byte>(sort_bytes);
  }
};

struct items {
  neighbor_lists lists;
  rank_key order;
  const std::uint64_t* keys;
  const std::uint64_t* values;
  std::uint32_t listed;  // lists.rows * lists.k

  __device__ double statistic(std::uint32_t item) const {
    return item < listed ? lists.statistic[item]
                         : __longlong_as_double(static_cast<long long>(values[item - listed]));
  }
  // The row of an item relative to the lists; lists.rows: there is nothing at this item.
  __device__ std::uint32_t row(std::uint32_t item) const {
    if (item < listed) {
      const auto list = static_cast<std::uint32_t>(item / lists.k);
      return item % lists.k < lists.count[list] ? list : static_cast<std::uint32_t>(lists.rows);
    }
    const std::uint64_t key = keys[item - listed];
    return static_cast<std::uint32_t>(
        key == dropped_key ? lists.rows : static_cast<index_t>(key >> 32) - lists.first_row);
  }
  __device__ std::uint32_t column(std::uint32_t item) const {
    return item < listed ? lists.index[item]
                         : static_cast<std::uint32_t>(keys[item - listed] & 0xffffffffu);
  }
};

__global__ void rank_items(items all, std::uint32_t count, std::uint64_t* rank_keys,
                           std::uint32_t* numbers) {
  const std::uint32_t item = blockIdx.x * threads + threadIdx.x;
  if (item >= count) return;
  const bool there = all.row(item) < all.lists.rows;
  const double x = there ? all.statistic(item) : 0;
  const double key = all.order == rank_key::magnitude ? fabs(x) : x;
  rank_keys[item] = there ? ~detail::ordered_key(key) : ~std::uint64_t{0};
  numbers[item] = item;
}

__global__ void rows_of_items(items all, std::uint32_t count, const std::uint32_t* numbers,
                              std::uint32_t* rows) {
  const std::uint32_t place = blockIdx.x * threads + threadIdx.x;
  if (place < count) rows[place] = all.row(numbers[place]);
}

__global__ void find_starts(const std::uint32_t* rows, std::uint32_t count, index_t lists,
                            std::uint32_t* starts) {
  const std::uint32_t place = blockIdx.x * threads + threadIdx.x;
  if (place >= count || rows[place] >= lists) return;
  if (place == 0 || rows[place - 1] != rows[place]) starts[rows[place]] = place;
}

__global__ void gather_best(items all, std::uint32_t count, const std::uint32_t* rows,
                            const std::uint32_t* numbers, const std::uint32_t* starts,
                            std::uint32_t* index, double* statistic) {
  const std::uint32_t place = blockIdx.x * threads + threadIdx.x;
  if (place >= count || rows[place] >= all.lists.rows) return;
  const std::uint32_t row = rows[place];
  const std::uint32_t rank = place - starts[row];
  if (rank >= all.lists.k) return;
  index[row * all.lists.k + rank] = all.column(numbers[place]);
  statistic[row * all.lists.k + rank] = all.statistic(numbers[place]);
}

// After gather_best, which still reads the old counts.
__global__ void count_best(neighbor_lists lists, std::uint32_t count, const std::uint32_t* rows,
                           const std::uint32_t* starts) {
  const std::uint32_t place = blockIdx.x * threads + threadIdx.x;
  if (place >= count || rows[place] >= lists.rows) return;
  if (place + 1 < count && rows[place + 1] == rows[place]) return;
  const std::uint32_t found = place - starts[rows[place]] + 1;
  lists.count[rows[place]] = found < lists.k ? found : static_cast<std::uint32_t>(lists.k);
}

__global__ void row_cuts(neighbor_lists lists, rank_key order, double at_least, double at_most,
                         double margin, row_cut* cuts) {
  const index_t row = index_t{blockIdx.x} * threads + threadIdx.x;
  if (row >= lists.rows) return;
  double high = at_least;
  double low = at_most;
  if (lists.count[row] == lists.k) {
    const double worst = lists.statistic[(row + 1) * lists.k - 1];
    if (order == rank_key::magnitude) {
      // What passes the filter and has at least the magnitude of the worst.
      const double bar = fabs(worst);
      high = at_most >= bar ? bar : fmax(at_least, bar);
      low = at_least <= -bar ? -bar : fmin(at_most, -bar);
    } else {
      // Values below the worst never enter; values at or above it do by either cut.
      high = at_most >= worst ? worst : fmax(at_least, worst);
      low = -2.0;
    }
  }
  low = fmax(low, -2.0);
  high = fmin(high, 2.0);
  // At or below `low`, at or above `high`: a distance from their middle. Crossed cuts keep all.
  const double half = (high - low) / 2;
  cuts[row] = {static_cast<float>((high + low) / 2), static_cast<float>(half - margin)};
  if (half <= 0) cuts[row] = {0.0f, -1.0f};
}

}  // namespace

std::size_t merge_scratch_bytes(index_t rows, index_t k, std::uint64_t count) {
  return cuda::bytes_taken(
      [&](cuda::arena& memory) { return merge_scratch(memory, rows, k, count); });
}

void launch_merge_neighbors(const neighbor_lists& lists, rank_key order, const std::uint64_t* keys,
                            const std::uint64_t* values, std::uint64_t count, void* scratch,
                            std::size_t scratch_bytes, cudaStream_t stream) {
  if (count == 0 || lists.rows == 0) return;
  static_cast<void>(scratch_bytes);
  cuda::arena pieces(scratch);
  merge_scratch room(pieces, lists.rows, lists.k, count);

  const items all{lists, order, keys, values, static_cast<std::uint32_t>(lists.rows * lists.k)};
  const auto number = static_cast<std::uint32_t>(room.items);
  const unsigned blocks = grid_blocks(static_cast<index_t>(room.items), threads);
  rank_items<<<blocks, threads, 0, stream>>>(all, number, room.rank_keys[0], room.numbers[0]);
  GPU_SIMILARITY_CHECK_LAUNCH();
  GPU_SIMILARITY_CUDA_CHECK(cub::DeviceRadixSort::SortPairs(
      room.sort, room.sort_bytes, room.rank_keys[0], room.rank_keys[1], room.numbers[0],
      room.numbers[1], room.items, 0, 64, stream));
  rows_of_items<<<blocks, threads, 0, stream>>>(all, number, room.numbers[1], room.rows[0]);
  GPU_SIMILARITY_CHECK_LAUNCH();
  GPU_SIMILARITY_CUDA_CHECK(
      cub::DeviceRadixSort::SortPairs(room.sort, room.sort_bytes, room.rows[0], room.rows[1],
                                      room.numbers[1], room.numbers[0], room.items, 0, 32, stream));
  find_starts<<<blocks, threads, 0, stream>>>(room.rows[1], number, lists.rows, room.starts);
  GPU_SIMILARITY_CHECK_LAUNCH();
  gather_best<<<blocks, threads, 0, stream>>>(all, number, room.rows[1], room.numbers[0],
                                              room.starts, room.index, room.statistic);
  GPU_SIMILARITY_CHECK_LAUNCH();
  count_best<<<blocks, threads, 0, stream>>>(lists, number, room.rows[1], room.starts);
  GPU_SIMILARITY_CHECK_LAUNCH();
  const auto entries = static_cast<std::size_t>(lists.rows * lists.k);
  GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(
      lists.index, room.index, entries * sizeof(std::uint32_t), cudaMemcpyDeviceToDevice, stream));
  GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(
      lists.statistic, room.statistic, entries * sizeof(double), cudaMemcpyDeviceToDevice, stream));
}

void launch_row_cuts(const neighbor_lists& lists, rank_key order, double at_least, double at_most,
                     double margin, row_cut* cuts, cudaStream_t stream) {
  if (lists.rows == 0) return;
  row_cuts<<<grid_blocks(lists.rows, threads), threads, 0, stream>>>(lists, order, at_least,
                                                                     at_most, margin, cuts);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
