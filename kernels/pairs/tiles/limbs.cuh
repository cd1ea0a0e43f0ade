#pragma once
// Spearman for cols > 128 on int8 tensor cores, exact: ranks are split into limbs of 7 bits,
// u = sum of limb_l 128^l, and the product of two rows is the sum over pairs of limbs (a, b) of
// 128^(a + b) times an int8 dot product. Each fits int32 for columns_per_fold columns and is then
// added, shifted, to a 64-bit total.

#include "kernels/pairs/tiles/stream.cuh"

namespace gpu::kernels {

class tensor_limbs_tile : public mma_layout<4, 2, 2, 4> {
 public:
  static constexpr policy::pair_tile shape = policy::tensor_limbs;
  using statistic = spearman_statistic;
  using fragment = integer_fragment<shape.row_slots, shape.col_slots>;

  static __host__ __device__ std::size_t shared_bytes(const pair_panel&) { return stream::bytes; }
  __device__ tensor_limbs_tile(const pair_panel& panel, unsigned char* shared)
      : stream_(panel, panel.rows.pitch, shared),
        limbs_(panel.rows.limbs),
        columns_(panel.rows.columns),
        chunks_(static_cast<int>(panel.rows.columns / chunk)) {}

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
    int sums[2][4][4] = {};
    const auto where = [&](int step) {
      const int pair = step / chunks_;
      const index_t at = index_t{step - pair * chunks_} * chunk;
      return typename stream::offsets{pair / limbs_ * columns_ + at, pair % limbs_ * columns_ + at};
    };
    stream_.run(first_row_, columns_of_block_.first + at, limbs_ * limbs_ * chunks_, where,
                [&](const unsigned char* rows, const unsigned char* cols, int step) {
                  accumulate(rows, cols, 0, sums);
                  accumulate(rows, cols, 1, sums);
                  const int pair = step / chunks_;
                  const int done = step - pair * chunks_ + 1;
                  if (done == chunks_ || done % (policy::columns_per_fold / chunk) == 0) {
                    fold(sums, policy::limb_bits * (pair / limbs_ + pair % limbs_), out);
                  }
                });
  }

 private:
  static constexpr int chunk = shape.columns_per_step;
  using stream = chunk_stream<shape, chunk>;

  // Half a chunk is two k steps.
  __device__ void accumulate(const unsigned char* rows, const unsigned char* cols, int half,
                             int (&sums)[2][4][4]) const {
    const int piece = half * 4 + quad_lane();
    int4 b[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) b[j] = stream::piece_of(cols, first_col() + j * 8 + quad(), piece);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int4 upper = stream::piece_of(rows, first_row() + i * 16 + quad(), piece);
      const int4 lower = stream::piece_of(rows, first_row() + i * 16 + 8 + quad(), piece);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        mma_int8(sums[i][j], {upper.x, lower.x, upper.y, lower.y}, {b[j].x, b[j].y});
        mma_int8(sums[i][j], {upper.z, lower.z, upper.w, lower.w}, {b[j].z, b[j].w});
      }
    }
  }

  static __device__ void fold(int (&sums)[2][4][4], int shift, fragment& out) {
#pragma unroll
    for (int r = 0; r < shape.row_slots; ++r) {
#pragma unroll
      for (int c = 0; c < shape.col_slots; ++c) {
        int& sum = sums[r / 2][c / 2][r % 2 * 2 + c % 2];
        out.value[r][c] += static_cast<std::int64_t>(sum) * (std::int64_t{1} << shift);
        sum = 0;
      }
    }
  }

  stream stream_;
  int limbs_;
  index_t columns_;
  int chunks_;
  index_t first_row_ = 0;
  column_span columns_of_block_{};
};

}  // namespace gpu::kernels
