#pragma once
// Prepared ranks ordered by square sum and packed for the warpgroup tensor cores.

#include "cuda/pairs/rows/area_walk.hpp"
#include "cuda/pairs/rows/device_rows.hpp"
#include "cuda_runtime/device_buffer.hpp"
#include "kernels/pairs/screen/kernels.hpp"

namespace gpu::cuda {

class screen_input {
 public:
  /// Device memory that `rows` packed rows take.
  static std::size_t bytes(index_t rows, int depth);
  static std::size_t rounded_bytes(index_t rows, int depth);

  /// Orders and packs those of `rows`, resident int8 ranks or signs whose ranks are made, that
  /// `sides` names and that have a statistic. `rows` outlive this.
  screen_input(const device_rows& rows, const area_sides& sides, kernels::screen_operand operand,
               int depth, cudaStream_t stream);
  /// Orders and packs `rows`, resident limbs or unit rows, rounded to 8 bits.
  screen_input(const device_rows& rows, const area_sides& sides, int depth, cudaStream_t stream);

  /// Tests the candidates exactly; see launch_screen_refine.
  void refine(const detail::pair_cut& keep, const kernels::screen_candidate* candidates,
              const std::uint64_t* count, std::uint64_t capacity, kernels::screened_edge* edges,
              std::uint64_t* kept, cudaStream_t stream) const;

  [[nodiscard]] const kernels::screen_rows& rows() const { return packed_; }
  /// Pairs that are asked for, of rows that have a statistic.
  [[nodiscard]] double pairs() const { return sides_.pairs(); }

 private:
  // Makes room for the rows that take part, which are the last ones of the order.
  void allocate(kernels::screen_operand operand, int depth, cudaStream_t stream);

  area_sides sides_;

  // Of signs: the rows that decide.
  const std::byte* signs_ = nullptr;
  const stats::kendall_decision* tied_ = nullptr;
  kernels::screen_ranks ranks_{};
  kernels::screen_source source_{};
  kernels::screen_rows packed_{};
  device_buffer<std::uint32_t> order_;
  device_buffer<std::uint8_t> tiles_;
  device_buffer<kernels::screen_block> blocks_;
  device_buffer<kernels::screen_block> tile_bounds_;
};

}  // namespace gpu::cuda
