#pragma once
// Pearson on tf32 tensor cores: unit rows as high and low tf32 parts, and three products a pair of
// elements (low high, high low, high high; low low is below 2^-22). Error against the exact dot
// product of unit rows: see tensor_float_margin in kernels/pairs/kernels.hpp. Decisions within it
// are made from the double rows.

#include "kernels/pairs/tiles/stream.cuh"

namespace gpu::kernels {

/// Of a step: a float as two tf32 parts.
inline constexpr int tensor_float_chunk =
    policy::tensor_float.columns_per_step * 2 * static_cast<int>(sizeof(float));

class tensor_float_tile : public streamed_tile<policy::tensor_float, tensor_float_chunk> {
 public:
  using statistic = refined_pearson_statistic;
  using fragment = unit_fragment<float, shape.row_slots, shape.col_slots>;

  __device__ tensor_float_tile(const pair_panel& panel, unsigned char* shared)
      : streamed_tile(panel, panel.rows.pitch * static_cast<index_t>(sizeof(float)), shared),
        steps_(static_cast<int>(panel.rows.columns / shape.columns_per_step)) {}

  __device__ void multiply(int at, fragment& out) {
    clear(out);
    float sums[2][4][4] = {};
    const auto where = [](int step) {
      return typename stream::offsets{index_t{step} * tensor_float_chunk,
                                      index_t{step} * tensor_float_chunk};
    };
    run(at, steps_, where, [&](const unsigned char* rows, const unsigned char* cols, int step) {
      multiply_pieces(rows, cols, 0, sums, one_step{});
      multiply_pieces(rows, cols, 4, sums, one_step{});
      if (step + 1 == steps_ || (step + 1) % steps_per_run == 0) {
        add_up(sums, out,
               [](float& total, float sum) { total += sum * (1 / (tf32_scale * tf32_scale)); });
      }
    });
  }

 private:
  static constexpr int steps_per_run = policy::tensor_float_run / shape.columns_per_step;

  // 16 bytes a row are one k step: (high, low) of two elements.
  struct one_step {
    __device__ void operator()(float (&sum)[4], const int4& upper, const int4& lower,
                               const int4& b) const {
      const int high[4] = {upper.x, lower.x, upper.z, lower.z};
      const int low[4] = {upper.y, lower.y, upper.w, lower.w};
      mma_tf32(sum, low, {b.x, b.z});
      mma_tf32(sum, high, {b.y, b.w});
      mma_tf32(sum, high, {b.x, b.z});
    }
  };

  int steps_;
};

}  // namespace gpu::kernels
