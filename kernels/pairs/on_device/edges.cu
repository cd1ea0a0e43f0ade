// Which rows have the edges that come first in a list of a given capacity, and whether a screen has
// found all edges, without reading any number on the host in between.
//
// A screen runs slice by slice. Where the candidates of one, or all kept pairs, do not fit, it has
// found nothing: later slices end at once, and the tiles find the edges.
//
// The first pass of tiles puts every kept pair into a queue of the capacity and a row more; its
// counter runs on past the end. Where the queue has overflowed, which only the device knows, a
// second pass counts the kept pairs of each row, and a third one queues the rows that come first.
// Blocks of passes that have nothing to do end at once.

#include <cub/device/device_scan.cuh>

#include "kernels/common/launch.cuh"
#include "kernels/pairs/on_device/kernels.hpp"

namespace gpu::kernels {
namespace {

__global__ void note_found(edge_state* state, const screen_state* screen, std::uint64_t queue,
                           index_t rows) {
  state->found = state->queued + (screen == nullptr ? 0 : screen->kept);
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

// Makes room for the candidates of the next slice, unless those of this one did not fit.
__global__ void next_slice(screen_state* screen, std::uint64_t capacity) {
  if (screen->candidates <= capacity) screen->candidates = 0;
}

__global__ void note_screened(screen_state* screen, std::uint64_t queue, index_t rows,
                              edge_state* state) {
  const bool is_complete = screen->candidates == 0 && screen->kept <= queue;
  if (!is_complete) screen->kept = 0;
  state->end_row = is_complete ? 0 : rows;
}

}  // namespace

void launch_next_slice(screen_state* screen, std::uint64_t capacity, cudaStream_t stream) {
  next_slice<<<1, 1, 0, stream>>>(screen, capacity);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

void launch_note_screened(screen_state* screen, std::uint64_t queue, index_t rows,
                          edge_state* state, cudaStream_t stream) {
  note_screened<<<1, 1, 0, stream>>>(screen, queue, rows, state);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

void launch_note_found(edge_state* state, const screen_state* screen, std::uint64_t queue,
                       index_t rows, cudaStream_t stream) {
  note_found<<<1, 1, 0, stream>>>(state, screen, queue, rows);
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

}  // namespace gpu::kernels
