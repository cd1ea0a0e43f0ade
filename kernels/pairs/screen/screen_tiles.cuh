#pragma once
// The pair screen: which pairs of rows may reach a strict cut on |rho|, at tensor-core speed.
//
// A block holds a panel of 3 x 2 x 64 left rows in shared memory and walks a chunk of the right
// rows, which a ring of bulk copies streams through shared memory, one tile a stage. Each
// warpgroup multiplies its 64-row blocks by 256 right rows at a time (wgmma, sums in registers)
// and takes one maximum over its sums; only a warp with a sum past the threshold looks closer.
//
// The threshold. With depth 32 two columns are free: they add the bias T to every sum, so that a
// single unsigned maximum covers both signs: |s| > T <=> unsigned(s + T) > 2 T. Half-precision
// sums compare as 16-bit integers, because non-negative halves order like their bits and negative
// ones have the top bit set. Deeper rows have no free columns and enough tensor work to hide a
// maximum and a minimum. Rows come ordered by norm, so T of a tile is nearly T of each of its
// pairs; it is a lower bound, and refinement decides.
//
// Order of work: items walk chunk by chunk, so that the blocks on the device share one chunk of
// right rows in L2 while their panels differ.
// Shared memory: ring, panel and 512 bytes a warp for the close look; 1 block a multiprocessor.
// Tried without gain: left operand in registers (same speed, fewer free registers), one warpgroup
// as producer (its registers are missed), software pipelining across tiles (the compiler
// serialises sums that live around the loop's back edge).

#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>

#include "kernels/common/bulk_copy.cuh"
#include "kernels/common/wgmma.cuh"
#include "kernels/pairs/screen/kernels.hpp"
#include "plan/screen_policy.hpp"

namespace gpu::kernels {

struct screen_arguments {
  const std::uint8_t* tiles;
  const screen_block* blocks;
  const screen_block* tile_bounds;
  unsigned rows;
  int tile_count;
  index_t first_item;
  index_t last_item;
  float cut;
  screen_candidate* candidates;
  std::uint64_t capacity;
  std::uint64_t* count;
};

/// Items of the chunks before `chunk`: chunk c has (c + 1) * panels of one chunk.
__host__ __device__ constexpr index_t items_before(index_t chunk, index_t panels) {
  return panels * (chunk * (chunk + 1) / 2);
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

__device__ __forceinline__ float from_e4m3(unsigned bits) {
  return __half2float(
      __half(__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(bits), __NV_E4M3)));
}
/// The largest e4m3 value at most about `value`: rounding is to nearest, so aim a little lower.
__device__ __forceinline__ unsigned e4m3_below(float value) {
  return __nv_cvt_float_to_fp8(fmaxf(0.0F, value) * 0.94F, __NV_SATFINITE, __NV_E4M3);
}

/// What differs between the operand types: the multiply, the threshold and the test of the sums.
template <screen_operand operand, int depth>
struct screen_multiply;

/// Bias bytes of the left rows and the limit that an unsigned sum must pass.
struct screen_threshold {
  unsigned bias_bytes;
  unsigned limit;
};

template <int depth>
struct screen_multiply<screen_operand::e4m3, depth> {
  using sum = unsigned;
  static constexpr int sums = 64;
  static constexpr int sets = 2;
  static constexpr bool biased = depth == 32;
  static constexpr int values_per_sum = 2;
  static constexpr float sum_loss = biased ? 0.0F : e4m3_deep_loss;  // else in the threshold

  static __device__ void multiply(sum (&d)[sums], std::uint64_t a, std::uint64_t b) {
#pragma unroll
    for (int k = 0; k < depth / 32; ++k) {
      wgmma_e4m3(d, a + static_cast<std::uint64_t>(k * (256 >> 4)),
                 b + static_cast<std::uint64_t>(k * (256 >> 4)), k);
    }
  }
  static __device__ screen_threshold threshold(float least_sum) {
    if constexpr (!biased) {
      const float least = least_sum * (e4m3_deep_scale * e4m3_deep_scale);
      const unsigned bits = __half_as_ushort(__float2half_rd(fmaxf(least, 0.0F)));
      return {0, max(bits, 1U) - 1};
    }
    const float aim = fmaxf(least_sum - e4m3_sum_slack, e4m3_sum_slack);
    const unsigned coarse = e4m3_below(aim / e4m3_bias_coarse);
    const float coarse_bias = e4m3_bias_coarse * from_e4m3(coarse);
    const unsigned fine = e4m3_below((aim - coarse_bias) / e4m3_bias_fine);
    const float bias = coarse_bias + e4m3_bias_fine * from_e4m3(fine);
    return {coarse | (fine << 8), __half_as_ushort(__float2half_rd(2.0F * bias - 16.0F))};
  }
  static __device__ bool any(const sum (&d)[sums], unsigned limit) {
    unsigned even = 0;
    unsigned odd = 0;
#pragma unroll
    for (int i = 0; i < sums; i += 4) {
      even = __vimax3_u16x2(even, d[i], d[i + 1]);
      odd = __vimax3_u16x2(odd, d[i + 2], d[i + 3]);
    }
    unsigned both = __vmaxu2(even, odd);
    if constexpr (!biased) {
      // Read as unsigned, the largest is the strongest negative half; as signed, the positive one.
      unsigned positive = 0;
#pragma unroll
      for (int i = 0; i < sums; i += 2) positive = __vimax3_s16x2(positive, d[i], d[i + 1]);
      both = __vmaxu2(both & 0x7fff7fffU, positive);
    }
    return max(both >> 16, both & 0xffffU) > limit;
  }
  static __device__ bool passes(sum value, int part, unsigned limit) {
    const unsigned half = part == 0 ? value & 0xffffU : value >> 16;
    return (biased ? half : half & 0x7fffU) > limit;
  }
  /// Row (0 or 8) and column of part `part` of sum `i` for the lane's first row and column.
  static __device__ unsigned row_of(int i) {
    return static_cast<unsigned>(i & 1) * 8;
  }
  static __device__ unsigned column_of(int i, int part) {
    return static_cast<unsigned>((i >> 1) * 8 + part);
  }
};

template <int depth>
struct screen_multiply<screen_operand::int8, depth> {
  using sum = int;
  static constexpr int sums = 128;
  static constexpr int sets = 1;
  static constexpr bool biased = depth == 32;
  static constexpr int values_per_sum = 1;
  static constexpr float sum_loss = 0.0F;

  static __device__ void multiply(sum (&d)[sums], std::uint64_t a, std::uint64_t b) {
#pragma unroll
    for (int k = 0; k < depth / 32; ++k) {
      wgmma_s8(d, a + static_cast<std::uint64_t>(k * (256 >> 4)),
               b + static_cast<std::uint64_t>(k * (256 >> 4)), k);
    }
  }
  static __device__ screen_threshold threshold(float least_sum) {
    // sum > bias <=> sum >= least_sum, rounded down; the bias bytes hold it in base 127.
    const unsigned most = int8_bias_unit * int8_bias_unit + int8_bias_unit - 1;
    const unsigned bias = min(static_cast<unsigned>(fmaxf(least_sum, 1.0F)) - 1, most);
    if constexpr (!biased) return {0, static_cast<unsigned>(fmaxf(least_sum, 1.0F)) - 1};
    const unsigned coarse = bias / int8_bias_unit;
    return {coarse | ((bias - coarse * int8_bias_unit) << 8), 2 * bias};
  }
  static __device__ bool any(const sum (&d)[sums], unsigned limit) {
    if constexpr (biased) {
      unsigned even = 0;
      unsigned odd = 0;
#pragma unroll
      for (int i = 0; i < sums; i += 4) {
        even = max(max(even, static_cast<unsigned>(d[i])), static_cast<unsigned>(d[i + 1]));
        odd = max(max(odd, static_cast<unsigned>(d[i + 2])), static_cast<unsigned>(d[i + 3]));
      }
      return max(even, odd) > limit;
    } else {
      int most = 0;
      int least = 0;
#pragma unroll
      for (int i = 0; i < sums; i += 2) {
        most = max(max(most, d[i]), d[i + 1]);
        least = min(min(least, d[i]), d[i + 1]);
      }
      return max(most, -least) > static_cast<int>(limit);
    }
  }
  static __device__ bool passes(sum value, int, unsigned limit) {
    return biased ? static_cast<unsigned>(value) > limit : abs(value) > static_cast<int>(limit);
  }
  static __device__ unsigned row_of(int i) {
    return static_cast<unsigned>((i >> 1) & 1) * 8;
  }
  static __device__ unsigned column_of(int i, int) {
    return static_cast<unsigned>((i >> 2) * 8 + (i & 1));
  }
};

/// A position in the walk over items and tiles.
struct screen_cursor {
  index_t item;
  index_t chunk;
  int tile;
  int last_tile;
};

/// Moves to the next item with a tile on or above the diagonal; false at the end of the work.
template <int panel, int tile_rows, int chunk_tiles>
__device__ __forceinline__ bool settle(const screen_arguments& args, screen_cursor& at) {
  constexpr index_t panels = index_t{chunk_tiles} * tile_rows / panel;
  for (; at.item < args.last_item; at.item += gridDim.x) {
    while (at.item >= items_before(at.chunk + 1, panels)) ++at.chunk;
    const index_t row = (at.item - items_before(at.chunk, panels)) * panel;
    at.tile = static_cast<int>(max(at.chunk * chunk_tiles, row / tile_rows));
    at.last_tile =
        static_cast<int>(min((at.chunk + 1) * chunk_tiles, static_cast<index_t>(args.tile_count)));
    if (at.tile < at.last_tile && row < args.rows) return true;
  }
  return false;
}

/// The close look of one warp at its sums, of which lanes with `hit` hold at least one that passed:
/// one such lane at a time puts its sums into shared memory and the whole warp tests them, so that
/// the rare path neither indexes registers nor walks through them one by one.
template <class Multiply>
__device__ __forceinline__ void collect(const screen_arguments& args,
                                        const typename Multiply::sum (&d)[Multiply::sums], bool hit,
                                        unsigned limit, unsigned first_row, unsigned first_column,
                                        typename Multiply::sum* scratch) {
  const unsigned lane = threadIdx.x & 31U;
  for (unsigned hits = __ballot_sync(~0U, hit); hits != 0; hits &= hits - 1) {
    const unsigned source = static_cast<unsigned>(__ffs(static_cast<int>(hits))) - 1;
    if (lane == source) {
#pragma unroll
      for (int i = 0; i < Multiply::sums; i += 4) {
        *reinterpret_cast<int4*>(scratch + i) =
            make_int4(static_cast<int>(d[i]), static_cast<int>(d[i + 1]),
                      static_cast<int>(d[i + 2]), static_cast<int>(d[i + 3]));
      }
    }
    __syncwarp();
#pragma unroll 1
    for (int i = static_cast<int>(lane); i < Multiply::sums; i += 32) {
      for (int part = 0; part < Multiply::values_per_sum; ++part) {
        if (!Multiply::passes(scratch[i], part, limit)) continue;
        const unsigned left = first_row + (source >> 2) + Multiply::row_of(i);
        const unsigned right = first_column + (source & 3U) * 2 + Multiply::column_of(i, part);
        if (left >= right || right >= args.rows) continue;
        const std::uint64_t slot =
            atomicAdd(reinterpret_cast<unsigned long long*>(args.count), 1ULL);
        if (slot < args.capacity) args.candidates[slot] = {left, right};
      }
    }
    __syncwarp();
  }
}

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

template <screen_operand operand, int depth>
constexpr std::size_t screen_shared_bytes() {
  constexpr screen_policy policy = select_screen_policy(depth);
  return static_cast<std::size_t>(policy.stages) * policy.tile_rows * depth +
         static_cast<std::size_t>(panel_rows(policy)) * depth +
         static_cast<std::size_t>(policy.warpgroups) * 4 * 512;
}

template <screen_operand operand, int depth>
__global__ void __launch_bounds__(select_screen_policy(depth).warpgroups * 128, 1)
    pair_screen_kernel(const __grid_constant__ screen_arguments args) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using multiply = screen_multiply<operand, depth>;
  constexpr screen_policy policy = select_screen_policy(depth);
  constexpr int tile_rows = policy.tile_rows;
  constexpr int stages = policy.stages;
  constexpr int row_blocks = policy.row_blocks;
  constexpr int tile_bytes = tile_rows * depth;
  constexpr int block_bytes = screen_block_rows * depth;
  constexpr int splits = tile_rows / 256;
  constexpr int steps = row_blocks * splits;
  constexpr int panel = panel_rows(policy);
  static_assert(multiply::sets == 1 || steps % 2 == 0);

  extern __shared__ __align__(1024) std::uint8_t shared[];
  __shared__ __align__(8) std::uint64_t barriers[2 * stages];  // full, then empty
  __shared__ screen_cursor producer_at;                        // of thread 0 alone, as are
  __shared__ ring_place<stages> producer_place;
  __shared__ volatile unsigned producer_more;  // volatile: no other thread may read it ahead

  const int warpgroup = __shfl_sync(~0U, static_cast<int>(threadIdx.x >> 7), 0);
  const unsigned in_group = threadIdx.x & 127U;
  const copy_ring<stages, tile_bytes> ring{shared_address(shared), shared_address(barriers)};
  std::uint8_t* left_rows = shared + stages * tile_bytes + warpgroup * row_blocks * block_bytes;
  auto* scratch = reinterpret_cast<typename multiply::sum*>(
      shared + stages * tile_bytes + panel * depth + (threadIdx.x >> 5) * 512);

  // Thread 0 streams the tiles ahead of the consumers; its position stays in shared memory to
  // leave the registers to the sums.
  const auto produce = [&] {
    if (producer_more == 0) return;
    screen_cursor at = producer_at;
    ring_place<stages> to = producer_place;
    ring.fill(to, args.tiles + static_cast<std::size_t>(at.tile) * tile_bytes);
    to.advance();
    producer_place = to;
    if (++at.tile == at.last_tile) {
      at.item += gridDim.x;
      producer_more = settle<panel, tile_rows, policy.chunk_tiles>(args, at) ? 1 : 0;
    }
    producer_at = at;
  };
  if (threadIdx.x == 0) {
    ring.init(policy.warpgroups);
    screen_cursor at{args.first_item + blockIdx.x, 0, 0, 0};
    producer_more = settle<panel, tile_rows, policy.chunk_tiles>(args, at) ? 1 : 0;
    producer_at = at;
    producer_place = {0, 0};
    for (int stage = 0; stage < stages - 2; ++stage) produce();
  }
  __syncthreads();

  const std::uint64_t left_operand = operand_descriptor(shared_address(left_rows), depth);
  const std::uint64_t right_operand = operand_descriptor(ring.first_stage, depth);
  const unsigned warp_row = (in_group >> 5) * 16;
  typename multiply::sum d[multiply::sets][multiply::sums];
  ring_place<stages> place{0, 0};

  screen_cursor at{args.first_item + blockIdx.x, 0, 0, 0};
  constexpr index_t panels = index_t{policy.chunk_tiles} * tile_rows / panel;
  while (settle<panel, tile_rows, policy.chunk_tiles>(args, at)) {
    const unsigned first_row =
        static_cast<unsigned>((at.item - items_before(at.chunk, panels)) * panel) +
        static_cast<unsigned>(warpgroup * row_blocks * screen_block_rows);
    // The panel comes as it lies in memory: packed rows are in the layout the operand needs.
    warpgroup_sync(warpgroup + 1);
    const auto* source =
        reinterpret_cast<const int4*>(args.tiles + static_cast<std::size_t>(first_row) * depth);
    for (unsigned i = in_group; i < row_blocks * block_bytes / 16; i += 128) {
      reinterpret_cast<int4*>(left_rows)[i] = source[i];
    }
    float left_norm = args.blocks[first_row / screen_block_rows].smallest_norm;
    float left_error = args.blocks[first_row / screen_block_rows].largest_error;
#pragma unroll
    for (int x = 1; x < row_blocks; ++x) {
      const screen_block block = args.blocks[first_row / screen_block_rows + x];
      left_norm = fminf(left_norm, block.smallest_norm);
      left_error = fmaxf(left_error, block.largest_error);
    }
    // |sum of rounded| >= |sum| - norms (e_l + e_r + e_l e_r), by Cauchy and Schwarz.
    const auto least_sum = [&](screen_block tile) {
      return left_norm * tile.smallest_norm *
             (args.cut - (left_error + tile.largest_error + left_error * tile.largest_error) -
              multiply::sum_loss);
    };
    unsigned written_bias = ~0U;
    bool fresh = true;
    screen_block tile_bounds = args.tile_bounds[at.tile];

#pragma unroll 1
    for (int tile = at.tile; tile < at.last_tile; ++tile) {
      const screen_threshold threshold = multiply::threshold(least_sum(tile_bounds));
      if (multiply::biased && threshold.bias_bytes != written_bias) {
        written_bias = threshold.bias_bytes;
        warpgroup_sync(warpgroup + 1);
        if (in_group < 64) {
#pragma unroll
          for (int x = 0; x < row_blocks; ++x) {
            *reinterpret_cast<std::uint16_t*>(left_rows + x * block_bytes + (in_group / 8) * 256 +
                                              128 + (in_group % 8) * 16 + 14) =
                static_cast<std::uint16_t>(written_bias);
          }
        }
        fresh = true;
      }
      if (fresh) {
        async_proxy_fence();
        warpgroup_sync(warpgroup + 1);
        fresh = false;
      }
      tile_bounds = args.tile_bounds[tile + 1];
      ring.wait_until_full(place);
      const auto issue = [&](int step, typename multiply::sum(&sums)[multiply::sums]) {
        pin_registers(sums);
        wgmma_fence();
        multiply::multiply(
            sums, left_operand + static_cast<std::uint64_t>((step / splits) * (block_bytes >> 4)),
            right_operand + ((place.stage * tile_bytes + (step % splits) * 256 * depth) >> 4));
        wgmma_commit();
      };
      if constexpr (multiply::sets == 2) issue(0, d[0]);
      if (threadIdx.x == 0) produce();
      __syncwarp();
#pragma unroll
      for (int step = 0; step < steps; ++step) {
        if constexpr (multiply::sets == 2) {
          if (step + 1 < steps) {
            issue(step + 1, d[(step + 1) & 1]);
            wgmma_wait<1>();
          } else {
            wgmma_wait<0>();
          }
        } else {
          issue(step, d[0]);
          wgmma_wait<0>();
        }
        auto& sums = d[multiply::sets == 2 ? step & 1 : 0];
        pin_registers(sums);
        if (step + 1 == steps && in_group == 0) ring.release(place.stage);
        const bool hit = multiply::any(sums, threshold.limit);
        if (__any_sync(~0U, hit)) {
          collect<multiply>(args, sums, hit, threshold.limit,
                            first_row + static_cast<unsigned>((step / splits) * 64) + warp_row,
                            static_cast<unsigned>(tile * tile_rows + (step % splits) * 256),
                            scratch);
        }
      }
      place.advance();
    }
    at.item += gridDim.x;
  }
#endif
}

}  // namespace gpu::kernels
