#pragma once
// Rows that a block keeps in shared memory times tiles of rows that stream past them (sm_90a): what
// the persistent kernels of all pairs have in common.

#include <cstddef>

#include "kernels/common/launch.cuh"
#include "kernels/common/warpgroup_stream.cuh"
#include "kernels/common/wgmma.cuh"

namespace gpu::kernels {

/// Launches a persistent kernel: a block of `threads` for each multiprocessor.
template <class Arguments>
void launch_persistent(void (*kernel)(Arguments), const Arguments& args, int threads,
                       std::size_t shared_bytes, int multiprocessors, cudaStream_t stream) {
  allow_shared_memory(kernel, shared_bytes);
  kernel<<<static_cast<unsigned>(multiprocessors), static_cast<unsigned>(threads), shared_bytes,
           stream>>>(args);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

/// Sizes of a kernel whose warpgroups each keep some blocks of 64 left rows, a panel in all, and
/// multiply one of them by 256 right rows at a time; for packed rows of `row_bytes`. `tuning` has
/// warpgroups, row_blocks (of each), tile_rows and stages.
template <auto tuning, int row_bytes>
struct panel_shape {
  static constexpr int depth = row_bytes;
  static constexpr int warpgroups = tuning.warpgroups;
  static constexpr int threads = warpgroups * 128;
  static constexpr int tile_rows = tuning.tile_rows;
  static constexpr int tile_bytes = tile_rows * depth;
  static constexpr int stages = tuning.stages;
  static constexpr int row_blocks = tuning.row_blocks;
  static constexpr int block_bytes = 64 * depth;
  static constexpr int left_bytes = row_blocks * block_bytes;  // of a warpgroup
  static constexpr int panel = warpgroups * row_blocks * 64;   // rows
  static constexpr int splits = tile_rows / 256;        // products of a row block with a tile
  static constexpr int products = row_blocks * splits;  // of a warpgroup with a tile
  static constexpr int left_at = stages * tile_bytes;   // the panel in shared memory
  static constexpr std::size_t shared_bytes =
      static_cast<std::size_t>(left_at) + static_cast<std::size_t>(panel) * depth;
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// The part of a walk whose loads are tiles that follow each other from `tiles` on, where the
/// cursor has them as `tiles`. `shape` has stages, tile_bytes and warpgroups.
template <class shape>
struct tile_walk {
  static constexpr int stages = shape::stages;
  static constexpr unsigned stage_bytes = shape::tile_bytes;
  static constexpr int consumers = shape::warpgroups;
  // One stage of slack where there are enough: then no warpgroup waits for the slowest.
  static constexpr int loads_ahead = stages > 2 ? stages - 2 : 1;
  static constexpr int cluster = 1;
  using load = tile_range;

  const std::uint8_t* tiles;

  template <class Cursor>
  __device__ __forceinline__ load first_load(const Cursor& at) const {
    return at.tiles;
  }
  __device__ __forceinline__ bool next(load& here) const { return ++here.next != here.end; }
  __device__ __forceinline__ void issue(const load& here, unsigned memory, unsigned full) const {
    bulk_copy(memory, tiles + static_cast<std::size_t>(here.next) * stage_bytes, stage_bytes, full);
  }
};

/// Begins d = a b^T over `depth` bytes of each row; product(d, a, b, accumulate) is an instruction
/// for 32 of them.
template <int depth, class Register, int count, class Product>
__device__ __forceinline__ void begin_product(Register (&d)[count], std::uint64_t a,
                                              std::uint64_t b, const Product& product) {
  pin_registers(d);
  wgmma_fence();
#pragma unroll
  for (int k = 0; k < depth / 32; ++k) {
    product(d, a + static_cast<std::uint64_t>(k * (256 >> 4)),
            b + static_cast<std::uint64_t>(k * (256 >> 4)), k);
  }
  wgmma_commit();
}
/// Waits for d: until at most `pending` of the products that were begun last are not finished.
template <int pending, class Register, int count>
__device__ __forceinline__ void finish_product(Register (&d)[count]) {
  wgmma_wait<pending>();
  pin_registers(d);
}

/// The warpgroup's left rows, and the right rows of the first stage.
struct panel_operands {
  std::uint64_t left;
  std::uint64_t right;
};

/// Multiplies the warpgroup's left rows by the tile in `stage`: use(number, sums) for each product,
/// of row block number / splits with part number % splits of the tile. Where there are two sets of
/// sums, the next product is under way meanwhile. Releases the stage after the last one.
template <class shape, class Stream, class Sum, int sets, int count, class Product, class Use>
__device__ __forceinline__ void multiply_tile(const Stream& stream, const panel_operands& operands,
                                              unsigned stage, Sum (&sums)[sets][count],
                                              const Product& product, const Use& use) {
  static_assert(shape::products % sets == 0);
  const auto begin = [&](int number) {
    const int row_block = number / shape::splits;
    const int split = number % shape::splits;
    begin_product<shape::depth>(
        sums[number % sets],
        operands.left + static_cast<std::uint64_t>(row_block * (shape::block_bytes >> 4)),
        operands.right + ((stage * shape::tile_bytes + split * 256 * shape::depth) >> 4), product);
  };
  if constexpr (sets == 2) begin(0);
  stream.issue();
#pragma unroll
  for (int number = 0; number < shape::products; ++number) {
    const bool is_last = number + 1 == shape::products;
    auto& ready = sums[number % sets];
    if constexpr (sets == 1) begin(number);
    if (sets == 2 && !is_last) {
      begin(number + 1);
      finish_product<1>(ready);
    } else {
      finish_product<0>(ready);
    }
    if (is_last) stream.release(stage);
    use(number, ready);
  }
}

#endif

}  // namespace gpu::kernels
