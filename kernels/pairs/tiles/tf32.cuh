#pragma once
// Pearson on tf32 tensor cores: unit rows as high and low tf32 parts, and three products a pair of
// elements (low high, high low, high high; low low is below 2^-22). Error against the exact dot
// product of unit rows: see tensor_float_margin in correlation_kernels.hpp. Decisions within it are
// made from the double rows.

#include "kernels/pairs/tiles/stream.cuh"

namespace gpu::kernels {

/// d += a * b of one m16n8k8 step, tf32 with float sums.
__device__ inline void mma_tf32(float (&d)[4], const int (&a)[4], const int (&b)[2]) {
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

class tensor_float_tile : public mma_layout<4, 2, 2, 4> {
 public:
  static constexpr policy::pair_tile shape = policy::tensor_float;
  using statistic = refined_pearson_statistic;
  using fragment = unit_fragment<float, shape.row_slots, shape.col_slots>;

  static __host__ __device__ std::size_t shared_bytes(const pair_panel&) { return stream::bytes; }
  __device__ tensor_float_tile(const pair_panel& panel, unsigned char* shared)
      : stream_(panel, panel.rows.pitch * static_cast<index_t>(sizeof(float)), shared),
        steps_(static_cast<int>(panel.rows.columns / shape.columns_per_step)) {}

  __device__ void start(index_t first_row, const column_span& columns) {
    first_row_ = first_row;
    columns_of_block_ = columns;
  }
  __device__ void inverse_norms(int at, float (&inverse)[shape.col_slots]) const {
    read_inverse_norms(stream_.panel().cols, columns_of_block_, *this, at, inverse);
  }

  __device__ void multiply(int at, fragment& out) {
#pragma unroll
    for (int r = 0; r < shape.row_slots; ++r) {
#pragma unroll
      for (int c = 0; c < shape.col_slots; ++c) out.value[r][c] = 0;
    }
    float sums[2][4][4] = {};
    const auto where = [](int step) {
      return typename stream::offsets{index_t{step} * chunk, index_t{step} * chunk};
    };
    stream_.run(first_row_, columns_of_block_.first + at, steps_, where,
                [&](const unsigned char* rows, const unsigned char* cols, int step) {
                  accumulate(rows, cols, 0, sums);
                  accumulate(rows, cols, 4, sums);
                  if (step + 1 == steps_ || (step + 1) % steps_per_run == 0) add_up(sums, out);
                });
  }

 private:
  static constexpr int chunk = shape.columns_per_step * 2 * static_cast<int>(sizeof(float));
  using stream = chunk_stream<shape, chunk>;

  static constexpr int steps_per_run = policy::tensor_float_run / shape.columns_per_step;

  static __device__ void add_up(float (&sums)[2][4][4], fragment& out) {
#pragma unroll
    for (int r = 0; r < shape.row_slots; ++r) {
#pragma unroll
      for (int c = 0; c < shape.col_slots; ++c) {
        float& sum = sums[r / 2][c / 2][r % 2 * 2 + c % 2];
        out.value[r][c] += sum;
        sum = 0;
      }
    }
  }

  // One k step; a piece is (high, low) of two elements.
  __device__ void accumulate(const unsigned char* rows, const unsigned char* cols, int first_piece,
                             float (&sums)[2][4][4]) const {
    const int piece = first_piece + quad_lane();
    int4 b[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) b[j] = stream::piece_of(cols, first_col() + j * 8 + quad(), piece);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int4 upper = stream::piece_of(rows, first_row() + i * 16 + quad(), piece);
      const int4 lower = stream::piece_of(rows, first_row() + i * 16 + 8 + quad(), piece);
      const int high[4] = {upper.x, lower.x, upper.z, lower.z};
      const int low[4] = {upper.y, lower.y, upper.w, lower.w};
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        mma_tf32(sums[i][j], low, {b[j].x, b[j].z});
        mma_tf32(sums[i][j], high, {b[j].y, b[j].w});
        mma_tf32(sums[i][j], high, {b[j].x, b[j].z});
      }
    }
  }

  stream stream_;
  int steps_;
  index_t first_row_ = 0;
  column_span columns_of_block_{};
};

}  // namespace gpu::kernels
