#pragma once
// Tensor tiles for rows longer than shared memory: both operands stream through it in pieces.
//
// A step brings `chunk` bytes of each row of the tile, for rows and columns, into a ring of buffers
// by cp.async, one step less ahead of the products than the ring has. A tile says how many steps
// there are, where the bytes of a step lie in a row, and what to do with them. As in mma.cuh, lanes
// take neighbouring 16-byte pieces of a row as their share of k, so a fragment is one 128-bit load;
// in 128-byte chunks the halves of odd rows are exchanged to keep the loads free of bank conflicts.

#include "kernels/common/async_copy.cuh"
#include "kernels/pairs/tiles/mma.cuh"

namespace gpu::kernels {

/// The ring of buffers. Offsets(step) gives where a step's bytes start in a row of each operand.
template <policy::tile_layout Shape, int ChunkBytes>
class chunk_stream {
 public:
  static constexpr int row_buffer = Shape.rows * ChunkBytes;
  static constexpr int col_buffer = Shape.cols * ChunkBytes;
  static __host__ __device__ std::size_t bytes() {
    return static_cast<std::size_t>(ring_stages()) * (row_buffer + col_buffer);
  }

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
    const int stages = ring_stages();
    const int steps_ahead = stages - 1;
    __syncthreads();  // the buffers may still be read for the tile before
    for (int step = 0; step < steps_ahead; ++step) {
      if (step < steps) load(first_row, first_col, where(step), step);
      async_copy_commit();
    }
    int stage = 0;
    for (int step = 0; step < steps; ++step) {
      async_copy_wait<1>();
      __syncthreads();
      const int ahead = stage == 0 ? stages - 1 : stage - 1;
      if (step + steps_ahead < steps) {
        load(first_row, first_col, where(step + steps_ahead), ahead);
      }
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
                     shared_ + ring_stages() * row_buffer + stage * col_buffer);
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

/// What the tiles that stream have in common: 4 x 2 warps, of which each has 2 x 4 products of 16
/// rows by 8 columns, as partial sums that are added to the totals now and then.
template <policy::tile_layout Shape, int ChunkBytes>
class streamed_tile : public mma_layout<4, 2, 2, 4> {
 public:
  static constexpr policy::tile_layout shape = Shape;

  static __host__ __device__ std::size_t shared_bytes(const pair_panel&) { return stream::bytes(); }
  __device__ void start(index_t first_row, const column_span& columns) {
    first_row_of_block_ = first_row;
    columns_of_block_ = columns;
  }
  __device__ void inverse_norms(int at, float (&inverse)[shape.col_slots]) const {
    read_inverse_norms(stream_.panel().cols, columns_of_block_, *this, at, inverse);
  }

 protected:
  using stream = chunk_stream<Shape, ChunkBytes>;

  __device__ streamed_tile(const pair_panel& panel, index_t row_bytes, unsigned char* shared)
      : stream_(panel, row_bytes, shared) {}

  /// Calls use(row bytes, col bytes, step) for each step of the tile from column `at` on.
  template <class Offsets, class Use>
  __device__ void run(int at, int steps, const Offsets& where, const Use& use) {
    stream_.run(first_row_of_block_, columns_of_block_.first + at, steps, where, use);
  }

  template <class Fragment>
  static __device__ void clear(Fragment& out) {
#pragma unroll
    for (int r = 0; r < shape.row_slots; ++r) {
#pragma unroll
      for (int c = 0; c < shape.col_slots; ++c) out.value[r][c] = 0;
    }
  }

  /// Calls add(total, sum) for each sum, which is 0 then.
  template <class Sum, class Fragment, class Add>
  static __device__ void add_up(Sum (&sums)[2][4][4], Fragment& out, const Add& add) {
#pragma unroll
    for (int r = 0; r < shape.row_slots; ++r) {
#pragma unroll
      for (int c = 0; c < shape.col_slots; ++c) {
        Sum& sum = sums[r / 2][c / 2][r % 2 * 2 + c % 2];
        add(out.value[r][c], sum);
        sum = 0;
      }
    }
  }

  /// Calls multiply(sums, upper rows, lower rows, columns) for each of the warp's products, with
  /// 16 bytes of each row: pieces first_piece to first_piece + 3 of a buffer, one a lane of a quad.
  template <class Sum, class Multiply>
  __device__ void multiply_pieces(const unsigned char* rows, const unsigned char* cols,
                                  int first_piece, Sum (&sums)[2][4][4],
                                  const Multiply& multiply) const {
    const int piece = first_piece + quad_lane();
    int4 b[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) b[j] = stream::piece_of(cols, first_col() + j * 8 + quad(), piece);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int4 upper = stream::piece_of(rows, first_row() + i * 16 + quad(), piece);
      const int4 lower = stream::piece_of(rows, first_row() + i * 16 + 8 + quad(), piece);
#pragma unroll
      for (int j = 0; j < 4; ++j) multiply(sums[i][j], upper, lower, b[j]);
    }
  }

 private:
  stream stream_;
  index_t first_row_of_block_ = 0;
  column_span columns_of_block_{};
};

}  // namespace gpu::kernels
