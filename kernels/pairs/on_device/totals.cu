// How many rows and pairs have a statistic.

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

__global__ void count_valid(const std::int64_t* square_sums, index_t count,
                            detail::index_range rows, detail::index_range cols, valid_rows* valid) {
  const index_t step = index_t{gridDim.x} * threads;
  for (index_t first = index_t{blockIdx.x} * threads; first < count; first += step) {
    const index_t row = first + threadIdx.x;
    const bool there = row < count && square_sums[row] > 0;
    const bool in_rows = row >= rows.begin && row < rows.end;
    const bool behind = row >= cols.begin && row < cols.end && row >= rows.end;
    add_block(there && in_rows, &valid->in_rows);
    add_block(there && behind, &valid->behind);
    add_block(there, &valid->in_all);
  }
}

__global__ void write_totals(const valid_rows* valid, bool is_against, index_t count,
                             kept_counts kept, std::uint64_t* totals) {
  totals[0] = tested_pairs(*valid, is_against);
  totals[1] = *kept.pairs + *kept.ends / 2;
  totals[2] = static_cast<std::uint64_t>(count) - valid->in_all;
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

void launch_write_totals(const valid_rows* valid, bool is_against, index_t count,
                         const kept_counts& kept, std::uint64_t* totals, cudaStream_t stream) {
  write_totals<<<1, 1, 0, stream>>>(valid, is_against, count, kept, totals);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
