// Which rows have equal masks: classes, numbered by their first rows, and the rows of each.
//
// A row puts a hash of its mask into a table that all rows share, by linear probing; rows whose
// hashes are equal have one place, and the lowest of them names it. The host numbers the places
// that are taken. Then each row compares its mask with that of the first row of its class, because
// different masks may have one hash.

#include "kernels/common/launch.cuh"
#include "kernels/pairs/pairwise/class_lists.hpp"

namespace gpu::kernels {
namespace {

constexpr int threads = 256;
constexpr int list_threads = 1024;
constexpr int list_warps = list_threads / 32;

struct list_arguments {
  mask_rows masks;
  class_places places;
  row_lists out;
};

__device__ unsigned long long hash_of(const std::uint64_t* mask, index_t words) {
  std::uint64_t out = 0;
  for (index_t w = 0; w < words; ++w) {
    out = (out ^ mask[w]) * 0x9e3779b97f4a7c15ULL;  // 2^64 over the golden ratio
    out ^= out >> 32U;
  }
  return out != 0 ? out : 1;  // 0 is a free place
}

__global__ void place_rows(const __grid_constant__ list_arguments args) {
  const index_t row = index_t{blockIdx.x} * threads + threadIdx.x;
  const class_places& to = args.places;
  volatile unsigned* const taken = &to.table->taken;
  if (row >= args.masks.count || *taken > most_mask_classes) return;
  const unsigned long long hash = hash_of(args.masks.of(row), args.masks.words);
  for (unsigned probe = 0; probe < class_table::places; ++probe) {
    const auto place = static_cast<unsigned>((hash + probe) % class_table::places);
    const unsigned long long before = atomicCAS(&to.table->hash[place], 0ULL, hash);
    if (before != 0 && before != hash) continue;
    if (before == 0) atomicAdd(&to.table->taken, 1U);
    atomicMin(&to.table->first[place], static_cast<unsigned>(row));
    to.of_row[row] = static_cast<std::uint16_t>(place);
    return;
  }
  atomicAdd(&to.table->taken, 1U);  // there were too many anyway
}

// From places to classes.
__global__ void name_rows(const __grid_constant__ list_arguments args) {
  const index_t row = index_t{blockIdx.x} * threads + threadIdx.x;
  if (row >= args.masks.count) return;
  const std::uint16_t of = args.places.number[args.places.of_row[row]];
  const std::uint64_t* const own = args.masks.of(row);
  const std::uint64_t* const first = args.masks.of(args.out.first[of]);
  bool is_equal = true;
  for (index_t w = 0; w < args.masks.words; ++w) is_equal = is_equal && own[w] == first[w];
  if (!is_equal) *args.out.differs = 1;
  args.out.of_row[row] = of;
  atomicAdd(args.out.sizes + of, 1U);
}

// A block a class: its rows in ascending order.
__global__ void list_rows(const __grid_constant__ list_arguments args) {
  __shared__ unsigned of_warp[list_warps];
  const unsigned warp = threadIdx.x / 32;
  const unsigned lane = threadIdx.x % 32;
  unsigned next = 0;
  for (unsigned of = 0; of < blockIdx.x; ++of) next += args.out.sizes[of];
  if (threadIdx.x == 0) {
    args.out.begins[blockIdx.x] = next;
    args.out.begins[blockIdx.x + 1] = next + args.out.sizes[blockIdx.x];
  }
  for (index_t begin = 0; begin < args.masks.count; begin += list_threads) {
    const index_t row = begin + threadIdx.x;
    const bool own = row < args.masks.count && args.out.of_row[row] == blockIdx.x;
    const unsigned all = __ballot_sync(~0U, own);
    if (lane == 0) of_warp[warp] = static_cast<unsigned>(__popc(static_cast<int>(all)));
    __syncthreads();
    unsigned place =
        next + static_cast<unsigned>(__popc(static_cast<int>(all & ((1U << lane) - 1))));
    for (unsigned w = 0; w < list_warps; ++w) {
      if (w < warp) place += of_warp[w];
      next += of_warp[w];
    }
    if (own) {
      args.out.order[place] = static_cast<std::uint32_t>(row);
      args.out.places[row] = place;
    }
    __syncthreads();
  }
}

}  // namespace

void launch_place_rows(const mask_rows& masks, const class_places& to, cudaStream_t stream) {
  if (masks.count == 0) return;
  place_rows<<<grid_blocks(masks.count, threads), threads, 0, stream>>>({masks, to, {}});
  GPU_SIMILARITY_CHECK_LAUNCH();
}

void launch_list_rows(const mask_rows& masks, const class_places& from, int classes,
                      const row_lists& out, cudaStream_t stream) {
  const list_arguments args{masks, from, out};
  name_rows<<<grid_blocks(masks.count, threads), threads, 0, stream>>>(args);
  list_rows<<<static_cast<unsigned>(classes), list_threads, 0, stream>>>(args);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
