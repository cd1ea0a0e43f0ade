// 1-bit warpgroup tensor cores (wgmma, compute capability 9.0).
//
// A block of 3 warpgroups computes 192 x 256 results at a time, a warpgroup 64 x 256 in 128 sums a
// thread. Operands come prepared as tiles, so that a stage of 128 bytes a row is two contiguous
// bulk copies; a ring of 4 stages, filled by thread 0 two ahead. The grid is persistent: while a
// block's results drain through L2, its next multiply runs. Row tiles are walked in groups, so
// that the blocks at work share both operands in L2.
// Shared memory: 4 * (192 + 256) * 128 = 224 KiB; 1 block a multiprocessor.

#include "binary_matmul/binary_matmul_kernels.hpp"
#include "common/bulk_copy.cuh"
#include "common/launch.cuh"
#include "common/wgmma.cuh"

namespace gpu::kernels {
namespace {

using policy = bit_hopper_policy;

constexpr int left_bytes = policy::tile_rows * bit_chunk_bytes;
constexpr int right_bytes = policy::tile_cols * bit_chunk_bytes;
constexpr int stage_bytes = left_bytes + right_bytes;
constexpr std::size_t shared_bytes = static_cast<std::size_t>(policy::stages) * stage_bytes;

struct hopper_arguments {
  prepared_bits a;
  prepared_bits b;
  int scale;
  device_matrix_view<std::int32_t> out;
  int row_tiles;
  int col_tiles;
  bool paired_stores;  // rows of the result start at even elements, 8-byte aligned
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

struct tile_position {
  int row;
  int col;
};

// Tile `index` of the walk: groups of row tiles, within a group column by column.
__device__ __forceinline__ tile_position locate(const hopper_arguments& args, int index) {
  const int per_group = policy::row_group * args.col_tiles;
  const int first = index / per_group * policy::row_group;
  const int rows = min(policy::row_group, args.row_tiles - first);
  const int within = index % per_group;
  return {first + within % rows, within / rows};
}

// Writes the results of one warpgroup: a quad of lanes covers 32 consecutive bytes of a row.
__device__ __forceinline__ void store(const hopper_arguments& args, const int (&sums)[128],
                                      index_t first_row, index_t first_col) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const index_t top = first_row + lane / 4;
  const index_t left = first_col + lane % 4 * 2;
  const int top_offset = args.a.row_offsets[top];
  const int bottom_offset = args.a.row_offsets[top + 8];
  std::int32_t* out = args.out.data() + top * args.out.row_stride();
  std::int32_t* below = out + 8 * args.out.row_stride();
#pragma unroll
  for (int j = 0; j < 32; ++j) {
    const index_t col = left + j * 8;
    const int2 offsets = *reinterpret_cast<const int2*>(args.b.row_offsets + col);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (top + half * 8 >= args.a.rows) continue;
      std::int32_t* row = half == 0 ? out : below;
      const int offset = half == 0 ? top_offset : bottom_offset;
      const int first = args.scale * sums[j * 4 + half * 2] + offset + offsets.x;
      const int second = args.scale * sums[j * 4 + half * 2 + 1] + offset + offsets.y;
      if (args.paired_stores && col + 1 < args.b.rows) {
        __stcs(reinterpret_cast<int2*>(row + col), make_int2(first, second));
      } else {
        if (col < args.b.rows) row[col] = first;
        if (col + 1 < args.b.rows) row[col + 1] = second;
      }
    }
  }
}

#endif

__global__ void __launch_bounds__(policy::warpgroups * 128, 1)
    binary_hopper_kernel(const __grid_constant__ hopper_arguments args) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ __align__(1024) std::uint8_t shared[];
  __shared__ __align__(8) std::uint64_t barriers[2 * policy::stages];  // full, then empty
  constexpr int ahead = policy::stages - 1;
  const unsigned full = shared_address(&barriers[0]);
  const unsigned empty = shared_address(&barriers[policy::stages]);
  const unsigned ring = shared_address(shared);
  const int warpgroup = __shfl_sync(~0U, static_cast<int>(threadIdx.x >> 7), 0);
  const int tiles = args.row_tiles * args.col_tiles;
  const int chunks = static_cast<int>(args.a.chunks);

  // Of thread 0: the next stage to fill.
  int next_tile = static_cast<int>(blockIdx.x);
  int next_chunk = 0;
  unsigned fill_stage = 0;
  unsigned fill_parity = 1;
  const auto fill = [&] {
    if (next_tile >= tiles) return;
    const tile_position at = locate(args, next_tile);
    barrier_wait(empty + fill_stage * 8, fill_parity);
    barrier_expect(full + fill_stage * 8, stage_bytes);
    const auto* left =
        reinterpret_cast<const std::uint8_t*>(args.a.words) +
        (next_chunk * args.a.padded_rows + at.row * policy::tile_rows) * bit_chunk_bytes;
    const auto* right =
        reinterpret_cast<const std::uint8_t*>(args.b.words) +
        (next_chunk * args.b.padded_rows + at.col * policy::tile_cols) * bit_chunk_bytes;
    bulk_copy(ring + fill_stage * stage_bytes, left, left_bytes, full + fill_stage * 8);
    bulk_copy(ring + fill_stage * stage_bytes + left_bytes, right, right_bytes,
              full + fill_stage * 8);
    if (++fill_stage == policy::stages) {
      fill_stage = 0;
      fill_parity ^= 1U;
    }
    if (++next_chunk == chunks) {
      next_chunk = 0;
      next_tile += static_cast<int>(gridDim.x);
    }
  };
  if (threadIdx.x == 0) {
    for (unsigned stage = 0; stage < policy::stages; ++stage) {
      barrier_init(full + stage * 8, 1);
      barrier_init(empty + stage * 8, policy::warpgroups);
    }
    barrier_init_fence();
    for (int i = 0; i < ahead; ++i) fill();
  }
  __syncthreads();

  const std::uint64_t operand = operand_descriptor(ring, bit_chunk_bytes);
  const std::uint64_t left_offset =
      static_cast<std::uint64_t>(warpgroup * 64 * bit_chunk_bytes) >> 4;
  int sums[128];
  unsigned stage = 0;
  unsigned parity = 0;
  for (int tile = static_cast<int>(blockIdx.x); tile < tiles; tile += static_cast<int>(gridDim.x)) {
    for (int chunk = 0; chunk < chunks; ++chunk) {
      barrier_wait(full + stage * 8, parity);
      pin_registers(sums);
      wgmma_fence();
      const std::uint64_t base = operand + static_cast<std::uint64_t>((stage * stage_bytes) >> 4);
#pragma unroll
      for (int step = 0; step < bit_chunk_bytes / 32; ++step) {
        wgmma_b1(sums, base + left_offset + static_cast<std::uint64_t>(step * (256 >> 4)),
                 base + static_cast<std::uint64_t>((left_bytes >> 4) + step * (256 >> 4)),
                 chunk > 0 || step > 0 ? 1 : 0);
      }
      wgmma_commit();
      wgmma_wait<0>();
      pin_registers(sums);
      if (threadIdx.x % 128 == 0) barrier_arrive(empty + stage * 8);
      if (threadIdx.x == 0) fill();
      __syncwarp();
      if (++stage == policy::stages) {
        stage = 0;
        parity ^= 1U;
      }
    }
    const tile_position at = locate(args, tile);
    store(args, sums,
          static_cast<index_t>(at.row) * policy::tile_rows + warpgroup * 64 +
              threadIdx.x % 128 / 32 * 16,
          static_cast<index_t>(at.col) * policy::tile_cols);
  }
#endif
}

}  // namespace

void launch_binary_hopper(const prepared_bits& a, const prepared_bits& b,
                          const detail::bit_terms& terms, device_matrix_view<std::int32_t> out,
                          int multiprocessors, cudaStream_t stream) {
  if (out.empty()) return;
  const hopper_arguments args{
      .a = a,
      .b = b,
      .scale = terms.scale,
      .out = out,
      .row_tiles = static_cast<int>(ceil_div(a.rows, policy::tile_rows)),
      .col_tiles = static_cast<int>(ceil_div(b.rows, policy::tile_cols)),
      .paired_stores =
          out.row_stride() % 2 == 0 && reinterpret_cast<std::uintptr_t>(out.data()) % 8 == 0};
  const unsigned blocks = grid_blocks(index_t{args.row_tiles} * args.col_tiles, 1, multiprocessors);
  allow_shared_memory(binary_hopper_kernel, shared_bytes);
  binary_hopper_kernel<<<blocks, policy::warpgroups * 128, shared_bytes, stream>>>(args);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
