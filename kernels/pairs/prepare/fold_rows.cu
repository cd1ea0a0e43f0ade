// Rows of equal ranks become one pattern each: hash, sort, compare, number, gather. All passes
// stream but two that follow the order of the hashes and gather 32-byte pieces of rows.

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "cuda_runtime/arena.hpp"
#include "cuda_runtime/cuda_check.hpp"
#include "kernels/common/launch.cuh"
#include "kernels/pairs/prepare/fold_kernels.hpp"

namespace gpu::kernels {
namespace {

constexpr int threads = 256;
constexpr std::uint64_t no_hash = ~std::uint64_t{0};  // of rows without a statistic: they sort last
constexpr std::uint32_t no_pattern = ~std::uint32_t{0};
constexpr int piece_bytes = 16;

// Murmur3's finalizer: every bit of the result depends on every bit of the argument.
__device__ std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdULL;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

__device__ std::uint64_t hash_word(std::uint64_t word, std::uint64_t seed, index_t place) {
  return mix(word ^ mix(seed + static_cast<std::uint64_t>(place) * 0x9e3779b97f4a7c15ULL));
}

// `lanes` (a power of two up to 32) threads a row, so that a warp reads consecutive pieces. Words
// are hashed with their place and added up: the sum does not depend on who took which.
__global__ void __launch_bounds__(threads)
    hash_rows(fold_source source, int lanes, std::uint64_t seed, std::uint64_t* hashes,
              std::uint32_t* order) {
  const index_t at = index_t{blockIdx.x} * threads + threadIdx.x;
  const index_t row = at / lanes;
  const int lane = static_cast<int>(at % lanes);
  std::uint64_t hash = 0;
  if (row < source.rows) {
    const auto* pieces =
        reinterpret_cast<const ulonglong2*>(source.values + row * source.row_bytes);
    for (index_t piece = lane; piece < source.row_bytes / piece_bytes; piece += lanes) {
      const ulonglong2 words = pieces[piece];
      hash += hash_word(words.x, seed, 2 * piece + 1) + hash_word(words.y, seed, 2 * piece + 2);
    }
  }
  for (int step = lanes / 2; step > 0; step /= 2) hash += __shfl_xor_sync(~0U, hash, step);
  if (row >= source.rows || lane != 0) return;
  hash = mix(hash + (row < source.border ? seed | 1 : 0));
  if (hash == no_hash) hash = 0;
  hashes[row] = source.square_sums[row] > 0 ? hash : no_hash;
  order[row] = static_cast<std::uint32_t>(row);
}

__device__ bool equal_rows(const fold_source& source, index_t a, index_t b) {
  if ((a < source.border) != (b < source.border)) return false;
  const auto* x = reinterpret_cast<const int4*>(source.values + a * source.row_bytes);
  const auto* y = reinterpret_cast<const int4*>(source.values + b * source.row_bytes);
  bool equal = true;
  for (index_t piece = 0; equal && piece < source.row_bytes / piece_bytes; ++piece) {
    const int4 p = x[piece];
    const int4 q = y[piece];
    equal = ((p.x ^ q.x) | (p.y ^ q.y) | (p.z ^ q.z) | (p.w ^ q.w)) == 0;
  }
  return equal;
}

// One place of the order a thread. heads[place] is the place itself where a pattern begins, else 0,
// of which a running maximum makes the place of the pattern's first row.
__global__ void __launch_bounds__(threads)
    mark_heads(fold_source source, const std::uint64_t* hashes, fold_places places,
               fold_counters* counters) {
  const index_t place = index_t{blockIdx.x} * threads + threadIdx.x;
  if (place >= source.rows) return;
  const std::uint64_t hash = hashes[place];
  const std::uint32_t row = places.order[place];
  bool head = hash == no_hash || place == 0 || hashes[place - 1] != hash;
  if (!head && !equal_rows(source, places.order[place - 1], row)) {
    head = true;
    atomicAdd(&counters->collisions, 1U);
  }
  places.heads[place] = head ? static_cast<std::uint32_t>(place) : 0;
  places.is_first[row] = head && hash != no_hash ? 1 : 0;
}

__global__ void count_patterns(fold_places places, index_t rows, fold_counters* counters) {
  counters->patterns = places.number[rows - 1] + places.is_first[rows - 1];
}

// The last place of a pattern leaves its weight.
__global__ void __launch_bounds__(threads)
    number_rows(fold_source source, fold_places places, std::uint32_t* pattern_of,
                std::uint32_t* weights) {
  const index_t place = index_t{blockIdx.x} * threads + threadIdx.x;
  if (place >= source.rows) return;
  const std::uint32_t row = places.order[place];
  if (source.square_sums[row] <= 0) {
    pattern_of[row] = no_pattern;
    return;
  }
  const std::uint32_t head = places.heads[place];
  const std::uint32_t pattern = places.number[places.order[head]];
  pattern_of[row] = pattern;
  if (place + 1 == source.rows || places.heads[place + 1] != head) {
    weights[pattern] = static_cast<std::uint32_t>(place) - head + 1;
  }
}

__global__ void __launch_bounds__(threads)
    list_members(index_t rows, fold_places places, const std::uint32_t* pattern_of,
                 const std::uint32_t* begin, std::uint32_t* members) {
  const index_t place = index_t{blockIdx.x} * threads + threadIdx.x;
  if (place >= rows) return;
  const std::uint32_t row = places.order[place];
  const std::uint32_t pattern = pattern_of[row];
  if (pattern == no_pattern) return;
  members[begin[pattern] + (static_cast<std::uint32_t>(place) - places.heads[place])] = row;
}

// The first rows of the patterns, which are in order already; a piece a thread.
__global__ void __launch_bounds__(threads)
    gather_rows(fold_source source, fold_places places, fold_result result) {
  const index_t pieces = source.row_bytes / piece_bytes;
  const index_t at = index_t{blockIdx.x} * threads + threadIdx.x;
  const index_t row = at / pieces;
  if (row >= source.rows || places.is_first[row] == 0) return;
  const index_t piece = at % pieces;
  const index_t pattern = places.number[row];
  reinterpret_cast<int4*>(result.values)[pattern * pieces + piece] =
      reinterpret_cast<const int4*>(source.values)[at];
  if (piece == 0) result.square_sums[pattern] = source.square_sums[row];
}

struct larger {
  __host__ __device__ std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
    return a > b ? a : b;
  }
};

// Temporary memory of CUB, the largest of the three calls.
std::size_t cub_bytes(index_t rows) {
  std::size_t sort = 0;
  cub::DoubleBuffer<std::uint64_t> keys;
  cub::DoubleBuffer<std::uint32_t> values;
  GPU_SIMILARITY_CUDA_CHECK(cub::DeviceRadixSort::SortPairs(nullptr, sort, keys, values, rows));
  std::size_t scan = 0;
  std::uint32_t* nothing = nullptr;
  GPU_SIMILARITY_CUDA_CHECK(
      cub::DeviceScan::InclusiveScan(nullptr, scan, nothing, nothing, larger{}, rows));
  std::size_t sum = 0;
  GPU_SIMILARITY_CUDA_CHECK(cub::DeviceScan::ExclusiveSum(nullptr, sum, nothing, nothing, rows));
  return sort > scan ? (sort > sum ? sort : sum) : (scan > sum ? scan : sum);
}

// Two buffers of hashes, one of rows, and CUB's.
struct fold_scratch {
  std::uint64_t* hashes[2];
  std::uint32_t* rows;
  void* cub = nullptr;
  std::size_t bytes_of_cub = 0;

  fold_scratch(cuda::arena& memory, index_t count)
      : hashes{memory.take<std::uint64_t>(count), memory.take<std::uint64_t>(count)},
        rows(memory.take<std::uint32_t>(count)) {}
  // CUB's takes the rest of a scratch memory of so many bytes.
  fold_scratch(cuda::arena memory, index_t count, std::size_t bytes) : fold_scratch(memory, count) {
    bytes_of_cub = bytes - memory.bytes();
    cub = memory.take<std::byte>(bytes_of_cub);
  }
};

}  // namespace

std::size_t fold_scratch_bytes(index_t rows) {
  return cuda::bytes_taken([&](cuda::arena& memory) {
    static_cast<void>(fold_scratch(memory, rows));
    return memory.take<std::byte>(cub_bytes(rows));
  });
}

void launch_find_patterns(const fold_source& source, std::uint64_t seed, const fold_places& places,
                          fold_counters* counters, void* scratch, std::size_t scratch_bytes,
                          cudaStream_t stream) {
  fold_scratch room(cuda::arena(scratch), source.rows, scratch_bytes);
  GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(counters, 0, sizeof *counters, stream));
  int lanes = 1;
  while (lanes < 32 && 2 * lanes * piece_bytes <= source.row_bytes) lanes *= 2;
  // The sort ends in whichever buffer: rows go where its last pass leaves them.
  cub::DoubleBuffer<std::uint64_t> keys(room.hashes[0], room.hashes[1]);
  cub::DoubleBuffer<std::uint32_t> rows(places.order, room.rows);
  hash_rows<<<grid_blocks(source.rows * lanes, threads), threads, 0, stream>>>(
      source, lanes, seed, keys.Current(), rows.Current());
  GPU_SIMILARITY_CHECK_LAUNCH();
  GPU_SIMILARITY_CUDA_CHECK(cub::DeviceRadixSort::SortPairs(room.cub, room.bytes_of_cub, keys, rows,
                                                            source.rows, 0, 64, stream));
  if (rows.Current() != places.order) {
    GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(
        places.order, rows.Current(), static_cast<std::size_t>(source.rows) * sizeof(std::uint32_t),
        cudaMemcpyDeviceToDevice, stream));
  }
  mark_heads<<<grid_blocks(source.rows, threads), threads, 0, stream>>>(source, keys.Current(),
                                                                        places, counters);
  GPU_SIMILARITY_CHECK_LAUNCH();
  GPU_SIMILARITY_CUDA_CHECK(cub::DeviceScan::InclusiveScan(
      room.cub, room.bytes_of_cub, places.heads, places.heads, larger{}, source.rows, stream));
  GPU_SIMILARITY_CUDA_CHECK(cub::DeviceScan::ExclusiveSum(
      room.cub, room.bytes_of_cub, places.is_first, places.number, source.rows, stream));
  count_patterns<<<1, 1, 0, stream>>>(places, source.rows, counters);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

void launch_fold_rows(const fold_source& source, const fold_places& places, index_t patterns,
                      const fold_result& result, void* scratch, std::size_t scratch_bytes,
                      cudaStream_t stream) {
  if (patterns == 0) return;
  fold_scratch room(cuda::arena(scratch), source.rows, scratch_bytes);
  number_rows<<<grid_blocks(source.rows, threads), threads, 0, stream>>>(
      source, places, result.pattern_of, room.rows);
  GPU_SIMILARITY_CHECK_LAUNCH();
  GPU_SIMILARITY_CUDA_CHECK(cub::DeviceScan::ExclusiveSum(room.cub, room.bytes_of_cub, room.rows,
                                                          result.begin, patterns, stream));
  list_members<<<grid_blocks(source.rows, threads), threads, 0, stream>>>(
      source.rows, places, result.pattern_of, result.begin, result.members);
  GPU_SIMILARITY_CHECK_LAUNCH();
  const index_t pieces = source.rows * (source.row_bytes / piece_bytes);
  gather_rows<<<grid_blocks(pieces, threads), threads, 0, stream>>>(source, places, result);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
