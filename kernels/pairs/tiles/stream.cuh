#pragma once
// Tensor tiles for rows longer than shared memory: both operands stream through it in pieces.
//
// A step brings `chunk` bytes of each row of the tile, for rows and columns, into a ring of three
// buffers by cp.async, two steps ahead of the products. A tile says how many steps there are, where
// the bytes of a step lie in a row, and what to do with them. As in pair_tile_mma.cuh, lanes take
// neighbouring 16-byte pieces of a row as their share of k, so a fragment is one 128-bit load; in
// 128-byte chunks the halves of odd rows are exchanged to keep the loads free of bank conflicts.

#include "kernels/pairs/frame/async_copy.cuh"
#include "kernels/pairs/tiles/mma.cuh"

namespace gpu::kernels {

/// The ring of buffers. Offsets(step) gives where a step's bytes start in a row of each operand.
template <policy::pair_tile Shape, int ChunkBytes>
class chunk_stream {
 public:
  static constexpr int stages = 3;
  static constexpr int row_buffer = Shape.rows * ChunkBytes;
  static constexpr int col_buffer = Shape.cols * ChunkBytes;
  static constexpr std::size_t bytes = std::size_t{stages} * (row_buffer + col_buffer);

  struct offsets {
    index_t rows;
    index_t cols;
  };

  __device__ chunk_stream(const pair_panel& panel, index_t row_bytes, unsigned char* shared)
      : panel_(panel), row_bytes_(row_bytes), shared_(shared) {}

  [[nodiscard]] __device__ const pair_panel& panel() const { return panel_; }

  /// Calls use(row bytes, col bytes, step) for each step of the tile at (first_row, first_col).
  template <class Offsets, class Use>
  __device__ void run(index_t first_row, index_t first_col, int steps, const Offsets& where,
                      const Use& use) {
    __syncthreads();  // the buffers may still be read for the tile before
    for (int step = 0; step < 2; ++step) {
      if (step < steps) load(first_row, first_col, where(step), step);
      async_copy_commit();
    }
    int stage = 0;
    for (int step = 0; step < steps; ++step) {
      async_copy_wait<1>();
      __syncthreads();
      const int ahead = stage == 0 ? 2 : stage - 1;
      if (step + 2 < steps) load(first_row, first_col, where(step + 2), ahead);
      async_copy_commit();
      use(shared_ + stage * row_buffer, shared_ + stages * row_buffer + stage * col_buffer, step);
      stage = stage == stages - 1 ? 0 : stage + 1;
    }
  }

  /// The 16 bytes number `piece` of a row of a buffer.
  static __device__ int4 piece_of(const unsigned char* buffer, int row, int piece) {
    return *reinterpret_cast<const int4*>(buffer + place(row, piece));
  }

 private:
  static __device__ int place(int row, int piece) {
    return row * ChunkBytes + (ChunkBytes == 128 ? piece ^ (row % 2 * 4) : piece) * 16;
  }

  __device__ void load(index_t first_row, index_t first_col, const offsets& at, int stage) const {
    copy<Shape.rows>(panel_.rows, first_row, at.rows, shared_ + stage * row_buffer);
    copy<Shape.cols>(panel_.cols, first_col, at.cols,
                     shared_ + stages * row_buffer + stage * col_buffer);
  }

  template <int Rows>
  __device__ void copy(const pair_operand& side, index_t first, index_t offset,
                       unsigned char* out) const {
    constexpr int pieces = ChunkBytes / 16;
    static_assert(Rows * pieces % Shape.threads == 0);
    const auto* data = static_cast<const unsigned char*>(side.values) + offset;
#pragma unroll
    for (int at = 0; at < Rows * pieces / Shape.threads; ++at) {
      const int number = at * Shape.threads + static_cast<int>(threadIdx.x);
      const int row = number / pieces;
      const int piece = number % pieces;
      const bool there = first + row < side.count;
      async_copy_16(out + place(row, piece),
                    data + (there ? (first + row) * row_bytes_ + piece * 16 : 0), there);
    }
  }

  const pair_panel& panel_;
  index_t row_bytes_;
  unsigned char* shared_;
};

}  // namespace gpu::kernels
