// Finished edges from decided candidates, and what becomes of pairs that a screen found.

#include "kernels/common/launch.cuh"
#include "kernels/common/warp.cuh"
#include "kernels/pairs/edges/kernels.hpp"
#include "kernels/pairs/frame/statistic.cuh"
#include "stats/bins.hpp"

namespace gpu::kernels {
namespace {

constexpr int edge_threads = 256;
// A block adds its sums to the members of the checksum in place.
static_assert(sizeof(pair_checksum) == 3 * sizeof(unsigned long long) &&
              offsetof(pair_checksum, mix1) == 8 && offsetof(pair_checksum, mix2) == 16);

// Adds up the checksums of a block's threads. All threads.
__device__ void add_checksums(pair_checksum sum, pair_checksum* to) {
  __shared__ unsigned long long in_block[3];
  if (threadIdx.x < 3) in_block[threadIdx.x] = 0;
  __syncthreads();
  sum.count = warp_sum(sum.count);
  sum.mix1 = warp_sum(sum.mix1);
  sum.mix2 = warp_sum(sum.mix2);
  if (threadIdx.x % 32 == 0) {
    atomicAdd(in_block, static_cast<unsigned long long>(sum.count));
    atomicAdd(in_block + 1, static_cast<unsigned long long>(sum.mix1));
    atomicAdd(in_block + 2, static_cast<unsigned long long>(sum.mix2));
  }
  __syncthreads();
  auto* const totals = reinterpret_cast<unsigned long long*>(to);
  if (threadIdx.x < 3) atomicAdd(totals + threadIdx.x, in_block[threadIdx.x]);
}

// `checksum` is that of no pairs before the launch, or null.
__global__ void write_edges(const decided_edges from, std::uint64_t first, std::uint64_t count,
                            const stats::p_function p_of, edge* out, pair_checksum* checksum) {
  const std::uint64_t at = std::uint64_t{blockIdx.x} * edge_threads + threadIdx.x;
  const bool is_there = at < count && (from.found == nullptr || first + at < *from.found);
  pair_checksum sum;
  if (is_there) {
    const std::uint64_t key = from.keys[first + at];
    const double statistic =
        __longlong_as_double(static_cast<long long>(from.statistics[first + at]));
    const edge written = {.row = from.layout.row_of(key),
                          .col = from.layout.col_of(key),
                          .statistic = statistic,
                          .p = p_of.table == nullptr ? 0.0 : p_of(statistic)};
    out[at] = written;
    sum = checksum_of(written.row, written.col, written.statistic);
  }
  if (checksum != nullptr) add_checksums(sum, checksum);
}

// `out.checksum` is that of no pairs before the launch.
__global__ void pack_edges(const decided_edges from, std::uint64_t first, std::uint64_t count,
                           const packed_target out) {
  const std::uint64_t at = std::uint64_t{blockIdx.x} * edge_threads + threadIdx.x;
  pair_checksum sum;
  if (at < count) {
    const std::uint64_t key = from.keys[first + at];
    const std::uint64_t statistic = from.statistics[first + at];
    out.statistics[at] = statistic;
    out.places[at] = static_cast<std::uint32_t>(key);
    sum = checksum_of(from.layout.row_of(key), from.layout.col_of(key),
                      __longlong_as_double(static_cast<long long>(statistic)));
  }
  add_checksums(sum, out.checksum);
}

__global__ void key_screened(const screened_edge* found, std::uint64_t count,
                             const std::uint64_t* there, const edge_key_layout layout,
                             std::uint64_t* keys, std::uint64_t* statistics) {
  const std::uint64_t at = std::uint64_t{blockIdx.x} * edge_threads + threadIdx.x;
  if (at >= count || (there != nullptr && at >= *there)) return;
  const screened_edge pair = found[at];
  keys[at] = layout.of(pair.row, pair.col);
  statistics[at] = product_bits(pair.statistic);
}

__global__ void count_screened(const screened_edge* found, std::uint64_t count,
                               const screened_counts into) {
  const std::uint64_t at = std::uint64_t{blockIdx.x} * edge_threads + threadIdx.x;
  unsigned long long pairs = 0;
  if (at < count) {
    const screened_edge pair = found[at];
    const std::uint32_t row_weight = into.weights == nullptr ? 1 : into.weights[pair.row];
    const std::uint32_t col_weight = into.weights == nullptr ? 1 : into.weights[pair.col];
    pairs = static_cast<unsigned long long>(row_weight) * col_weight;
    atomicAdd(into.degree + pair.row, col_weight);
    atomicAdd(into.degree + pair.col, row_weight);
    if (into.histogram_bins > 0) {
      atomicAdd(into.histogram + detail::histogram_bin(pair.statistic, into.histogram_bins), pairs);
    }
  }
  pairs = warp_sum(pairs);
  if (threadIdx.x % 32 == 0 && pairs > 0) atomicAdd(into.kept, pairs);
}

unsigned blocks_for(std::uint64_t count) {
  return grid_blocks(static_cast<index_t>(count), edge_threads);
}

}  // namespace

void launch_write_edges(const decided_edges& from, std::uint64_t first, std::uint64_t count,
                        const stats::p_function& p_of, edge* out, pair_checksum* checksum,
                        cudaStream_t stream) {
  if (count == 0) return;
  if (checksum != nullptr) {
    GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(checksum, 0, sizeof *checksum, stream));
  }
  write_edges<<<blocks_for(count), edge_threads, 0, stream>>>(from, first, count, p_of, out,
                                                              checksum);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

void launch_pack_edges(const decided_edges& from, std::uint64_t first, std::uint64_t count,
                       const packed_target& out, cudaStream_t stream) {
  if (count == 0) return;
  GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(out.checksum, 0, sizeof *out.checksum, stream));
  pack_edges<<<blocks_for(count), edge_threads, 0, stream>>>(from, first, count, out);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

void launch_key_screened(const screened_edge* found, std::uint64_t count,
                         const std::uint64_t* there, const edge_key_layout& layout,
                         std::uint64_t* keys, std::uint64_t* statistics, cudaStream_t stream) {
  if (count == 0) return;
  key_screened<<<blocks_for(count), edge_threads, 0, stream>>>(found, count, there, layout, keys,
                                                               statistics);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

void launch_count_screened(const screened_edge* found, std::uint64_t count,
                           const screened_counts& into, cudaStream_t stream) {
  if (count == 0) return;
  count_screened<<<blocks_for(count), edge_threads, 0, stream>>>(found, count, into);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
