#pragma once
// A radix sort of many rows side by side: (key, column) by 8 bits a pass, least significant first.
//
// The digits of every row are counted beforehand for all passes at once. A pass then moves every
// element once: a block takes a tile of a row, ranks its elements by their digit, learns from the
// row's tiles before it how many of each digit they hold (each publishes its own counts at once and
// the sum as soon as it knows it), and writes each digit's elements to where they belong in the
// row, coalesced through shared memory. So all rows keep the device busy, however long they are,
// and a row is never mixed with another. A pass in which all keys of a row have the same digit is
// left out for that row; the first one is always made, as it reads the caller's rows.

#include <cub/block/block_scan.cuh>

#include "kernels/common/launch.cuh"
#include "kernels/rank/row_access.cuh"
#include "plan/rank_policy.hpp"

namespace gpu::kernels {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
inline constexpr int multiprocessor_threads = 1024;
#else
inline constexpr int multiprocessor_threads = 1536;
#endif

inline constexpr int digit_bits = 8;
inline constexpr int digits = 1 << digit_bits;

template <class Key>
__device__ __forceinline__ int digit_of(Key key, int pass) {
  return static_cast<int>(key >> (pass * digit_bits)) & (digits - 1);
}

/// The rows of a chunk while they are sorted, and their scratch.
template <class Key>
struct row_sort {
  rank_source source;
  index_t first_row;  // of the chunk, in the source
  index_t rows;
  int tiles;  // of a row
  int items;  // of a thread of a tile, at most rank_sort_items
  Key* keys[2];
  std::uint32_t* columns[2];
  std::uint32_t* counts;    // [rows][passes][digits]; then where each digit starts in its row
  std::uint32_t* passes;    // [rows]: bit p is set where pass p is made
  std::uint32_t* progress;  // [most_passes][rows][tiles][digits], zeroed
  std::uint32_t* tickets;   // [most_passes], zeroed

  static constexpr int most_passes = static_cast<int>(sizeof(Key)) * 8 / digit_bits;

  [[nodiscard]] __host__ __device__ int pass_count() const { return source.key_bits / digit_bits; }
  /// Which of the two buffers holds a row before `pass`; only where a pass was made before.
  [[nodiscard]] __device__ int buffer_before(index_t row, int pass) const {
    return (__popc(passes[row] & ((1U << pass) - 1)) - 1) % 2;
  }
  [[nodiscard]] __device__ int sorted_buffer(index_t row) const {
    return buffer_before(row, pass_count());
  }
};

/// Adds the digits of a part of a row, for every pass, to sort.counts.
template <class Key>
__global__ __launch_bounds__(rank_count_threads,
                             rank_count_blocks) void count_digits_kernel(row_sort<Key> sort,
                                                                         int parts) {
  constexpr int threads = rank_count_threads;
  constexpr int in_flight = 8;
  __shared__ std::uint32_t counts[row_sort<Key>::most_passes][digits];
  const int thread = static_cast<int>(threadIdx.x);
  const int passes = sort.pass_count();
  for (int i = thread; i < passes * digits; i += threads) counts[i / digits][i % digits] = 0;
  __syncthreads();
  const index_t row = blockIdx.x / static_cast<unsigned>(parts);
  const index_t cols = sort.source.cols;
  const index_t step = index_t{parts} * threads * in_flight;
  index_t first = index_t{blockIdx.x % static_cast<unsigned>(parts)} * threads * in_flight;
  for (; first < cols; first += step) {
    Key keys[in_flight];
    const auto column_of = [&](int i) { return first + i * threads + thread; };
    const auto holds = [&](int i) { return column_of(i) < cols; };
    sort.source.load_keys(sort.first_row + row, column_of, holds, keys);
#pragma unroll
    for (int i = 0; i < in_flight; ++i) {
      if (!holds(i)) break;
#pragma unroll
      for (int pass = 0; pass < row_sort<Key>::most_passes; ++pass) {
        if (pass < passes) atomicAdd(&counts[pass][digit_of(keys[i], pass)], 1U);
      }
    }
  }
  __syncthreads();
  std::uint32_t* out = sort.counts + row * passes * digits;
  for (int i = thread; i < passes * digits; i += threads) {
    const std::uint32_t count = counts[i / digits][i % digits];
    if (count != 0) atomicAdd(out + i, count);
  }
}

/// One block a row: from counts to where each digit starts, and which passes there are to make.
template <class Key>
__global__ __launch_bounds__(digits) void start_digits_kernel(row_sort<Key> sort) {
  using scan = cub::BlockScan<std::uint32_t, digits>;
  __shared__ typename scan::TempStorage memory;
  const index_t row = blockIdx.x;
  const int passes = sort.pass_count();
  std::uint32_t made = 1;
  for (int pass = 0; pass < passes; ++pass) {
    std::uint32_t& count = sort.counts[(row * passes + pass) * digits + threadIdx.x];
    const std::uint32_t own = count;
    const bool all = own == static_cast<std::uint32_t>(sort.source.cols);
    std::uint32_t before = 0;
    scan(memory).ExclusiveSum(own, before);
    count = before;
    if (__syncthreads_or(static_cast<int>(all)) == 0) made |= 1U << pass;
  }
  if (threadIdx.x == 0) sort.passes[row] = made;
}

/// Shared memory of a block of a pass.
template <class Key>
struct sort_pass_memory {
  static constexpr int warps = rank_sort_threads / 32;
  static constexpr int capacity = rank_sort_threads * rank_sort_items(sizeof(Key));
  using scan = cub::BlockScan<std::uint32_t, rank_sort_threads>;
  struct ranking {
    std::uint32_t places[warps][digits];  // of the next element of a digit in a warp
    std::uint32_t lanes[warps][digits];   // of a warp that hold a digit; zero between items
  };
  struct staging {
    Key keys[capacity];
    std::uint32_t columns[capacity];
  };
  union {
    ranking by_digit;
    staging sorted;
  };
  typename scan::TempStorage scanning;
  std::uint32_t offsets[digits];  // from an element's place in the tile to its place in the row
  std::uint32_t ticket;
};

static_assert(sizeof(sort_pass_memory<std::uint32_t>) <= std::size_t{64} << 10);
static_assert(sizeof(sort_pass_memory<std::uint64_t>) <= std::size_t{64} << 10);

/// A tile of a row: where it begins, and how many elements it has. Each warp holds consecutive
/// ones, a lane every 32nd of them.
struct sort_tile {
  index_t row;
  int tile;
  int first;
  int count;
  int items;

  template <class Key>
  __device__ sort_tile(const row_sort<Key>& sort, std::uint32_t ticket)
      : row(ticket / static_cast<unsigned>(sort.tiles)),
        tile(static_cast<int>(ticket % static_cast<unsigned>(sort.tiles))),
        first(tile * sort.items * rank_sort_threads),
        count(min(sort.items * rank_sort_threads, sort.source.cols - first)),
        items(sort.items) {}
  /// Of the thread's item, in the tile.
  [[nodiscard]] __device__ int place(int item) const {
    const int thread = static_cast<int>(threadIdx.x);
    return (thread / 32 * items + item) * 32 + thread % 32;
  }
  [[nodiscard]] __device__ bool holds(int item) const {
    return item < items && place(item) < count;
  }
};

/// The highest bit of a word of `progress`, whose other bits then say where the digit's elements of
/// the next tile go. Without it: 0, or how many the tile has, plus one.
inline constexpr std::uint32_t progress_known = std::uint32_t{1} << 31;

/// Where the elements of a digit of a tile go, which has `own` of them. Blocks take tiles in order,
/// so that those before this one are under way. Some words are read ahead, as each read takes long;
/// that of tile 0 is known once it is written.
__device__ __forceinline__ std::uint32_t place_of_tile(volatile std::uint32_t* progress, int tile,
                                                       std::uint32_t own) {
  constexpr int ahead = 4;
  std::uint32_t before = 0;
  bool found = false;
  for (int nearest = tile - 1; !found; nearest -= ahead) {
    std::uint32_t words[ahead];
#pragma unroll
    for (int i = 0; i < ahead; ++i) words[i] = progress[max(nearest - i, 0) * digits];
#pragma unroll
    for (int i = 0; i < ahead; ++i) {
      if (found) continue;
      while (words[i] == 0) words[i] = progress[(nearest - i) * digits];
      found = (words[i] & progress_known) != 0;
      before += found ? words[i] & ~progress_known : words[i] - 1;
    }
  }
  progress[tile * digits] = progress_known | (before + own);
  return before;
}

/// Counts the digits of the tile, a warp for itself.
template <class Key, int Items>
__device__ __forceinline__ void count_tile(typename sort_pass_memory<Key>::ranking& by_digit,
                                           const sort_tile& tile, int pass,
                                           const Key (&keys)[Items]) {
  const int thread = static_cast<int>(threadIdx.x);
  constexpr int words = static_cast<int>(sizeof(by_digit) / sizeof(std::uint32_t));
  auto* zeroed = reinterpret_cast<std::uint32_t*>(&by_digit);
  for (int i = thread; i < words; i += rank_sort_threads) zeroed[i] = 0;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < Items; ++i) {
    if (tile.holds(i)) {
      atomicAdd(&by_digit.places[thread / 32][digit_of(keys[i], pass)], 1U);
    }
  }
  __syncthreads();
}

/// The place in the sorted tile of each of the thread's elements: equal digits stay in order.
template <class Key, int Items>
__device__ __forceinline__ void rank_tile(typename sort_pass_memory<Key>::ranking& by_digit,
                                          const sort_tile& tile, int pass, const Key (&keys)[Items],
                                          std::uint16_t (&places)[Items]) {
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const std::uint32_t lane = 1U << threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < Items; ++i) {
    if (i >= tile.items) continue;
    const bool holds = tile.holds(i);
    const int digit = holds ? digit_of(keys[i], pass) : 0;
    volatile std::uint32_t* lanes = &by_digit.lanes[warp][digit];
    volatile std::uint32_t* next = &by_digit.places[warp][digit];
    if (holds) atomicOr(&by_digit.lanes[warp][digit], lane);
    __syncwarp();
    const std::uint32_t same = *lanes;
    const std::uint32_t first = *next;
    __syncwarp();
    places[i] = static_cast<std::uint16_t>(first + __popc(same & (lane - 1)));
    // The last of them moves on for the next item.
    if (holds && (same & ~(lane | (lane - 1))) == 0) {
      *next = first + __popc(same);
      *lanes = 0;
    }
    __syncwarp();
  }
}

/// From the counts of warps to where the digits of each warp start in the sorted tile, and
/// publishes the tile's own counts. Returns the tile's count of the thread's digit, and where it
/// starts in `start`.
template <class Key>
__device__ __forceinline__ std::uint32_t start_tile(sort_pass_memory<Key>& memory,
                                                    volatile std::uint32_t* progress, int tile,
                                                    std::uint32_t first_of_row,
                                                    std::uint32_t& start) {
  const int digit = static_cast<int>(threadIdx.x);
  std::uint32_t count = 0;
  if (digit < digits) {
#pragma unroll
    for (int warp = 0; warp < sort_pass_memory<Key>::warps; ++warp) {
      count += memory.by_digit.places[warp][digit];
    }
    progress[tile * digits] = tile == 0 ? progress_known | (first_of_row + count) : count + 1;
  }
  typename sort_pass_memory<Key>::scan(memory.scanning).ExclusiveSum(count, start);
  if (digit < digits) {
    std::uint32_t next = start;
#pragma unroll
    for (int warp = 0; warp < sort_pass_memory<Key>::warps; ++warp) {
      const std::uint32_t own = memory.by_digit.places[warp][digit];
      memory.by_digit.places[warp][digit] = next;
      next += own;
    }
  }
  __syncthreads();
  return count;
}

/// Writes the staged tile to the row's other buffer.
template <class Key>
__device__ __forceinline__ void store_tile(const sort_pass_memory<Key>& memory,
                                           const sort_tile& tile, int pass, Key* keys,
                                           std::uint32_t* columns) {
  for (int i = static_cast<int>(threadIdx.x); i < tile.count; i += rank_sort_threads) {
    const Key key = memory.sorted.keys[i];
    const std::uint32_t at = memory.offsets[digit_of(key, pass)] + static_cast<std::uint32_t>(i);
    keys[at] = key;
    columns[at] = memory.sorted.columns[i];
  }
}

template <class Key, bool First>
__global__ __launch_bounds__(
    rank_sort_threads,
    rank_sort_blocks(multiprocessor_threads)) void sort_pass_kernel(row_sort<Key> sort, int pass) {
  constexpr int most_items = rank_sort_items(sizeof(Key));
  extern __shared__ __align__(16) std::byte shared[];
  auto& memory = *reinterpret_cast<sort_pass_memory<Key>*>(shared);
  const int digit = static_cast<int>(threadIdx.x);
  if (digit == 0) memory.ticket = atomicAdd(sort.tickets + pass, 1U);
  __syncthreads();
  const sort_tile tile(sort, memory.ticket);
  if (!First && (sort.passes[tile.row] >> pass & 1) == 0) return;
  const index_t cols = sort.source.cols;
  const int from = First ? 1 : sort.buffer_before(tile.row, pass);
  const Key* in = sort.keys[from] + tile.row * cols + tile.first;
  Key keys[most_items];
  if constexpr (First) {
    const auto column_of = [&](int i) { return tile.first + tile.place(i); };
    const auto holds = [&](int i) { return tile.holds(i); };
    sort.source.load_keys(sort.first_row + tile.row, column_of, holds, keys);
  } else {
#pragma unroll
    for (int i = 0; i < most_items; ++i) {
      if (tile.holds(i)) keys[i] = in[tile.place(i)];
    }
  }
  count_tile<Key>(memory.by_digit, tile, pass, keys);
  volatile std::uint32_t* progress =
      sort.progress + (pass * sort.rows + tile.row) * sort.tiles * digits + digit;
  const std::uint32_t first_of_row =
      digit < digits ? sort.counts[(tile.row * sort.pass_count() + pass) * digits + digit] : 0;
  std::uint32_t start = 0;
  const std::uint32_t own = start_tile(memory, progress, tile.tile, first_of_row, start);
  std::uint16_t places[most_items];
  rank_tile<Key>(memory.by_digit, tile, pass, keys, places);
  __syncthreads();
#pragma unroll
  for (int i = 0; i < most_items; ++i) {
    if (tile.holds(i)) memory.sorted.keys[places[i]] = keys[i];
  }
  std::uint32_t columns[most_items];
  const std::uint32_t* in_columns = sort.columns[from] + tile.row * cols + tile.first;
#pragma unroll
  for (int i = 0; i < most_items; ++i) {
    if (!tile.holds(i)) continue;
    columns[i] =
        First ? static_cast<std::uint32_t>(tile.first + tile.place(i)) : in_columns[tile.place(i)];
  }
  if (digit < digits) {
    const std::uint32_t first =
        tile.tile == 0 ? first_of_row : place_of_tile(progress, tile.tile, own);
    memory.offsets[digit] = first - start;
  }
#pragma unroll
  for (int i = 0; i < most_items; ++i) {
    if (tile.holds(i)) memory.sorted.columns[places[i]] = columns[i];
  }
  __syncthreads();
  store_tile(memory, tile, pass, sort.keys[1 - from] + tile.row * cols,
             sort.columns[1 - from] + tile.row * cols);
}

}  // namespace gpu::kernels
