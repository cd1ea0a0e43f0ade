#pragma once
// Ranks short rows by counting in registers, average ties (the others are count_warp's).
//
// A block takes 2 * slots consecutive rows. Its warps read them row by row (lane = column,
// coalesced, eight rows in flight) and keep each element as a small integer key. Best case (see
// load_packed): 15-bit keys, two rows to a register, slot s holds rows s and s + slots. One
// instruction then gives for both rows e = clamp(x_i - x_j + 1, 0, 2), that is sign(x_i - x_j) + 1;
// acc_i += e and acc_j -= e over all pairs i < j leave u = 2 rank - (cols + 1) up to a constant.
// The sums are plain 32-bit ones: a borrow of the low row from the high row is undone by the
// constant, which makes both non-negative. Columns up to `cols` are filled with a key above all
// others, so that e = 0 against them.
//
// Up to 64 columns a thread holds a slot whole. Beyond, two threads of different warps share it:
// each holds the keys and counts of its half of the columns, counts these among themselves, then
// against the keys of the other half, which it reads from shared memory.
//
// Before 9.0 that instruction is some ten others, and a driver that compiles this from PTX takes
// half a minute: there every block takes its rows one to a register.
//
// A block of which a row does not fit takes its slots twice with 31-bit keys, one row to a register
// (load_words: continuous float data, wide integers); rows that do not fit either go through
// count_row, one warp a row (double, NaN, full 32-bit range).
//
// The counts go through shared memory, so that the bytes of a row leave in 16-byte pieces.
// Shared memory: cols * (slots + 1) words, the odd pitch keeps both phases free of conflicts; or
// the staged bytes where those take more.

#include "kernels/rank/count_warp.cuh"
#include "kernels/rank/packed_rows.cuh"

namespace gpu::kernels {

/// From ~key per column: counts[i] = acc_i over the other columns of the thread.
template <class Lane, int Own>
__device__ __forceinline__ void count_own_pairs(const unsigned (&inverted)[Own],
                                                unsigned (&counts)[Own]) {
#pragma unroll
  for (int i = 0; i < Own; ++i) counts[i] = 0;
#pragma unroll
  for (int i = 0; i < Own; i += 2) {
    // key + 2, and ~key = -key - 1: their sum is the difference plus one.
    const unsigned raised0 = ~inverted[i] + 2 * Lane::ones;
    const unsigned raised1 = ~inverted[i + 1] + 2 * Lane::ones;
    const unsigned between = Lane::sign_plus_one(raised0, inverted[i + 1]);
    counts[i] += between;
    counts[i + 1] -= between;
#pragma unroll
    for (int j = i + 2; j < Own; j += 2) {
      const unsigned e00 = Lane::sign_plus_one(raised0, inverted[j]);
      const unsigned e01 = Lane::sign_plus_one(raised0, inverted[j + 1]);
      const unsigned e10 = Lane::sign_plus_one(raised1, inverted[j]);
      const unsigned e11 = Lane::sign_plus_one(raised1, inverted[j + 1]);
      counts[i] += e00 + e01;
      counts[i + 1] += e10 + e11;
      counts[j] -= e00 + e10;
      counts[j + 1] -= e01 + e11;
    }
  }
}

/// Adds to counts[i] the e of column i against the columns of the other half, whose keys are at
/// others[0, Own) of the slot.
template <class Lane, class Layout>
__device__ __forceinline__ void count_other_half(const unsigned (&inverted)[Layout::own],
                                                 typename Layout::key_columns others,
                                                 unsigned (&counts)[Layout::own]) {
  const int slot = Layout::slot();
  unsigned raised[Layout::own];
#pragma unroll
  for (int i = 0; i < Layout::own; ++i) raised[i] = ~inverted[i] + 2 * Lane::ones;
#pragma unroll 1
  for (int j = 0; j < Layout::own; j += 4) {
    unsigned other[4];
#pragma unroll
    for (int x = 0; x < 4; ++x) other[x] = ~others[j + x][slot];
#pragma unroll
    for (int i = 0; i < Layout::own; ++i) {
      const unsigned e0 = Lane::sign_plus_one(raised[i], other[0]);
      const unsigned e1 = Lane::sign_plus_one(raised[i], other[1]);
      const unsigned e2 = Lane::sign_plus_one(raised[i], other[2]);
      const unsigned e3 = Lane::sign_plus_one(raised[i], other[3]);
      counts[i] = (counts[i] + e0 + e1) + e2 + e3;
    }
  }
}

/// From acc_i: counts[i] becomes u_i in bits 0-7 and, of the high row, in bits 16-23; 0 for columns
/// beyond the row.
template <class Lane, int Own>
__device__ __forceinline__ void finish_counts(int first_col, int cols, unsigned (&counts)[Own]) {
#pragma unroll
  for (int i = 0; i < Own; ++i) {
    const unsigned constant = static_cast<unsigned>(2 * i + 1 - cols + 256) * Lane::ones;
    counts[i] = first_col + i < cols ? counts[i] + constant : 0U;
  }
}

/// Four columns: bytes 0 (low row) and 2 (high row) of each word, gathered by row.
__device__ __forceinline__ void gather_bytes(const unsigned* counts, unsigned& low,
                                             unsigned& high) {
  const unsigned first = __byte_perm(counts[0], counts[1], 0x6240);
  const unsigned second = __byte_perm(counts[2], counts[3], 0x6240);
  low = __byte_perm(first, second, 0x5410);
  high = __byte_perm(first, second, 0x7632);
}

/// Writes `count` staged rows of bytes to the target.
template <class Layout>
__device__ __forceinline__ void store_staged(const rank_target& target, index_t first_row,
                                             index_t count, int cols, const std::int8_t* staged) {
  constexpr int row_bytes = Layout::row_bytes;
  const int thread = static_cast<int>(threadIdx.x);
  if (target.tag == target_tag::i8 && target.stride == row_bytes && target.cols == row_bytes &&
      reinterpret_cast<std::uintptr_t>(target.data) % 16 == 0) {
    constexpr int row_pieces = row_bytes / 16;
    constexpr int staged_pieces = Layout::staged_pitch / 16;
    uint4* out =
        reinterpret_cast<uint4*>(static_cast<std::int8_t*>(target.data) + first_row * row_bytes);
    const uint4* in = reinterpret_cast<const uint4*>(staged);
    const int pieces = static_cast<int>(count) * row_pieces;
    for (int i = thread; i < pieces; i += Layout::threads) {
      out[i] = in[i + i / row_pieces * (staged_pieces - row_pieces)];
    }
    return;
  }
  const int lane = thread % 32;
  for (int row = thread / 32; row < count; row += Layout::threads / 32) {
    for (index_t col = lane; col < target.cols; col += 32) {
      target.store(first_row + row, col, col < cols ? staged[row * Layout::staged_pitch + col] : 0,
                   false);
    }
  }
}

/// Stages the thread's counts as bytes, the padding of the row behind the last of them, and adds
/// up their squares for each of its rows.
template <class Lane, class Layout>
__device__ __forceinline__ void stage_counts(const unsigned (&counts)[Layout::own],
                                             unsigned* staged, int (&squares)[2]) {
  constexpr int padding = Layout::row_bytes - Layout::cols;
  const int first_col = Layout::first_col();
  unsigned* rows[2];
#pragma unroll
  for (int half = 0; half < Lane::rows; ++half) {
    const int row = Layout::slot() + half * Layout::slots;
    rows[half] = staged + row * (Layout::staged_pitch / 4) + first_col / 4;
  }
#pragma unroll
  for (int col = 0; col < Layout::own; col += 8) {
    unsigned words[2][2];
    gather_bytes(counts + col, words[0][0], words[1][0]);
    gather_bytes(counts + col + 4, words[0][1], words[1][1]);
#pragma unroll
    for (int half = 0; half < Lane::rows; ++half) {
      const auto first = static_cast<int>(words[half][0]);
      const auto second = static_cast<int>(words[half][1]);
      squares[half] = __dp4a(second, second, __dp4a(first, first, squares[half]));
      *reinterpret_cast<uint2*>(rows[half] + col / 4) = make_uint2(words[half][0], words[half][1]);
    }
  }
  if (first_col + Layout::own < Layout::cols) return;
#pragma unroll
  for (int col = Layout::own; col < Layout::own + padding; col += 8) {
#pragma unroll
    for (int half = 0; half < Lane::rows; ++half) {
      *reinterpret_cast<uint2*>(rows[half] + col / 4) = make_uint2(0, 0);
    }
  }
}

/// Writes the sums of squares of the block's rows, of which each thread has those of its columns.
/// All threads call; there is a barrier in it where threads share rows.
template <class Lane, class Layout>
__device__ __forceinline__ void store_squares(const rank_target& target, index_t first_row,
                                              index_t rows, int (&squares)[2]) {
  const int slot = Layout::slot();
  if constexpr (Layout::parts > 1) {
    __shared__ int others[2][Layout::slots];
    const bool is_first = Layout::first_col() == 0;
#pragma unroll
    for (int half = 0; half < Lane::rows; ++half) {
      if (!is_first) others[half][slot] = squares[half];
    }
    __syncthreads();
    if (!is_first) return;
#pragma unroll
    for (int half = 0; half < Lane::rows; ++half) squares[half] += others[half][slot];
  }
#pragma unroll
  for (int half = 0; half < Lane::rows; ++half) {
    const int row = slot + half * Layout::slots;
    if (row < rows) target.square_sums[first_row + row] = squares[half];
  }
}

/// Counts and writes the rows that were loaded into `packed`.
template <class Lane, class Layout>
__device__ __forceinline__ void count_loaded(const rank_source& source, const rank_target& target,
                                             index_t first_row,
                                             typename Layout::key_columns packed) {
  const int first_col = Layout::first_col();
  unsigned inverted[Layout::own];
#pragma unroll
  for (int i = 0; i < Layout::own; ++i) inverted[i] = ~packed[first_col + i][Layout::slot()];
  if constexpr (Layout::parts == 1) __syncthreads();
  unsigned counts[Layout::own];
  count_own_pairs<Lane>(inverted, counts);
  if constexpr (Layout::parts > 1) {
    count_other_half<Lane, Layout>(inverted, packed + (Layout::own - first_col), counts);
    __syncthreads();
  }
  finish_counts<Lane>(first_col, source.cols, counts);

  unsigned* staged = &packed[0][0];
  int squares[2] = {};
  stage_counts<Lane, Layout>(counts, staged, squares);
  const index_t rows = min(index_t{Lane::rows} * Layout::slots, source.rows - first_row);
  if (target.square_sums != nullptr) {
    store_squares<Lane, Layout>(target, first_row, rows, squares);
  }
  __syncthreads();
  store_staged<Layout>(target, first_row, rows, source.cols,
                       reinterpret_cast<const std::int8_t*>(staged));
  __syncthreads();
}

/// Ranks as many rows as there are slots, one warp each.
template <class Layout>
__device__ __forceinline__ void count_by_warps(const rank_source& source, const rank_target& target,
                                               index_t first_row, void* shared) {
  const int warp = static_cast<int>(threadIdx.x / 32);
  const auto count_rows = [&]<class Key>(Key* keys) {
    const index_t end = min(source.rows, first_row + Layout::slots);
    for (index_t row = first_row + warp; row < end; row += Layout::threads / 32) {
      count_row<Key, count_kind::order>(source, target, tie_method::average, row,
                                        keys + warp * Layout::cols);
    }
  };
  if (source.tag == element_tag::f64) {
    count_rows(static_cast<std::uint64_t*>(shared));
  } else {
    count_rows(static_cast<std::uint32_t*>(shared));
  }
  __syncthreads();
}

/// Ranks a block that load_packed refused. It is not inlined, so that its registers are not the
/// kernel's.
template <class Layout>
__device__ __noinline__ void count_unpacked(rank_source source, rank_target target,
                                            index_t first_row, unsigned* shared) {
  const auto packed = reinterpret_cast<typename Layout::key_columns>(shared);
  for (index_t row = first_row; row < min(source.rows, first_row + 2 * Layout::slots);
       row += Layout::slots) {
    bool fits = false;
    visit_tag(source.tag,
              [&](auto type) { fits = load_words<Layout, decltype(type)>(source, row, packed); });
    if (__syncthreads_and(static_cast<int>(fits)) != 0) {
      count_loaded<one_row_a_word, Layout>(source, target, row, packed);
    } else {
      count_by_warps<Layout>(source, target, row, shared);
    }
  }
}

template <class Layout>
__global__ __launch_bounds__(
    Layout::threads,
    rank_packed_blocks(Layout::cols)) void count_packed_kernel(rank_source source,
                                                               rank_target target) {
  __shared__ alignas(16) unsigned shared[Layout::shared_words];
  const index_t first_row = index_t{blockIdx.x} * (2 * Layout::slots);
#if __CUDA_ARCH__ >= 900
  const auto packed = reinterpret_cast<typename Layout::key_columns>(shared);
  bool fits = false;
  visit_tag(source.tag, [&](auto type) {
    fits = load_packed<Layout, decltype(type)>(source, first_row, packed);
  });
  if (__syncthreads_and(static_cast<int>(fits)) != 0) {
    return count_loaded<two_rows_a_word, Layout>(source, target, first_row, packed);
  }
#endif
  count_unpacked<Layout>(source, target, first_row, shared);
}

}  // namespace gpu::kernels
