// Joins candidates to the best partners of their rows: a block sorts those of one row in shared
// memory.

#include <bit>

#include "kernels/common/launch.cuh"
#include "kernels/tanimoto/kernels.hpp"
#include "stats/set_similarity.hpp"

namespace gpu::kernels {
namespace {

constexpr int threads = 128;
constexpr index_t most_grid_rows = index_t{1} << 30;

struct sorted_entry {
  double value;
  tanimoto_partner partner;
};

__device__ __forceinline__ bool is_before(const sorted_entry& a, const sorted_entry& b) {
  return a.value != b.value ? a.value > b.value : a.partner.col < b.partner.col;
}

// By all threads of a block: best first. `size` is a power of two.
__device__ __forceinline__ void sort_entries(sorted_entry* entries, int size) {
  for (int run = 2; run <= size; run *= 2) {
    for (int step = run / 2; step > 0; step /= 2) {
      __syncthreads();
      for (int i = static_cast<int>(threadIdx.x); i < size / 2; i += threads) {
        const int low = i / step * 2 * step + i % step;
        const int high = low + step;
        const bool ascends = (low & run) == 0;
        if (is_before(entries[high], entries[low]) == ascends) {
          const sorted_entry kept = entries[low];
          entries[low] = entries[high];
          entries[high] = kept;
        }
      }
    }
  }
  __syncthreads();
}

__global__ void __launch_bounds__(threads)
    join_partners_kernel(const __grid_constant__ tanimoto_partners lists,
                         const std::int32_t* left_ones, const std::int32_t* right_ones) {
  extern __shared__ __align__(16) unsigned char shared[];
  auto* const entries = reinterpret_cast<sorted_entry*>(shared);
  if (*lists.overflow != 0) return;
  for (index_t row = blockIdx.x; row < lists.rows; row += gridDim.x) {
    const int held = static_cast<int>(lists.held[row]);
    const int all = held + static_cast<int>(lists.found[row]);
    if (all == held) continue;
    int size = 2;
    while (size < all) size *= 2;
    const std::int32_t own = left_ones[lists.first_row + row];
    tanimoto_partner* const best = lists.best + row * lists.k;
    const tanimoto_partner* const candidates = lists.candidates + row * lists.capacity;
    for (int i = static_cast<int>(threadIdx.x); i < size; i += threads) {
      sorted_entry entry{-1.0, {~0U, 0}};
      if (i < all) {
        entry.partner = i < held ? best[i] : candidates[i - held];
        const auto common = static_cast<std::int32_t>(entry.partner.common);
        entry.value = stats::set_similarity(common, own, right_ones[entry.partner.col], lists.of);
      }
      entries[i] = entry;
    }
    sort_entries(entries, size);
    const int kept = min(lists.k, all);
    for (int i = static_cast<int>(threadIdx.x); i < kept; i += threads) {
      best[i] = entries[i].partner;
    }
    if (threadIdx.x == 0) {
      lists.held[row] = static_cast<std::uint32_t>(kept);
      lists.found[row] = 0;
      if (kept == lists.k) {
        lists.worst[row] = entries[kept - 1].value;
        lists.screen[row] = stats::screen_of(entries[kept - 1].value, lists.of);
      }
    }
    __syncthreads();
  }
}

__global__ void __launch_bounds__(threads)
    clear_partners_kernel(const __grid_constant__ tanimoto_partners lists, bool candidates_alone) {
  const index_t first = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
  if (first == 0) *lists.overflow = 0;
  for (index_t row = first; row < lists.rows; row += static_cast<index_t>(gridDim.x) * threads) {
    lists.found[row] = 0;
    if (candidates_alone) continue;
    lists.held[row] = 0;
    lists.worst[row] = -1.0;
    lists.screen[row] = stats::screen_of(lists.least, lists.of);
  }
}

void launch_clear(const tanimoto_partners& lists, bool candidates_alone, cudaStream_t stream) {
  const unsigned blocks = grid_blocks(lists.rows, threads, most_grid_rows);
  clear_partners_kernel<<<blocks, threads, 0, stream>>>(lists, candidates_alone);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace

void launch_clear_partners(const tanimoto_partners& lists, cudaStream_t stream) {
  launch_clear(lists, false, stream);
}

void launch_drop_candidates(const tanimoto_partners& lists, cudaStream_t stream) {
  launch_clear(lists, true, stream);
}

void launch_join_partners(const tanimoto_partners& lists, const std::int32_t* left_ones,
                          const std::int32_t* right_ones, cudaStream_t stream) {
  const auto most = std::bit_ceil(static_cast<unsigned>(lists.k + lists.capacity));
  const unsigned blocks = grid_blocks(lists.rows, 1, most_grid_rows);
  join_partners_kernel<<<blocks, threads, most * sizeof(sorted_entry), stream>>>(lists, left_ones,
                                                                                 right_ones);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
