#pragma once
// Spearman for cols > 128 on int8 tensor cores, exact: ranks are split into limbs of 7 bits,
// u = sum of limb_l 128^l, and the product of two rows is the sum over pairs of limbs (a, b) of
// 128^(a + b) times an int8 dot product. Each fits int32 for columns_per_fold columns and is then
// added, shifted, to a 64-bit total.

#include "kernels/pairs/tiles/stream.cuh"

namespace gpu::kernels {

class tensor_limbs_tile
    : public streamed_tile<policy::tensor_limbs, policy::tensor_limbs.columns_per_step> {
 public:
  using statistic = spearman_statistic;
  using fragment = integer_fragment<shape.row_slots, shape.col_slots>;

  __device__ tensor_limbs_tile(const pair_panel& panel, unsigned char* shared)
      : streamed_tile(panel, panel.rows.pitch, shared),
        limbs_(panel.rows.limbs),
        columns_(panel.rows.columns),
        chunks_(static_cast<int>(panel.rows.columns / chunk)) {}

  __device__ void multiply(int at, fragment& out) {
    clear(out);
    int sums[2][4][4] = {};
    const auto where = [&](int step) {
      const int pair = step / chunks_;
      const index_t at = index_t{step - pair * chunks_} * chunk;
      return typename stream::offsets{pair / limbs_ * columns_ + at, pair % limbs_ * columns_ + at};
    };
    run(at, limbs_ * limbs_ * chunks_, where,
        [&](const unsigned char* rows, const unsigned char* cols, int step) {
          multiply_pieces(rows, cols, 0, sums, two_steps{});
          multiply_pieces(rows, cols, 4, sums, two_steps{});
          const int pair = step / chunks_;
          const int done = step - pair * chunks_ + 1;
          if (done == chunks_ || done % (policy::columns_per_fold / chunk) == 0) {
            fold(sums, policy::limb_bits * (pair / limbs_ + pair % limbs_), out);
          }
        });
  }

 private:
  static constexpr int chunk = shape.columns_per_step;

  // 16 bytes a row are two k steps, half a chunk.
  struct two_steps {
    __device__ void operator()(int (&sum)[4], const int4& upper, const int4& lower,
                               const int4& b) const {
      int8_products::multiply(sum, {upper.x, lower.x, upper.y, lower.y}, {b.x, b.y});
      int8_products::multiply(sum, {upper.z, lower.z, upper.w, lower.w}, {b.z, b.w});
    }
  };

  static __device__ void fold(int (&sums)[2][4][4], int shift, fragment& out) {
    add_up(sums, out, [&](std::int64_t& total, int sum) {
      // Totals of four limbs may wrap round on their way; the last one fits.
      const auto part = static_cast<std::uint64_t>(std::int64_t{sum}) << shift;
      total = static_cast<std::int64_t>(static_cast<std::uint64_t>(total) + part);
    });
  }

  int limbs_;
  index_t columns_;
  int chunks_;
};

}  // namespace gpu::kernels
