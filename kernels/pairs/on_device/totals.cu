// How many rows and pairs have a statistic, and counts on their way to the caller.

#include "kernels/common/launch.cuh"
#include "kernels/pairs/on_device/kernels.hpp"

namespace gpu::kernels {
namespace {

constexpr int threads = 256;
constexpr unsigned most_blocks = 1024;

__device__ void add_block(bool counts, unsigned long long* to) {
  const int in_block = __syncthreads_count(counts);
  if (threadIdx.x == 0 && in_block > 0) atomicAdd(to, static_cast<unsigned long long>(in_block));
}

// Adds to *valid; all threads of all blocks. Calls each(row) with every row of the input.
template <class Each>
__device__ void add_valid(const std::int64_t* square_sums, index_t count,
                          const detail::index_range& rows, const detail::index_range& cols,
                          valid_rows* valid, const Each& each) {
  const index_t step = index_t{gridDim.x} * threads;
  for (index_t first = index_t{blockIdx.x} * threads; first < count; first += step) {
    const index_t row = first + threadIdx.x;
    const bool there = row < count && square_sums[row] > 0;
    const bool in_rows = row >= rows.begin && row < rows.end;
    const bool behind = row >= cols.begin && row < cols.end && row >= rows.end;
    add_block(there && in_rows, &valid->in_rows);
    add_block(there && behind, &valid->behind);
    add_block(there, &valid->in_all);
    if (row < count) each(row);
  }
}

__global__ void count_valid(const std::int64_t* square_sums, index_t count,
                            detail::index_range rows, detail::index_range cols, valid_rows* valid) {
  add_valid(square_sums, count, rows, cols, valid, [](index_t) {});
}

__global__ void write_counts(const __grid_constant__ written_counts of) {
  add_valid(of.square_sums, of.count, of.rows, of.cols, &of.state->valid, [&](index_t row) {
    const index_t in_y = row - of.cols.begin;
    if (row < of.x_rows) of.x_degree[row] = of.degree[row];
    if (of.is_against && in_y >= 0 && in_y < of.y_rows) of.y_degree[in_y] = of.degree[row];
  });
  const index_t step = index_t{gridDim.x} * threads;
  for (index_t bin = index_t{blockIdx.x} * threads + threadIdx.x; bin < of.histogram_bins;
       bin += step) {
    of.histogram[bin] = of.bins[bin];
  }
  if (of.totals == nullptr) return;
  // The block that ends last has everything that the others added.
  __shared__ bool is_last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(&of.state->blocks_done, 1ULL) + 1 == gridDim.x;
  __syncthreads();
  if (!is_last || threadIdx.x != 0) return;
  __threadfence();
  const volatile count_state& state = *of.state;
  const valid_rows valid{state.valid.in_rows, state.valid.behind, state.valid.in_all};
  of.totals[0] = tested_pairs(valid, of.is_against);
  of.totals[1] = state.kept + state.ends / 2;
  of.totals[2] = static_cast<std::uint64_t>(of.count) - valid.in_all;
}

}  // namespace

void launch_count_valid(const std::int64_t* square_sums, index_t count, detail::index_range rows,
                        detail::index_range cols, valid_rows* valid, cudaStream_t stream) {
  GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(valid, 0, sizeof *valid, stream));
  if (count == 0) return;
  count_valid<<<grid_blocks(count, threads, most_blocks), threads, 0, stream>>>(square_sums, count,
                                                                                rows, cols, valid);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

void launch_write_counts(const written_counts& counts, cudaStream_t stream) {
  const index_t most = counts.count > counts.histogram_bins ? counts.count : counts.histogram_bins;
  write_counts<<<grid_blocks(most, threads, most_blocks), threads, 0, stream>>>(counts);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
