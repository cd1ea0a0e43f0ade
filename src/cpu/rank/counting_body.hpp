// The counting loops, compiled once per instruction set: the including file defines
// GPU_SIMILARITY_LEVEL (a namespace) and GPU_SIMILARITY_VECTOR_BYTES, and where it says
// GPU_SIMILARITY_OWN_KERNELS the table `kernels` afterwards. No include guard, and no function of
// the standard library: an inline one compiled here could be the copy that the linker keeps for
// machines without these instructions.

#include "cpu/rank/counting.hpp"

namespace gpu::cpu::GPU_SIMILARITY_LEVEL {
namespace {

template <class Lane>
struct simd {
  typedef Lane type __attribute__((vector_size(GPU_SIMILARITY_VECTOR_BYTES), may_alias));
  static constexpr int lanes = GPU_SIMILARITY_VECTOR_BYTES / static_cast<int>(sizeof(Lane));
};

// One pair of columns: a stands before b. A comparison gives -1 where it holds.
template <tie_method Ties, class Vector>
inline __attribute__((always_inline)) void count_pair(Vector a, Vector b, Vector& count_a,
                                                      Vector& count_b) {
  const Vector greater = static_cast<Vector>(a > b);
  const Vector smaller = static_cast<Vector>(a < b);
  if constexpr (Ties == tie_method::average) {
    const Vector sign = smaller - greater;
    count_a += sign;
    count_b -= sign;
  } else if constexpr (Ties == tie_method::max) {
    count_a -= smaller;
    count_b -= greater;
  } else if constexpr (Ties == tie_method::ordinal) {
    count_a -= greater;
    count_b -= ~greater;
  } else {
    count_a -= greater;
    count_b -= smaller;
  }
}

template <tie_method Ties, class Lane>
void count_strip(const Lane* keys, int cols, Lane* counts) {
  using vector = typename simd<Lane>::type;
  constexpr int step = counting_block_rows / simd<Lane>::lanes;
  const vector* key = reinterpret_cast<const vector*>(keys);
  vector* count = reinterpret_cast<vector*>(counts);
  for (int i = 0; i < cols; ++i) count[i * step] = vector{};
  for (int i = 0; i < cols; ++i) {
    const vector key_i = key[i * step];
    vector count_i = count[i * step];
    for (int j = i + 1; j < cols; ++j) {
      vector count_j = count[j * step];
      count_pair<Ties>(key_i, key[j * step], count_i, count_j);
      count[j * step] = count_j;
    }
    count[i * step] = count_i;
  }
}

// As count_strip, but an element counts only as the first of its value.
template <class Lane>
void count_distinct_strip(const Lane* keys, int cols, Lane* counts) {
  using vector = typename simd<Lane>::type;
  constexpr int step = counting_block_rows / simd<Lane>::lanes;
  const vector* key = reinterpret_cast<const vector*>(keys);
  vector* count = reinterpret_cast<vector*>(counts);
  vector is_first[counting_max_cols];
  for (int j = 0; j < cols; ++j) {
    vector repeats{};
    for (int i = 0; i < j; ++i) repeats |= static_cast<vector>(key[i * step] == key[j * step]);
    is_first[j] = ~repeats;
  }
  for (int i = 0; i < cols; ++i) {
    vector smaller{};
    for (int j = 0; j < cols; ++j) {
      smaller -= static_cast<vector>(key[j * step] < key[i * step]) & is_first[j];
    }
    count[i * step] = smaller;
  }
}

template <tie_method Ties, class Lane>
void count_block(const Lane* keys, int cols, Lane* counts) {
  for (int lane = 0; lane < counting_block_rows; lane += simd<Lane>::lanes) {
    if constexpr (Ties == tie_method::dense) {
      count_distinct_strip(keys + lane, cols, counts + lane);
    } else {
      count_strip<Ties>(keys + lane, cols, counts + lane);
    }
  }
}

template <class Lane>
void count(tie_method ties, const Lane* keys, int cols, Lane* counts) {
  switch (ties) {
    case tie_method::average:
      return count_block<tie_method::average>(keys, cols, counts);
    case tie_method::min:
      return count_block<tie_method::min>(keys, cols, counts);
    case tie_method::max:
      return count_block<tie_method::max>(keys, cols, counts);
    case tie_method::dense:
      return count_block<tie_method::dense>(keys, cols, counts);
    case tie_method::ordinal:
      return count_block<tie_method::ordinal>(keys, cols, counts);
  }
}

// A first element this close to an end of the integers may be the same distance from both ends.
inline bool is_near_end(std::int32_t first) {
  constexpr std::int32_t most = 0x7fffffff - 128;
  return first > most || first < -most;
}

inline bool narrow(const std::int32_t* values, index_t stride, int rows, int cols,
                   std::int32_t flip, std::int8_t* out, index_t pitch) {
  std::uint32_t outside = 0;
  for (int row = 0; row < rows; ++row) {
    const std::int32_t* value = values + row * stride;
    std::int8_t* key = out + row * pitch;
    const std::int32_t first = value[0] ^ flip;
    if (is_near_end(first)) return false;
    for (int col = 0; col < cols; ++col) {
      const std::uint32_t distance =
          static_cast<std::uint32_t>(value[col] ^ flip) - static_cast<std::uint32_t>(first);
      outside |= distance + 128;
      key[col] = static_cast<std::int8_t>(distance);
    }
  }
  return outside <= 0xff;
}

inline void widen(const std::int8_t* counts, index_t pitch, int rows, int cols, double scale,
                  double offset, double* out, index_t stride) {
  for (int row = 0; row < rows; ++row) {
    const std::int8_t* count = counts + row * pitch;
    double* rank = out + row * stride;
    for (int col = 0; col < cols; ++col) rank[col] = scale * count[col] + offset;
  }
}

}  // namespace

#ifndef GPU_SIMILARITY_OWN_KERNELS
const counting_kernels kernels{count<std::int8_t>,
                               count<std::int16_t>,
                               count<std::int32_t>,
                               count<std::int64_t>,
                               narrow,
                               widen};
#endif

}  // namespace gpu::cpu::GPU_SIMILARITY_LEVEL
