#pragma once
// Turns blocks of bytes from rows into columns and back, 16 x 16 at a time in vector registers.

#include <cstdint>
#include <cstring>

#include <gpu/index.hpp>

namespace gpu::cpu {

/// Edge of the square that one call transposes.
inline constexpr int transpose_edge = 16;

/// out[c][r] = in[r][c] for r, c < 16; rows of `in` and `out` start that many bytes apart.
inline void transpose_square(const std::int8_t* in, index_t in_pitch, std::int8_t* out,
                             index_t out_pitch) {
  typedef std::int8_t vector __attribute__((vector_size(transpose_edge)));
  vector rows[transpose_edge];
  for (int i = 0; i < transpose_edge; ++i) {
    std::memcpy(&rows[i], in + i * in_pitch, transpose_edge);
  }
  // Four times over, row i is interleaved with row i + 8: a perfect shuffle of the index bits.
  for (int round = 0; round < 4; ++round) {
    vector mixed[transpose_edge];
    for (int i = 0; i < transpose_edge / 2; ++i) {
      const vector a = rows[i];
      const vector b = rows[i + transpose_edge / 2];
      mixed[2 * i] =
          __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      mixed[2 * i + 1] = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29,
                                                 14, 30, 15, 31);
    }
    std::memcpy(rows, mixed, sizeof(rows));
  }
  for (int i = 0; i < transpose_edge; ++i) {
    std::memcpy(out + i * out_pitch, &rows[i], transpose_edge);
  }
}

/// out[c][r] = in[r][c] for r < rows, c < cols, both multiples of 16.
inline void transpose_bytes(const std::int8_t* in, index_t in_pitch, index_t rows, index_t cols,
                            std::int8_t* out, index_t out_pitch) {
  for (index_t r = 0; r < rows; r += transpose_edge) {
    for (index_t c = 0; c < cols; c += transpose_edge) {
      transpose_square(in + r * in_pitch + c, in_pitch, out + c * out_pitch + r, out_pitch);
    }
  }
}

}  // namespace gpu::cpu
