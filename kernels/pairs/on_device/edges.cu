// A list of edges of a given capacity, without reading any number on the host in between.
//
// The first pass puts every kept pair into a queue of the capacity and a row more; its counter runs
// on past the end. Where the queue has overflowed, which only the device knows, a second pass
// counts the kept pairs of each row, and a third one queues the rows that come first. Blocks of
// these passes end at once where the first one did.

#include <cub/device/device_scan.cuh>

#include "kernels/common/launch.cuh"
#include "kernels/pairs/frame/statistic.cuh"
#include "kernels/pairs/on_device/kernels.hpp"

namespace gpu::kernels {
namespace {

constexpr int threads = 256;

__global__ void note_found(edge_state* state, std::uint64_t queue, index_t rows) {
  state->found = state->queued;
  state->end_row = state->queued > queue ? rows : 0;
}

// One thread: a search in the sums.
__global__ void limit_rows(edge_state* state, const unsigned long long* sums, index_t rows,
                           std::uint64_t capacity, std::uint64_t queue) {
  state->end_row = 0;
  if (state->found <= queue) return;
  index_t low = 0;
  index_t high = rows - 1;  // its sum reaches the capacity, since all edges did not fit
  while (low < high) {
    const index_t middle = low + (high - low) / 2;
    if (sums[middle] >= capacity) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  state->end_row = low + 1;
  state->queued = 0;
}

template <class Statistic>
__global__ void finish_queue(const __grid_constant__ finish_request request,
                             const edge_state* state, std::uint64_t queue) {
  const std::uint64_t at = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
  if (at >= queue) return;
  if (at >= state->queued) {
    request.keys[at] = request.layout.dropped();
    return;
  }
  const std::uint64_t key = request.keys[at];
  const auto row = static_cast<std::uint32_t>(key >> 32);
  const auto col = static_cast<std::uint32_t>(key & 0xffffffffu);
  const auto product = product_from_bits<typename Statistic::product>(request.values[at]);
  const double statistic = Statistic::of(product, request.rows, row - request.rows.first,
                                         request.cols, col - request.cols.first);
  request.values[at] = product_bits(statistic);
  request.keys[at] = request.layout.of(row, col);
}

__global__ void write_found(const edge_state* state, const std::uint64_t* keys,
                            const std::uint64_t* statistics, const edge_key_layout layout,
                            const stats::p_function p_of, std::uint64_t capacity, edge* edges,
                            std::uint64_t* found) {
  const std::uint64_t at = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
  if (at == 0) *found = state->found;
  if (at >= capacity || at >= state->found) return;
  const double statistic = __longlong_as_double(static_cast<long long>(statistics[at]));
  edges[at] = {.row = layout.row_of(keys[at]),
               .col = layout.col_of(keys[at]),
               .statistic = statistic,
               .p = p_of(statistic)};
}

unsigned blocks_for(std::uint64_t count) {
  return grid_blocks(static_cast<index_t>(count), threads);
}

}  // namespace

void launch_note_found(edge_state* state, std::uint64_t queue, index_t rows, cudaStream_t stream) {
  note_found<<<1, 1, 0, stream>>>(state, queue, rows);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

std::size_t limit_scratch_bytes(index_t rows) {
  std::size_t bytes = 0;
  const unsigned long long* from = nullptr;
  unsigned long long* to = nullptr;
  GPU_SIMILARITY_CUDA_CHECK(cub::DeviceScan::InclusiveSum(nullptr, bytes, from, to, rows));
  return bytes;
}

void launch_limit_rows(edge_state* state, const unsigned long long* per_row,
                       unsigned long long* sums, index_t rows, std::uint64_t capacity,
                       std::uint64_t queue, void* scratch, std::size_t scratch_bytes,
                       cudaStream_t stream) {
  if (rows == 0) return;
  GPU_SIMILARITY_CUDA_CHECK(
      cub::DeviceScan::InclusiveSum(scratch, scratch_bytes, per_row, sums, rows, stream));
  limit_rows<<<1, 1, 0, stream>>>(state, sums, rows, capacity, queue);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

void launch_finish_queue(const finish_request& request, const edge_state* state,
                         std::uint64_t queue, cudaStream_t stream) {
  if (queue == 0) return;
  const unsigned blocks = blocks_for(queue);
  switch (request.tile) {
    case pair_tile_kind::naive_pearson:
    case pair_tile_kind::shared_double:
    case pair_tile_kind::products_double:
      finish_queue<pearson_statistic><<<blocks, threads, 0, stream>>>(request, state, queue);
      break;
    case pair_tile_kind::tensor_float:
      finish_queue<refined_pearson_statistic>
          <<<blocks, threads, 0, stream>>>(request, state, queue);
      break;
    default:
      finish_queue<spearman_statistic><<<blocks, threads, 0, stream>>>(request, state, queue);
  }
  GPU_SIMILARITY_CHECK_LAUNCH();
}

void launch_write_found(const edge_state* state, const std::uint64_t* keys,
                        const std::uint64_t* statistics, const edge_key_layout& layout,
                        const stats::p_function& p_of, std::uint64_t capacity, edge* edges,
                        std::uint64_t* found, cudaStream_t stream) {
  write_found<<<blocks_for(capacity), threads, 0, stream>>>(state, keys, statistics, layout, p_of,
                                                            capacity, edges, found);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
