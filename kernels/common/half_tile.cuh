#pragma once
// Tiles of products in single precision by warpgroups (sm_90a): every value is split into two
// halves, x = hi + lo, and a product is hi lo + lo hi + hi hi.
//
// Operands lie in cells of 32 columns. A row of a cell is 128 bytes, the 32 high halves before the
// 32 low ones, in pieces of 16 bytes whose number is XORed with that of the row modulo 8: the
// 128-byte swizzle, so that shared memory holds what the tensor cores read as it is copied. A stage
// holds a cell of 128 left rows, 64 for each of two consumers, then that of `cols` right rows.

#include <cstdint>

#include <gpu/index.hpp>

#include "kernels/common/warpgroup_stream.cuh"
#include "kernels/common/wgmma.cuh"

namespace gpu::kernels {

constexpr int half_cell_columns = 32;
constexpr int half_cell_row_bytes = 2 * 2 * half_cell_columns;

/// Where the high halves of columns [8 group, 8 group + 8) of a cell are in a row of it, in bytes;
/// the low ones are at group + 4.
__host__ __device__ constexpr int half_piece(int group, int row) {
  return (group ^ row % 8) * 16;
}

/// Shape of a kernel; columns is 64, 128 or 192. Two blocks, one below the other, share right rows.
template <int columns, int stage_count>
struct half_tile {
  static constexpr int rows = 128;
  static constexpr int cols = columns;
  static constexpr int stages = stage_count;
  static constexpr int cluster = 2;
  static constexpr int consumers = 2;
  static constexpr int threads = 128 * (consumers + 1);
  static constexpr int a_bytes = rows * half_cell_row_bytes;
  static constexpr int b_bytes = cols * half_cell_row_bytes;
  static constexpr int stage_bytes = a_bytes + b_bytes;
  // The swizzle counts from multiples of 1024.
  static constexpr std::size_t shared_bytes = static_cast<std::size_t>(stages) * stage_bytes + 1024;
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// sum = the products of consumer `group`, 64 rows by Layout::cols, over the next `cells` stages.
/// Tensor cores cut off what does not fit a float instead of rounding, so a product runs for `run`
/// stages at most, and its result is added to the sums in registers with one rounding.
///
/// Every step cuts off a share of the sum so far, and where rows are alike all in one direction.
/// With multiply_pairs the small products of two stages come first, and only those of high halves
/// are cut: a third of the loss.
template <class Layout, int run, class Stream>
__device__ __forceinline__ void multiply_halves(const Stream& stream,
                                                ring_position<Layout::stages>& position, int group,
                                                index_t cells, float (&sum)[Layout::cols / 2]) {
#pragma unroll
  for (int i = 0; i < Layout::cols / 2; ++i) sum[i] = 0;
  for (index_t cell = 0; cell < cells; cell += run) {
    float part[Layout::cols / 2];
    const int count = static_cast<int>(min(index_t{run}, cells - cell));
    unsigned previous = 0;
    for (int s = 0; s < count; ++s) {
      stream.wait_until_full(position);
      const unsigned base = stream.memory(position.stage);
      const std::uint64_t a = swizzled_descriptor(base + group * 64 * half_cell_row_bytes);
      const std::uint64_t b = swizzled_descriptor(base + Layout::a_bytes);
      pin_registers(part);
      wgmma_fence();
      // Offsets count 16 bytes: 2 to the next 16 columns, 4 from high to low halves.
      wgmma_f16(part, a + 4, b, s != 0);
      wgmma_f16(part, a, b + 4, 1);
      wgmma_f16(part, a + 6, b + 2, 1);
      wgmma_f16(part, a + 2, b + 6, 1);
      wgmma_f16(part, a, b, 1);
      wgmma_f16(part, a + 2, b + 2, 1);
      wgmma_commit();
      pin_registers(part);
      if (s > 0) {
        wgmma_wait<1>();
        stream.release(previous);
      }
      previous = position.stage;
      position.advance();
    }
    wgmma_wait<0>();
    pin_registers(part);
    stream.release(previous);
#pragma unroll
    for (int i = 0; i < Layout::cols / 2; ++i) sum[i] += part[i];
  }
}

/// The same for two stages at a time. The number of cells is even.
template <class Layout, class Stream>
__device__ __forceinline__ void multiply_pairs(const Stream& stream,
                                               ring_position<Layout::stages>& position, int group,
                                               index_t cells, float (&sum)[Layout::cols / 2]) {
#pragma unroll
  for (int i = 0; i < Layout::cols / 2; ++i) sum[i] = 0;
  for (index_t cell = 0; cell < cells; cell += 2) {
    float part[Layout::cols / 2];
    std::uint64_t a[2];
    std::uint64_t b[2];
    unsigned taken[2];
#pragma unroll
    for (int s = 0; s < 2; ++s) {
      stream.wait_until_full(position);
      const unsigned base = stream.memory(position.stage);
      a[s] = swizzled_descriptor(base + group * 64 * half_cell_row_bytes);
      b[s] = swizzled_descriptor(base + Layout::a_bytes);
      taken[s] = position.stage;
      pin_registers(part);
      wgmma_fence();
      wgmma_f16(part, a[s] + 4, b[s], s);
      wgmma_f16(part, a[s], b[s] + 4, 1);
      wgmma_f16(part, a[s] + 6, b[s] + 2, 1);
      wgmma_f16(part, a[s] + 2, b[s] + 6, 1);
      position.advance();
    }
#pragma unroll
    for (int s = 0; s < 2; ++s) {
      wgmma_f16(part, a[s], b[s], 1);
      wgmma_f16(part, a[s] + 2, b[s] + 2, 1);
      wgmma_commit();
      pin_registers(part);
    }
    wgmma_wait<1>();
    pin_registers(part);
    stream.release(taken[0]);
    wgmma_wait<0>();
    pin_registers(part);
    stream.release(taken[1]);
#pragma unroll
    for (int i = 0; i < Layout::cols / 2; ++i) sum[i] += part[i];
  }
}

#endif

}  // namespace gpu::kernels
