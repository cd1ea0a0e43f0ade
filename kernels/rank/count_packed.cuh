#pragma once
// Ranks short rows by counting in registers, average ties (the others are count_warp's).
//
// A block takes 2 * Threads consecutive rows. Its warps read them row by row (lane = column,
// coalesced, eight rows in flight) and keep each element as a small integer key. Best case (see
// load_packed): 15-bit keys, two rows to a register, each thread holds rows t and t + Threads
// whole. One instruction then gives for both rows e = clamp(x_i - x_j + 1, 0, 2), that is sign(x_i
// - x_j) + 1; acc_i += e and acc_j -= e over all pairs i < j leave u = 2 rank - (cols + 1) up to a
// constant. The sums are plain 32-bit ones: a borrow of the low row from the high row is undone by
// the constant, which makes both non-negative. Columns up to `Cols` are filled with a key above all
// others, so that e = 0 against them.
//
// A block of which a row does not fit takes its two halves one after the other with 31-bit keys,
// one row to a register (load_words: continuous float data, wide integers), and a half that does
// not fit either goes through count_row, one warp a row (double, NaN, full 32-bit range).
//
// The counts go through shared memory, so that the bytes of a row leave in 16-byte pieces.
// Shared memory: Cols * (Threads + 1) words, the odd pitch keeps both phases free of conflicts; or
// the staged bytes where those take more.

#include "kernels/rank/count_warp.cuh"

namespace gpu::kernels {

/// Keys of two rows in the halves of a word, each in [0, filler].
struct two_rows_a_word {
  static constexpr int rows = 2;
  static constexpr unsigned ones = 0x00010001U;
  static constexpr int centre = 16382;
  static constexpr int filler = 2 * centre + 1;  // above every key
  static __device__ __forceinline__ unsigned sign_plus_one(unsigned raised, unsigned inverted) {
    return __viaddmin_s16x2_relu(raised, inverted, 2 * ones);
  }
};

/// The key of one row in a word, within (-filler, filler].
struct one_row_a_word {
  static constexpr int rows = 1;
  static constexpr unsigned ones = 1;
  static constexpr int filler = 1 << 30;
  static __device__ __forceinline__ unsigned sign_plus_one(unsigned raised, unsigned inverted) {
    return static_cast<unsigned>(
        __viaddmin_s32_relu(static_cast<int>(raised), static_cast<int>(inverted), 2));
  }
};

/// Whether x is an integer well inside 32 bits, and which.
template <class T>
__device__ __forceinline__ bool to_small_integer(T x, int& value) {
  constexpr int limit = 1 << 30;
  if constexpr (std::is_same_v<T, float>) {
    value = __float2int_rn(x);
    if (static_cast<float>(value) != x) return false;
  } else if constexpr (std::is_same_v<T, double>) {
    value = __double2int_rn(x);
    if (static_cast<double>(value) != x) return false;
  } else {
    value = x;
  }
  return sizeof(T) < 4 || (value > -limit && value < limit);
}

/// Walks over `Halves * Threads` rows from `first_row`, a warp over 32 slots of each half: slots
/// are read several at a time, then take(slot, half values of a lane's columns) is called for each.
template <int Cols, int Threads, int Halves, class T, class Take>
__device__ __forceinline__ void read_rows(const row_source& source, index_t first_row,
                                          Take&& take) {
  constexpr int in_flight = 8 / Halves;
  constexpr int chunks = (Cols + 31) / 32;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int first_slot = static_cast<int>(threadIdx.x) - lane;
  // One pointer per half, moved on by whole rows: products of 64 bits are dear.
  const T* next[Halves];
  int rows_left[Halves];
#pragma unroll
  for (int half = 0; half < Halves; ++half) {
    const index_t row = first_row + first_slot + half * Threads;
    next[half] = static_cast<const T*>(source.data) + row * source.stride + lane;
    rows_left[half] = static_cast<int>(max(index_t{0}, min(index_t{32}, source.rows - row)));
  }
  for (int step = 0; step < 32; step += in_flight) {
    T x[in_flight][Halves][chunks];
#pragma unroll
    for (int s = 0; s < in_flight; ++s) {
#pragma unroll
      for (int half = 0; half < Halves; ++half) {
#pragma unroll
        for (int chunk = 0; chunk < chunks; ++chunk) {
          const bool inside = step + s < rows_left[half] && chunk * 32 + lane < source.cols;
          x[s][half][chunk] = inside ? next[half][chunk * 32] : T{0};
        }
        next[half] += source.stride;
      }
    }
#pragma unroll
    for (int s = 0; s < in_flight; ++s) take(first_slot + step + s, x[s]);
  }
}

/// Integers (of any type) within 2^14 of their row's first element: y = x - x[0] + centre.
/// False on some thread where a row has others.
template <int Cols, int Threads, class T>
__device__ __forceinline__ bool load_packed(const row_source& source, index_t first_row,
                                            unsigned (*packed)[Threads + 1]) {
  constexpr int chunks = (Cols + 31) / 32;
  constexpr unsigned most = two_rows_a_word::filler - 1;
  const int lane = static_cast<int>(threadIdx.x % 32);
  bool fits = true;
  read_rows<Cols, Threads, 2, T>(source, first_row, [&](int slot, const T(&x)[2][chunks]) {
    unsigned word[chunks] = {};
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      int first = 0;
      static_cast<void>(to_small_integer(x[half][0], first));
      first = __shfl_sync(0xffffffffU, first, 0);
#pragma unroll
      for (int chunk = 0; chunk < chunks; ++chunk) {
        int value = 0;
        const bool is_integer = to_small_integer(x[half][chunk], value);
        const unsigned key = static_cast<unsigned>(value) - static_cast<unsigned>(first) +
                             static_cast<unsigned>(two_rows_a_word::centre);
        const bool real = chunk * 32 + lane < source.cols;
        fits = fits && (!real || (is_integer && key <= most));
        word[chunk] |= (real ? key : most + 1) << (16 * half);
      }
    }
#pragma unroll
    for (int chunk = 0; chunk < chunks; ++chunk) {
      const int col = chunk * 32 + lane;
      if (col < Cols) packed[col][slot] = word[chunk];
    }
  });
  return fits;
}

__device__ __forceinline__ unsigned warp_min(unsigned value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(0xffffffffU, value);
#else
  for (int step = 16; step > 0; step /= 2) {
    value = min(value, __shfl_xor_sync(0xffffffffU, value, step));
  }
  return value;
#endif
}

/// 31-bit keys of Threads rows: integers as they are; floats as their bits, signed, with the gap
/// between zero and the row's least magnitude taken out. Not for double.
template <int Cols, int Threads, class T>
__device__ __forceinline__ bool load_words(const row_source& source, index_t first_row,
                                           unsigned (*packed)[Threads + 1]) {
  if constexpr (sizeof(T) == 8) {
    return false;
  } else {
    constexpr int chunks = (Cols + 31) / 32;
    constexpr int filler = one_row_a_word::filler;
    const int lane = static_cast<int>(threadIdx.x % 32);
    bool fits = true;
    read_rows<Cols, Threads, 1, T>(source, first_row, [&](int slot, const T(&x)[1][chunks]) {
      unsigned least = 0xffffffffU;
      if constexpr (std::is_same_v<T, float>) {
#pragma unroll
        for (int chunk = 0; chunk < chunks; ++chunk) {
          // Zero becomes the largest number here, and columns beyond the row are zero.
          least = min(least, (__float_as_uint(x[0][chunk]) & 0x7fffffffU) - 1U);
        }
        least = warp_min(least);
      }
#pragma unroll
      for (int chunk = 0; chunk < chunks; ++chunk) {
        const int col = chunk * 32 + lane;
        int key = 0;
        if constexpr (std::is_same_v<T, float>) {
          const unsigned magnitude = __float_as_uint(x[0][chunk]) & 0x7fffffffU;
          const unsigned distance = magnitude == 0 ? 0U : magnitude - least;
          fits = fits && distance < static_cast<unsigned>(filler) && magnitude <= 0x7f800000U;
          key = x[0][chunk] < 0 ? -static_cast<int>(distance) : static_cast<int>(distance);
        } else {
          fits = to_small_integer(x[0][chunk], key) && fits;
        }
        if (col < Cols) packed[col][slot] = static_cast<unsigned>(col < source.cols ? key : filler);
      }
    });
    return fits;
  }
}

/// From ~key per column: counts[i] becomes u_i in bits 0-7 and, of the high row, in bits 16-23.
template <class Lane, int Cols>
__device__ __forceinline__ void count_pairs(const unsigned (&inverted)[Cols], int cols,
                                            unsigned (&counts)[Cols]) {
#pragma unroll
  for (int i = 0; i < Cols; ++i) counts[i] = 0;
#pragma unroll
  for (int i = 0; i < Cols; i += 2) {
    // key + 2, and ~key = -key - 1: their sum is the difference plus one.
    const unsigned raised0 = ~inverted[i] + 2 * Lane::ones;
    const unsigned raised1 = ~inverted[i + 1] + 2 * Lane::ones;
    const unsigned between = Lane::sign_plus_one(raised0, inverted[i + 1]);
    counts[i] += between;
    counts[i + 1] -= between;
#pragma unroll
    for (int j = i + 2; j < Cols; j += 2) {
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
#pragma unroll
  for (int i = 0; i < Cols; ++i) {
    const unsigned constant = static_cast<unsigned>(2 * i + 1 - cols + 256) * Lane::ones;
    counts[i] = i < cols ? counts[i] + constant : 0U;
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

/// Bytes from one staged row to the next: the padding that int8 products want is among them.
template <int Cols>
inline constexpr int staged_pitch = (Cols + 31) / 32 * 32;

/// Writes `count` staged rows of bytes to the target.
template <int Cols, int Threads>
__device__ __forceinline__ void store_staged(const rank_target& target, index_t first_row,
                                             index_t count, int cols, const std::int8_t* staged) {
  constexpr int pitch = staged_pitch<Cols>;
  const int thread = static_cast<int>(threadIdx.x);
  if (target.tag == target_tag::i8 && target.stride == pitch && target.cols == pitch &&
      reinterpret_cast<std::uintptr_t>(target.data) % 16 == 0) {
    uint4* out =
        reinterpret_cast<uint4*>(static_cast<std::int8_t*>(target.data) + first_row * pitch);
    const uint4* in = reinterpret_cast<const uint4*>(staged);
    const int pieces = static_cast<int>(count) * (pitch / 16);
    for (int i = thread; i < pieces; i += Threads) out[i] = in[i];
    return;
  }
  const int lane = thread % 32;
  for (int row = thread / 32; row < count; row += Threads / 32) {
    for (index_t col = lane; col < target.cols; col += 32) {
      target.store(first_row + row, col, col < cols ? staged[row * pitch + col] : 0, false);
    }
  }
}

/// Counts and writes the rows that were loaded into `packed`.
template <class Lane, int Cols, int Threads>
__device__ __forceinline__ void count_loaded(const row_source& source, const rank_target& target,
                                             index_t first_row, unsigned (*packed)[Threads + 1]) {
  const int thread = static_cast<int>(threadIdx.x);
  unsigned inverted[Cols];
#pragma unroll
  for (int col = 0; col < Cols; ++col) inverted[col] = ~packed[col][thread];
  __syncthreads();
  unsigned counts[Cols];
  count_pairs<Lane, Cols>(inverted, source.cols, counts);

  constexpr int pitch = staged_pitch<Cols>;
  unsigned* staged = &packed[0][0];
  int squares[2] = {};
#pragma unroll
  for (int col = 0; col < pitch; col += 8) {
    unsigned words[2][2] = {};
    if (col < Cols) {
      gather_bytes(counts + col, words[0][0], words[1][0]);
      gather_bytes(counts + col + 4, words[0][1], words[1][1]);
    }
#pragma unroll
    for (int half = 0; half < Lane::rows; ++half) {
      const auto first = static_cast<int>(words[half][0]);
      const auto second = static_cast<int>(words[half][1]);
      squares[half] = __dp4a(second, second, __dp4a(first, first, squares[half]));
      *reinterpret_cast<uint2*>(staged + (thread + half * Threads) * (pitch / 4) + col / 4) =
          make_uint2(words[half][0], words[half][1]);
    }
  }
  const index_t rows = min(index_t{Lane::rows} * Threads, source.rows - first_row);
  if (target.square_sums != nullptr) {
#pragma unroll
    for (int half = 0; half < Lane::rows; ++half) {
      const int row = thread + half * Threads;
      if (row < rows) target.square_sums[first_row + row] = squares[half];
    }
  }
  __syncthreads();
  store_staged<Cols, Threads>(target, first_row, rows, source.cols,
                              reinterpret_cast<const std::int8_t*>(staged));
  __syncthreads();
}

/// Ranks `Threads` rows one warp each.
template <int Cols, int Threads>
__device__ __forceinline__ void count_by_warps(const row_source& source, const rank_target& target,
                                               index_t first_row, void* shared) {
  const int warp = static_cast<int>(threadIdx.x / 32);
  const auto count_rows = [&]<class Key>(Key* keys) {
    const index_t end = min(source.rows, first_row + Threads);
    for (index_t row = first_row + warp; row < end; row += Threads / 32) {
      count_row<Key, count_kind::order>(source, target, tie_method::average, row,
                                        keys + warp * Cols);
    }
  };
  if (source.tag == element_tag::f64) {
    count_rows(static_cast<std::uint64_t*>(shared));
  } else {
    count_rows(static_cast<std::uint32_t*>(shared));
  }
  __syncthreads();
}

/// What becomes of a block that load_packed refused. A function of its own, so that its registers
/// are not the kernel's.
template <int Cols, int Threads>
__device__ __noinline__ void count_unpacked(row_source source, rank_target target,
                                            index_t first_row, unsigned* shared) {
  const auto packed = reinterpret_cast<unsigned(*)[Threads + 1]>(shared);
  for (index_t row = first_row; row < min(source.rows, first_row + 2 * Threads); row += Threads) {
    bool fits = false;
    visit_tag(source.tag, [&](auto type) {
      fits = load_words<Cols, Threads, decltype(type)>(source, row, packed);
    });
    if (__syncthreads_and(static_cast<int>(fits)) != 0) {
      count_loaded<one_row_a_word, Cols, Threads>(source, target, row, packed);
    } else {
      count_by_warps<Cols, Threads>(source, target, row, shared);
    }
  }
}

template <int Cols, int Threads>
__global__ __launch_bounds__(Threads, rank_packed_blocks(Cols)) void count_packed_kernel(
    row_source source, rank_target target) {
  constexpr int key_words = Cols * (Threads + 1);
  constexpr int staged_words = 2 * Threads * staged_pitch<Cols> / 4;
  __shared__ alignas(16) unsigned shared[key_words > staged_words ? key_words : staged_words];
  const auto packed = reinterpret_cast<unsigned(*)[Threads + 1]>(shared);
  const index_t first_row = index_t{blockIdx.x} * (2 * Threads);
  bool fits = false;
  visit_tag(source.tag, [&](auto type) {
    fits = load_packed<Cols, Threads, decltype(type)>(source, first_row, packed);
  });
  if (__syncthreads_and(static_cast<int>(fits)) != 0) {
    return count_loaded<two_rows_a_word, Cols, Threads>(source, target, first_row, packed);
  }
  count_unpacked<Cols, Threads>(source, target, first_row, shared);
}

}  // namespace gpu::kernels
