#pragma once
// From rows in order to ranks. A warp takes consecutive places of a row, finds the runs of equal
// keys among them by ballots, and where a run goes on beyond them, looks for its border in the row,
// at 32 places at a time: so only dense ranks need a scan over the row.
//
// Ranks belong in the order of the columns. Where a few blocks' shared memory holds those of a row,
// each block reads the whole row in order and keeps the ranks of its range of columns, which then
// leave coalesced. Longer rows, and rows too few for that to keep the device busy, are written
// scattered.

#include "kernels/common/warp.cuh"
#include "kernels/rank/row_sort.cuh"

namespace gpu::kernels {

/// Places of a row that each lane of a warp looks at together.
template <class Key>
inline constexpr int run_items = sizeof(Key) > 4 ? 4 : 8;

/// The first place from `low` on whose key is not `before` the border; it is `high` at the latest.
/// The whole warp looks.
template <class Before>
__device__ int find_border(int low, int high, const Before& before) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  while (low < high) {
    const auto probe = [&](int at) {
      return low + static_cast<int>(static_cast<long long>(high - low) * at / 32);
    };
    const unsigned right = __ballot_sync(all_lanes, !before(probe(lane)));
    const int first = right == 0 ? 32 : __ffs(static_cast<int>(right)) - 1;
    const int next_low = first == 0 ? low : probe(first - 1) + 1;
    high = first == 0 ? low : probe(first);
    low = next_low;
  }
  return low;
}

/// A row of keys in order.
template <class Key>
struct sorted_row {
  const Key* keys;
  const std::uint32_t* columns;
  const std::uint32_t* runs;  // null unless ranks are dense
  int cols;

  /// Where the run begins that reaches from before place `at` up to there.
  [[nodiscard]] __device__ int run_begin(int at, Key key) const {
    const int near = max(at - 32, 0);
    const bool is_near = keys[near] != key;
    return find_border(is_near ? near : 0, is_near ? at : near,
                       [&](int place) { return keys[place] < key; });
  }
  /// Where the run ends that reaches beyond place `at`.
  [[nodiscard]] __device__ int run_end(int at, Key key) const {
    const int near = min(at + 32, cols);
    const bool is_near = near == cols || keys[near] != key;
    return find_border(is_near ? at : near, is_near ? near : cols,
                       [&](int place) { return keys[place] <= key; });
  }
};

/// The runs of a warp's places [base, base + count) of a row, a lane every 32nd of them.
template <class Key>
struct warp_runs {
  static constexpr int items = run_items<Key>;
  unsigned heads[items];  // of the 32 places of an item: where runs begin
  int begins[items];      // of the run that reaches into the item
  int ends[items];        // of the run that reaches beyond the item
  int base;

  __device__ warp_runs(const sorted_row<Key>& row, int first_place, int count,
                       const Key (&keys)[items])
      : base(first_place) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int end = base + count;
    // Any other key where there is none.
    const Key before =
        base > 0 ? row.keys[base - 1] : static_cast<Key>(~__shfl_sync(all_lanes, keys[0], 0));
    const Key next = end < row.cols ? row.keys[end] : Key{0};
    Key last = before;
#pragma unroll
    for (int i = 0; i < items; ++i) {
      const Key up = __shfl_up_sync(all_lanes, keys[i], 1);
      const bool starts = (lane == 0 ? last : up) != keys[i];
      heads[i] = __ballot_sync(all_lanes, starts && i * 32 + lane < count);
      const Key of_item = __shfl_sync(all_lanes, keys[i], min(count - 1 - i * 32, 31) & 31);
      if (i * 32 < count) last = of_item;
    }
    begins[0] = (heads[0] & 1) != 0 ? base : row.run_begin(base, before);
    ends[items - 1] = end < row.cols && next == last ? row.run_end(end, last) : end;
#pragma unroll
    for (int i = 1; i < items; ++i) {
      begins[i] = heads[i - 1] == 0 ? begins[i - 1]
                                    : base + i * 32 - 1 - __clz(static_cast<int>(heads[i - 1]));
      const int at = items - 1 - i;
      ends[at] = heads[at + 1] == 0
                     ? ends[at + 1]
                     : base + (at + 1) * 32 + __ffs(static_cast<int>(heads[at + 1])) - 1;
    }
  }

  /// The run [first, last) of the lane's place of an item.
  __device__ void run_of(int item, int& first, int& last) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const unsigned up_to = heads[item] & (all_lanes >> (31 - lane));
    const unsigned beyond = heads[item] & ~(all_lanes >> (31 - lane));
    first = up_to == 0 ? begins[item] : base + item * 32 + 31 - __clz(static_cast<int>(up_to));
    last = beyond == 0 ? ends[item] : base + item * 32 + __ffs(static_cast<int>(beyond)) - 1;
  }
};

/// body(column, count) for the lane's places from `base` on.
template <class Key, class Body>
__device__ __forceinline__ void rank_places(const sorted_row<Key>& row, tie_method ties, int base,
                                            const Body& body) {
  constexpr int items = run_items<Key>;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int count = min(row.cols - base, items * 32);
  Key keys[items];
  std::uint32_t columns[items];
#pragma unroll
  for (int i = 0; i < items; ++i) {
    const bool holds = i * 32 + lane < count;
    keys[i] = holds ? row.keys[base + i * 32 + lane] : Key{0};
    columns[i] = holds ? row.columns[base + i * 32 + lane] : 0;
  }
  const warp_runs<Key> runs(row, base, count, keys);
#pragma unroll
  for (int i = 0; i < items; ++i) {
    const int at = base + i * 32 + lane;
    if (i * 32 + lane >= count) continue;
    int first = 0;
    int last = 0;
    runs.run_of(i, first, last);
    const int distinct = row.runs == nullptr ? 0 : static_cast<int>(row.runs[at] - row.runs[0]);
    body(columns[i], count_in_run(ties, row.cols, first, last, at, distinct));
  }
}

/// Adds the squares of the threads' counts to the row's sum.
__device__ __forceinline__ void add_squares(const rank_target& target, index_t row,
                                            unsigned long long squares) {
  if (target.square_sums == nullptr) return;
  squares = warp_sum(squares);
  // Integers: the sum does not depend on the order in which warps add to it.
  if (threadIdx.x % 32 == 0 && squares != 0) {
    atomicAdd(reinterpret_cast<unsigned long long*>(target.square_sums + row), squares);
  }
}

/// Ranks part of a row: with Staged, of `part_cols` columns, in as many words of shared memory;
/// else of as many places in order as the block's warps look at together.
template <class Key, bool Staged>
__global__ __launch_bounds__(rank_staged_threads) void rank_sorted_kernel(
    row_sort<Key> sort, rank_target target, tie_method ties, const std::uint32_t* runs, int parts,
    int part_cols) {
  extern __shared__ int counts[];
  const int cols = sort.source.cols;
  const index_t row = blockIdx.x / static_cast<unsigned>(parts);
  const auto part = static_cast<int>(blockIdx.x % static_cast<unsigned>(parts));
  const index_t target_row = sort.first_row + row;
  const int buffer = sort.sorted_buffer(row);
  const sorted_row<Key> sorted{sort.keys[buffer] + row * cols, sort.columns[buffer] + row * cols,
                               runs == nullptr ? nullptr : runs + row * cols, cols};
  // A NaN has the largest key before `flip`: it is last, or first in descending order.
  const Key flip = static_cast<Key>(sort.source.flip);
  const bool has_nan = sort.source.is_nan(sorted.keys[flip == 0 ? cols - 1 : 0] ^ flip);
  const int thread = static_cast<int>(threadIdx.x);
  const int threads = static_cast<int>(blockDim.x);
  const int warp_base = thread / 32 * 32 * run_items<Key>;
  unsigned long long squares = 0;
  const auto square = [](int count) {
    return static_cast<unsigned long long>(static_cast<long long>(count) * count);
  };
  const int first_col = part * part_cols;
  const int last_col = min(first_col + part_cols, cols);
  if constexpr (Staged) {
    for (int base = warp_base; base < cols; base += threads * run_items<Key>) {
      rank_places(sorted, ties, base, [&](std::uint32_t col, int count) {
        const int at = static_cast<int>(col) - first_col;
        if (at < 0 || at >= part_cols) return;
        counts[at] = count;
        squares += square(count);
      });
    }
    __syncthreads();
    for (int col = first_col + thread; col < last_col; col += threads) {
      target.store(target_row, col, counts[col - first_col], has_nan);
    }
  } else if (first_col + warp_base < cols) {
    rank_places(sorted, ties, first_col + warp_base, [&](std::uint32_t col, int count) {
      target.store(target_row, col, count, has_nan);
      squares += square(count);
    });
  }
  for (index_t col = index_t{cols} + part * threads + thread; col < target.cols;
       col += index_t{parts} * threads) {
    target.store(target_row, col, 0, false);
  }
  add_squares(target, target_row, squares);
}

/// Ranks the rows of a chunk that was sorted; `runs` numbers the runs for dense ranks, else null.
template <class Key>
void launch_rank_sorted(const row_sort<Key>& sort, const rank_target& target, tie_method ties,
                        const std::uint32_t* runs, cudaStream_t stream) {
  const index_t cols = sort.source.cols;
  const cuda::device_limits& limits = cuda::current_limits();
  const auto most_cols = static_cast<index_t>(limits.block_shared_bytes / sizeof(int));
  const index_t ranges = ceil_div(cols, most_cols);
  if (ranges <= rank_staged_ranges && sort.rows * ranges >= limits.multiprocessors) {
    const index_t range = ceil_div(cols, ranges);
    const int threads =
        range <= rank_staged_few_cols ? rank_staged_threads / 2 : rank_staged_threads;
    const std::size_t bytes = static_cast<std::size_t>(range) * sizeof(int);
    allow_shared_memory(rank_sorted_kernel<Key, true>, bytes);
    rank_sorted_kernel<Key, true><<<grid_blocks(sort.rows * ranges, 1), threads, bytes, stream>>>(
        sort, target, ties, runs, static_cast<int>(ranges), static_cast<int>(range));
  } else {
    constexpr int places = rank_scattered_threads * run_items<Key>;
    const index_t parts = ceil_div(cols, places);
    rank_sorted_kernel<Key, false>
        <<<grid_blocks(sort.rows * parts, 1), rank_scattered_threads, 0, stream>>>(
            sort, target, ties, runs, static_cast<int>(parts), places);
  }
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
