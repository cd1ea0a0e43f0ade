#pragma once
// What a tile hands to a sink: the products that one thread holds, as a grid of row slots times
// column slots. The tile says which row and column a slot is; the sink needs no more.
//
// A fragment offers, per element: estimate(r, c), the product as a float (NaN: there is no pair
// here, and every comparison is false), product(r, c), exact, and drop(r, c).

#include <math_constants.h>

#include <cstdint>

namespace gpu::kernels {

/// Integer products below 2^24, held exactly in floats.
template <int Rows, int Cols>
struct float_fragment {
  float value[Rows][Cols];

  __device__ float estimate(int r, int c) const { return value[r][c]; }
  __device__ std::int64_t product(int r, int c) const {
    return static_cast<std::int64_t>(__float2int_rn(value[r][c]));
  }
  __device__ void drop(int r, int c) { value[r][c] = CUDART_NAN_F; }
};

/// 64-bit integer products.
template <int Rows, int Cols>
struct integer_fragment {
  static constexpr std::int64_t dropped = INT64_MIN;
  std::int64_t value[Rows][Cols];

  __device__ float estimate(int r, int c) const {
    return value[r][c] == dropped ? CUDART_NAN_F : __ll2float_rn(value[r][c]);
  }
  __device__ std::int64_t product(int r, int c) const { return value[r][c]; }
  __device__ void drop(int r, int c) { value[r][c] = dropped; }
};

/// Products of unit rows: exact doubles, or approximate floats.
template <class Value, int Rows, int Cols>
struct unit_fragment {
  Value value[Rows][Cols];

  __device__ float estimate(int r, int c) const { return static_cast<float>(value[r][c]); }
  __device__ double product(int r, int c) const { return static_cast<double>(value[r][c]); }
  __device__ void drop(int r, int c) { value[r][c] = static_cast<Value>(CUDART_NAN); }
};

/// Counters of the column slots of one thread, three to a float: 8 bits each, exact to 255 a slot,
/// so also after sums over the lanes that share a slot (at most 16 x 8 pairs).
template <int Cols>
struct packed_counts {
  static constexpr int words = (Cols + 2) / 3;
  float word[words] = {};

  /// Adds `one` (1 or 0) to slot c.
  __device__ void add(int c, float one) {
    word[c / 3] = fmaf(one, static_cast<float>(1 << 8 * (c % 3)), word[c / 3]);
  }
  __device__ std::uint32_t of(int c) const {
    float packed = word[0];
#pragma unroll
    for (int w = 1; w < words; ++w) packed = c / 3 == w ? word[w] : packed;
    return static_cast<std::uint32_t>(__float2int_rn(packed)) >> 8 * (c % 3) & 255;
  }
  __device__ bool operator!=(const packed_counts& other) const {
    bool differs = false;
#pragma unroll
    for (int w = 0; w < words; ++w) differs |= word[w] != other.word[w];
    return differs;
  }
  __device__ void add_lane(int distance) {
#pragma unroll
    for (float& packed : word) packed += __shfl_xor_sync(0xffffffffu, packed, distance);
  }
};

/// Sums of weights of the column slots of one thread. Intermediate sums may wrap around; the final
/// ones fit.
template <int Cols>
struct weighted_counts {
  std::uint32_t sum[Cols] = {};

  __device__ std::uint32_t of(int c) const {
    std::uint32_t out = sum[0];
#pragma unroll
    for (int s = 1; s < Cols; ++s) out = c == s ? sum[s] : out;
    return out;
  }
  __device__ void add_lane(int distance) {
#pragma unroll
    for (std::uint32_t& part : sum) part += __shfl_xor_sync(0xffffffffu, part, distance);
  }
};

}  // namespace gpu::kernels
