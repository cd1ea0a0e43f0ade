#pragma once
// Ranks short rows by counting, two rows to a register, average ties (the others are count_warp's).
//
// A block takes 2 * Threads consecutive rows. Its warps read them row by row (lane = column,
// coalesced, eight rows in flight) and keep each element as y = x - x[0] + 16382, 15 bits, packed
// with the element of the row Threads further on. Each thread then holds two whole rows in
// registers, and one instruction gives for both e = clamp(y_i - y_j + 1, 0, 2), that is
// sign(x_i - x_j) + 1. acc_i += e and acc_j -= e over all pairs i < j leave u = 2 rank - (cols + 1)
// up to a constant. The sums are plain 32-bit ones: a borrow of the low row from the high row is
// undone by the constant, which makes both non-negative. Columns up to `Cols` are filled with a
// value above all others, so that e = 0 against them.
//
// Rows that do not fit (wider than 15 bits around the first element, or not integers) send their
// block to count_row, one warp a row. The counts go through shared memory, so that the bytes of a
// row leave in 16-byte pieces.
// Shared memory: Cols * (Threads + 1) words; the odd pitch keeps both phases free of conflicts.

#include "rank/count_warp.cuh"

namespace gpu::kernels {

inline constexpr int packed_centre = 16382;
inline constexpr int packed_most = 2 * packed_centre;  // largest y of an element
inline constexpr int packed_filler = packed_most + 1;  // above every element

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
  return sizeof(T) < 4 || (value >= -limit && value < limit);
}

/// One row's element of this lane's column as y; `fits` becomes false where it has none.
template <class T>
__device__ __forceinline__ unsigned pack_element(T x, int first, int col, int cols, bool& fits) {
  int value = 0;
  const bool is_integer = to_small_integer(x, value);
  const auto y = static_cast<unsigned>(value) - static_cast<unsigned>(first) + packed_centre;
  if (col >= cols) return packed_filler;
  fits = fits && is_integer && y <= static_cast<unsigned>(packed_most);
  return y;
}

/// Reads the block's rows into `packed`; false on some thread where a row does not fit.
template <int Cols, int Threads, class T>
__device__ __forceinline__ bool load_packed(const row_source& source, index_t first_row,
                                            unsigned (*packed)[Threads + 1]) {
  constexpr int in_flight = 4;  // slots, two rows each
  constexpr int chunks = (Cols + 31) / 32;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int first_slot = static_cast<int>(threadIdx.x) - lane;
  bool fits = true;
  // One pointer per half, moved on by whole rows: products of 64 bits are dear.
  const T* next[2];
  int rows_left[2];
  for (int half = 0; half < 2; ++half) {
    const index_t row = first_row + first_slot + half * Threads;
    next[half] = static_cast<const T*>(source.data) + row * source.stride + lane;
    rows_left[half] = static_cast<int>(min(index_t{32}, source.rows - row));
  }
  for (int step = 0; step < 32; step += in_flight) {
    T x[in_flight][2][chunks];
#pragma unroll
    for (int s = 0; s < in_flight; ++s) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
#pragma unroll
        for (int chunk = 0; chunk < chunks; ++chunk) {
          const bool inside = step + s < rows_left[half] && chunk * 32 + lane < source.cols;
          x[s][half][chunk] = inside ? next[half][chunk * 32] : T{0};
        }
        next[half] += source.stride;
      }
    }
#pragma unroll
    for (int s = 0; s < in_flight; ++s) {
      unsigned word[chunks] = {};
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        int first = 0;
        static_cast<void>(to_small_integer(x[s][half][0], first));
        first = __shfl_sync(0xffffffffU, first, 0);
#pragma unroll
        for (int chunk = 0; chunk < chunks; ++chunk) {
          const int col = chunk * 32 + lane;
          word[chunk] |= pack_element(x[s][half][chunk], first, col, source.cols, fits)
                         << (16 * half);
        }
      }
#pragma unroll
      for (int chunk = 0; chunk < chunks; ++chunk) {
        const int col = chunk * 32 + lane;
        if (col < Cols) packed[col][first_slot + step + s] = word[chunk];
      }
    }
  }
  return fits;
}

/// For both packed rows sign(x_i - x_j) + 1, from y_i + 2 and -y_j - 1.
__device__ __forceinline__ unsigned sign_plus_one(unsigned raised, unsigned inverted) {
  return __viaddmin_s16x2_relu(raised, inverted, 0x00020002U);
}

/// counts[i] becomes u_i of the low row in bits 0-7 and of the high row in bits 16-23.
template <int Cols>
__device__ __forceinline__ void count_pairs(const unsigned (&inverted)[Cols], int cols,
                                            unsigned (&counts)[Cols]) {
#pragma unroll
  for (int i = 0; i < Cols; ++i) counts[i] = 0;
#pragma unroll
  for (int i = 0; i < Cols; i += 2) {
    const unsigned raised0 = ~inverted[i] + 0x00020002U;
    const unsigned raised1 = ~inverted[i + 1] + 0x00020002U;
    const unsigned between = sign_plus_one(raised0, inverted[i + 1]);
    counts[i] += between;
    counts[i + 1] -= between;
#pragma unroll
    for (int j = i + 2; j < Cols; j += 2) {
      const unsigned e00 = sign_plus_one(raised0, inverted[j]);
      const unsigned e01 = sign_plus_one(raised0, inverted[j + 1]);
      const unsigned e10 = sign_plus_one(raised1, inverted[j]);
      const unsigned e11 = sign_plus_one(raised1, inverted[j + 1]);
      counts[i] += e00 + e01;
      counts[i + 1] += e10 + e11;
      counts[j] -= e00 + e10;
      counts[j + 1] -= e01 + e11;
    }
  }
#pragma unroll
  for (int i = 0; i < Cols; ++i) {
    const unsigned constant = static_cast<unsigned>(2 * i + 1 - cols + 256) * 0x00010001U;
    counts[i] = i < cols ? counts[i] + constant : 0U;
  }
}

/// Four columns of both rows: bytes 0 and 2 of each word, gathered by row.
__device__ __forceinline__ void gather_bytes(const unsigned* counts, unsigned& low,
                                             unsigned& high) {
  const unsigned first = __byte_perm(counts[0], counts[1], 0x6240);
  const unsigned second = __byte_perm(counts[2], counts[3], 0x6240);
  low = __byte_perm(first, second, 0x5410);
  high = __byte_perm(first, second, 0x7632);
}

/// Writes the block's staged rows [2 * Threads, Cols] of bytes to the target.
template <int Cols, int Threads>
__device__ __forceinline__ void store_staged(const rank_target& target, index_t first_row,
                                             index_t rows, int cols, const std::int8_t* staged) {
  const index_t count = min(index_t{2 * Threads}, rows - first_row);
  if (target.tag == target_tag::i8 && target.stride == Cols && target.cols == Cols &&
      Cols % 16 == 0 && reinterpret_cast<std::uintptr_t>(target.data) % 16 == 0) {
    uint4* out = reinterpret_cast<uint4*>(static_cast<std::int8_t*>(target.data) +
                                          first_row * target.stride);
    const uint4* in = reinterpret_cast<const uint4*>(staged);
    for (int i = static_cast<int>(threadIdx.x); i < count * Cols / 16; i += Threads) out[i] = in[i];
    return;
  }
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (int row = static_cast<int>(threadIdx.x / 32); row < count; row += Threads / 32) {
    for (index_t col = lane; col < target.cols; col += 32) {
      target.store(first_row + row, col, col < cols ? staged[row * Cols + col] : 0, false);
    }
  }
}

template <int Cols, int Threads>
__global__ __launch_bounds__(Threads) void count_packed_kernel(row_source source,
                                                               rank_target target) {
  __shared__ alignas(16) unsigned packed[Cols][Threads + 1];
  const index_t first_row = index_t{blockIdx.x} * (2 * Threads);
  bool fits = false;
  visit_tag(source.tag, [&](auto type) {
    fits = load_packed<Cols, Threads, decltype(type)>(source, first_row, packed);
  });
  if (__syncthreads_or(static_cast<int>(!fits)) != 0) {
    const int warp = static_cast<int>(threadIdx.x / 32);
    const auto count_rows = [&](auto* keys) {
      for (index_t row = first_row + warp; row < min(source.rows, first_row + 2 * Threads);
           row += Threads / 32) {
        count_row<std::remove_reference_t<decltype(*keys)>, count_kind::order>(
            source, target, tie_method::average, row, keys + warp * Cols);
      }
    };
    if (source.tag == element_tag::f64) {
      count_rows(reinterpret_cast<std::uint64_t*>(packed));
    } else {
      count_rows(reinterpret_cast<std::uint32_t*>(packed));
    }
    return;
  }

  const int thread = static_cast<int>(threadIdx.x);
  unsigned inverted[Cols];
#pragma unroll
  for (int col = 0; col < Cols; ++col) inverted[col] = ~packed[col][thread];
  __syncthreads();
  unsigned counts[Cols];
  count_pairs<Cols>(inverted, source.cols, counts);

  unsigned* staged = &packed[0][0];
  int low_squares = 0;
  int high_squares = 0;
#pragma unroll
  for (int col = 0; col < Cols; col += 8) {
    unsigned low[2];
    unsigned high[2];
    gather_bytes(counts + col, low[0], high[0]);
    gather_bytes(counts + col + 4, low[1], high[1]);
#pragma unroll
    for (int word = 0; word < 2; ++word) {
      low_squares = __dp4a(static_cast<int>(low[word]), static_cast<int>(low[word]), low_squares);
      high_squares =
          __dp4a(static_cast<int>(high[word]), static_cast<int>(high[word]), high_squares);
    }
    uint2* out = reinterpret_cast<uint2*>(staged + thread * (Cols / 4) + col / 4);
    out[0] = make_uint2(low[0], low[1]);
    out[Threads * (Cols / 8)] = make_uint2(high[0], high[1]);
  }
  if (target.square_sums != nullptr) {
    const index_t row = first_row + thread;
    if (row < source.rows) target.square_sums[row] = low_squares;
    if (row + Threads < source.rows) target.square_sums[row + Threads] = high_squares;
  }
  __syncthreads();
  store_staged<Cols, Threads>(target, first_row, source.rows, source.cols,
                              reinterpret_cast<const std::int8_t*>(staged));
}

}  // namespace gpu::kernels
