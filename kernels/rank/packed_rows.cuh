#pragma once
// How count_packed.cuh reads rows: elements become small integer keys in shared memory, one or two
// rows to a word.

#include "kernels/common/warp.cuh"
#include "kernels/rank/row_access.cuh"
#include "plan/rank_policy.hpp"

namespace gpu::kernels {

/// How the threads of a block share its rows.
template <int column_count, int thread_count>
struct packed_layout {
  static constexpr int cols = column_count;
  static constexpr int threads = thread_count;
  static constexpr int parts = rank_packed_parts(cols);
  static constexpr int slots = threads / parts;  // registers of rows
  static constexpr int own = cols / parts;       // columns of a thread
  static constexpr int chunks = (cols + 31) / 32;
  /// Bytes of a row as it leaves: the padding that int8 products want is among them.
  static constexpr int row_bytes = chunks * 32;
  /// Bytes from one staged row to the next. Threads write neighbouring rows: beyond 64 columns
  /// another 16 bytes spread these over the banks.
  static constexpr int staged_pitch = parts == 1 ? row_bytes : row_bytes + 16;
  static constexpr int key_words = cols * (slots + 1);
  static constexpr int staged_words = 2 * slots * staged_pitch / 4;
  static constexpr int shared_words = key_words > staged_words ? key_words : staged_words;
  static_assert(slots % 32 == 0 && own % 8 == 0);

  using key_columns = unsigned (*)[slots + 1];  // [cols] in shared memory

  static __device__ __forceinline__ int slot() { return static_cast<int>(threadIdx.x) % slots; }
  static __device__ __forceinline__ int first_col() {
    return parts == 1 ? 0 : static_cast<int>(threadIdx.x) / slots * own;
  }
};

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

/// Walks over `Halves * slots` rows from `first_row`, a warp over 32 / parts slots of each half:
/// slots are read several at a time, then take(slot, half values of a lane's columns) is called for
/// each.
template <class Layout, int Halves, class T, class Take>
__device__ __forceinline__ void read_rows(const rank_source& source, index_t first_row,
                                          Take&& take) {
  constexpr int in_flight = 8 / Halves;
  constexpr int chunks = Layout::chunks;
  constexpr int warp_slots = 32 / Layout::parts;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int first_slot = (static_cast<int>(threadIdx.x) - lane) / Layout::parts;
  // One pointer per half, moved on by whole rows, because 64-bit products are expensive.
  const T* next[Halves];
  int rows_left[Halves];
#pragma unroll
  for (int half = 0; half < Halves; ++half) {
    const index_t row = first_row + first_slot + half * Layout::slots;
    next[half] = static_cast<const T*>(source.data) + row * source.stride + lane;
    rows_left[half] =
        static_cast<int>(max(index_t{0}, min(index_t{warp_slots}, source.rows - row)));
  }
  for (int step = 0; step < warp_slots; step += in_flight) {
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
template <class Layout, class T>
__device__ __forceinline__ bool load_packed(const rank_source& source, index_t first_row,
                                            typename Layout::key_columns packed) {
  constexpr int chunks = Layout::chunks;
  constexpr unsigned most = two_rows_a_word::filler - 1;
  const int lane = static_cast<int>(threadIdx.x % 32);
  bool fits = true;
  read_rows<Layout, 2, T>(source, first_row, [&](int slot, const T(&x)[2][chunks]) {
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
      if (col < Layout::cols) packed[col][slot] = word[chunk];
    }
  });
  return fits;
}

/// 31-bit keys of as many rows as there are slots: integers as they are; floats as their bits,
/// signed, with the gap between zero and the row's least magnitude taken out. Not for double.
template <class Layout, class T>
__device__ __forceinline__ bool load_words(const rank_source& source, index_t first_row,
                                           typename Layout::key_columns packed) {
  if constexpr (sizeof(T) == 8) {
    return false;
  } else {
    constexpr int chunks = Layout::chunks;
    constexpr int filler = one_row_a_word::filler;
    const int lane = static_cast<int>(threadIdx.x % 32);
    bool fits = true;
    read_rows<Layout, 1, T>(source, first_row, [&](int slot, const T(&x)[1][chunks]) {
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
        if (col < Layout::cols)
          packed[col][slot] = static_cast<unsigned>(col < source.cols ? key : filler);
      }
    });
    return fits;
  }
}

}  // namespace gpu::kernels
