#pragma once
// Prepared ranks ordered by square sum and packed for the warpgroup tensor cores.

#include "correlation/screen_kernels.hpp"
#include "cuda/device_buffer.hpp"
#include "cuda/pair_rows.hpp"

namespace gpu::cuda {

class packed_rows {
 public:
  /// Device memory that `rows` packed rows take.
  static std::size_t bytes(index_t rows, int depth);

  /// Orders and packs `rows`, resident int8 ranks that outlive this, of which `invalid` have no
  /// statistic and are left out.
  packed_rows(const pair_rows& rows, index_t invalid, kernels::screen_operand operand, int depth,
              cudaStream_t stream);

  [[nodiscard]] const kernels::screen_ranks& ranks() const { return ranks_; }
  [[nodiscard]] const kernels::screen_rows& rows() const { return packed_; }
  /// Pairs of rows that have a statistic.
  [[nodiscard]] double pairs() const;

 private:
  kernels::screen_ranks ranks_;
  kernels::screen_rows packed_{};
  device_buffer<std::uint32_t> order_;
  device_buffer<std::uint8_t> tiles_;
  device_buffer<kernels::screen_block> blocks_;
  device_buffer<kernels::screen_block> tile_bounds_;
};

}  // namespace gpu::cuda
