#pragma once
// Counts pairs of a sorted, packed set of rows with |rho| at or past a cut, in all and per row, at
// a cut that keeps many of them: every pair is decided, none is looked at alone.
//
// Walk, panel and ring are the screen's (pair_screen.cuh), on exact 8-bit ranks. Rows are ordered
// by square sum, so a 64 x 256 step nearly always has one exact integer threshold T for all its
// pairs: found by the definition of rho itself, and anew only where a square sum changes. Where
// the square sums within a step differ, pairs between the least and the largest threshold of the
// step go to a queue for the exact test; the others are certain.
//
// Epilogue, per sum s: v = (T^2 - 1) - s^2 is negative for a kept pair (one multiply-add, on
// another pipe than what follows), and a funnel shift collects its sign: 1 + 1 instructions, after
// which a thread holds 4 words of 32 decisions. Row counts are their population counts. Column
// counts add the words of 16 rows as bit-sliced numbers: a half adder within the thread and three
// shuffle steps of ripple adders give 5 planes, which 8 lanes spread into bytes. Deeper rows, whose
// s^2 does not fit, use T - 1 - |s|; their multiply takes longer than that.
// Shared memory: ring, panel, and two sets of column counters, flushed a tile late so that one
// block barrier a tile suffices.

#include "correlation/pair_screen.cuh"
#include "stats/statistic.hpp"

namespace gpu::kernels {

struct count_arguments {
  screen_arguments walk;             // candidates: the pairs that need the exact test
  const count_bounds* left_bounds;   // [padded_rows / 64]
  const count_bounds* right_bounds;  // [padded_rows / 256]
  double at_least;                   // the cut on |rho|, in (0, 1]
  unsigned* degree;                  // [rows], of packed rows
  unsigned long long* kept;
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// The smallest positive sum whose rho reaches the cut for these square sums: the division is the
/// one that defines rho, the square root only starts the search.
__device__ __forceinline__ int exact_threshold(int square_sum_x, int square_sum_y, double cut) {
  const double scale = sqrt(static_cast<double>(square_sum_x) * static_cast<double>(square_sum_y));
  int sum = max(1, static_cast<int>(ceil(cut * scale)));
  while (sum > 1 && static_cast<double>(sum - 1) / scale >= cut) --sum;
  while (static_cast<double>(sum) / scale < cut) ++sum;
  return sum;
}

/// The thresholds of one step: below `least` no pair is kept, from `most` on each is.
struct step_thresholds {
  count_bounds left;
  count_bounds right;
  int least;
  int most;
};

/// Decisions of one thread: rows g and g + 8, 64 columns each; the first column is the top bit.
struct decisions {
  unsigned words[2][2];
};

template <int depth>
__device__ __forceinline__ decisions decide(const int (&sums)[128], int threshold) {
  decisions out{};
  const int limit = depth == 32 ? threshold * threshold - 1 : threshold - 1;
#pragma unroll
  for (int i = 0; i < 128; ++i) {
    const int rest = depth == 32 ? limit - sums[i] * sums[i] : limit - abs(sums[i]);
    unsigned& word = out.words[(i >> 1) & 1][i >> 6];
    word = __funnelshift_l(static_cast<unsigned>(rest), word, 1);
  }
  return out;
}

/// Column of bit `bit` of word `word` for the first column of the lane's quad.
__device__ __forceinline__ unsigned decision_column(int word, int bit) {
  const int pushed = 31 - bit;
  return static_cast<unsigned>((word * 16 + pushed / 2) * 8 + pushed % 2);
}

/// Bits of the columns past `row` among those that start at `column`: where a step meets the
/// diagonal, only they are pairs.
__device__ __noinline__ unsigned columns_past(unsigned row, unsigned column, int word) {
  unsigned mask = 0;
  for (int bit = 0; bit < 32; ++bit) {
    mask |= column + decision_column(word, bit) > row ? 1U << bit : 0U;
  }
  return mask;
}

/// Adds a number of `planes` bit-planes from the lane at distance `distance`; one plane more comes
/// out. Each bit position is a column.
template <int planes>
__device__ __forceinline__ void add_from_lane(unsigned (&number)[5], int distance) {
  unsigned carry = 0;
#pragma unroll
  for (int p = 0; p < planes; ++p) {
    const unsigned other = __shfl_xor_sync(~0U, number[p], distance);
    const unsigned mixed = number[p] ^ other;
    const unsigned next = (number[p] & other) | (mixed & carry);
    number[p] = mixed ^ carry;
    carry = next;
  }
  number[planes] = carry;
}

/// Column counts of 16 rows: bytes of the eight columns that this lane stands for, low nibble of
/// its byte first. Lane k takes byte (k / 4) % 4 of word k / 16.
__device__ __forceinline__ void add_column_counts(const decisions& d, unsigned (&bytes)[2]) {
  unsigned mine[5] = {};
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int word = 0; word < 2; ++word) {
    unsigned number[5] = {d.words[0][word] ^ d.words[1][word], d.words[0][word] & d.words[1][word]};
    add_from_lane<2>(number, 4);
    add_from_lane<3>(number, 8);
    add_from_lane<4>(number, 16);
    if (lane / 16 == word) {
#pragma unroll
      for (int p = 0; p < 5; ++p) mine[p] = number[p] >> (lane / 4 % 4 * 8);
    }
  }
#pragma unroll
  for (int p = 0; p < 5; ++p) {
    bytes[0] += (((mine[p] & 15U) * 0x00204081U) & 0x01010101U) << p;
    bytes[1] += (((mine[p] >> 4 & 15U) * 0x00204081U) & 0x01010101U) << p;
  }
}

/// Queues the pairs of a step that only the exact test can decide.
__device__ __noinline__ void queue_uncertain(const screen_arguments& args, unsigned bits, int word,
                                             unsigned row, unsigned column) {
  for (; bits != 0; bits &= bits - 1) {
    const int bit = __ffs(static_cast<int>(bits)) - 1;
    const unsigned right = column + decision_column(word, bit);
    if (right >= args.rows || row >= right) continue;
    const std::uint64_t slot = atomicAdd(reinterpret_cast<unsigned long long*>(args.count), 1ULL);
    if (slot < args.capacity) args.candidates[slot] = {row, right};
  }
}

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

template <int depth>
constexpr std::size_t count_shared_bytes() {
  constexpr screen_policy policy = select_count_policy(depth);
  return static_cast<std::size_t>(policy.stages) * policy.tile_rows * depth +
         static_cast<std::size_t>(panel_rows(policy)) * depth +
         2 * static_cast<std::size_t>(policy.tile_rows) * sizeof(unsigned);
}

template <int depth>
__global__ void __launch_bounds__(select_count_policy(depth).warpgroups * 128, 1)
    pair_count_kernel(const __grid_constant__ count_arguments args) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using multiply = screen_multiply<screen_operand::int8, depth>;
  constexpr screen_policy policy = select_count_policy(depth);
  constexpr int tile_rows = policy.tile_rows;
  constexpr int stages = policy.stages;
  constexpr int row_blocks = policy.row_blocks;
  constexpr int tile_bytes = tile_rows * depth;
  constexpr int block_bytes = screen_block_rows * depth;
  constexpr int splits = tile_rows / 256;
  constexpr int panel = panel_rows(policy);
  constexpr index_t panels = index_t{policy.chunk_tiles} * tile_rows / panel;

  extern __shared__ __align__(1024) std::uint8_t shared[];
  __shared__ __align__(8) std::uint64_t barriers[2 * stages];  // full, then empty
  __shared__ screen_cursor producer_at;                        // of thread 0 alone, as are
  __shared__ unsigned producer_stage, producer_parity;
  __shared__ volatile unsigned producer_more;  // volatile: no other thread may read it ahead

  const int warpgroup = __shfl_sync(~0U, static_cast<int>(threadIdx.x >> 7), 0);
  const unsigned in_group = threadIdx.x & 127U;
  const unsigned lane = threadIdx.x & 31U;
  const unsigned full = shared_address(&barriers[0]);
  const unsigned empty = shared_address(&barriers[stages]);
  const unsigned ring = shared_address(shared);
  std::uint8_t* left_rows = shared + stages * tile_bytes + warpgroup * row_blocks * block_bytes;
  auto* columns = reinterpret_cast<unsigned*>(shared + stages * tile_bytes + panel * depth);

  const auto produce = [&] {
    if (producer_more == 0) return;
    screen_cursor at = producer_at;
    const unsigned stage = producer_stage;
    barrier_wait(empty + stage * 8, producer_parity ^ 1U);
    barrier_expect(full + stage * 8, tile_bytes);
    bulk_copy(ring + stage * tile_bytes,
              args.walk.tiles + static_cast<std::size_t>(at.tile) * tile_bytes, tile_bytes,
              full + stage * 8);
    producer_stage = stage + 1 == stages ? 0 : stage + 1;
    if (stage + 1 == stages) producer_parity ^= 1U;
    if (++at.tile == at.last_tile) {
      at.item += gridDim.x;
      producer_more = settle<panel, tile_rows, policy.chunk_tiles>(args.walk, at) ? 1 : 0;
    }
    producer_at = at;
  };
  for (unsigned i = threadIdx.x; i < 2 * tile_rows; i += blockDim.x) columns[i] = 0;
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < stages; ++stage) {
      barrier_init(full + static_cast<unsigned>(stage) * 8, 1);
      barrier_init(empty + static_cast<unsigned>(stage) * 8, policy.warpgroups);
    }
    barrier_init_fence();
    screen_cursor at{args.walk.first_item + blockIdx.x, 0, 0, 0};
    producer_more = settle<panel, tile_rows, policy.chunk_tiles>(args.walk, at) ? 1 : 0;
    producer_at = at;
    producer_stage = 0;
    producer_parity = 0;
    for (int stage = 0; stage < stages - 2; ++stage) produce();
  }
  __syncthreads();

  const std::uint64_t left_operand = operand_descriptor(shared_address(left_rows), depth);
  const std::uint64_t right_operand = operand_descriptor(ring, depth);
  const unsigned warp_row = (in_group >> 5) * 16;
  int sums[128];
  unsigned stage = 0;
  unsigned parity = 0;
  unsigned long long kept = 0;
  unsigned flush_set = 0;

  // Columns of the tile before, once every warp has added to them.
  const auto flush = [&](unsigned set, int tile) {
    for (unsigned i = threadIdx.x; i < tile_rows; i += blockDim.x) {
      const unsigned count = columns[set * tile_rows + i];
      columns[set * tile_rows + i] = 0;
      if (count != 0)
        atomicAdd(args.degree + static_cast<std::size_t>(tile) * tile_rows + i, count);
    }
  };

  screen_cursor at{args.walk.first_item + blockIdx.x, 0, 0, 0};
  while (settle<panel, tile_rows, policy.chunk_tiles>(args.walk, at)) {
    const unsigned first_row =
        static_cast<unsigned>((at.item - items_before(at.chunk, panels)) * panel) +
        static_cast<unsigned>(warpgroup * row_blocks * screen_block_rows);
    warpgroup_sync(warpgroup + 1);
    const auto* source = reinterpret_cast<const int4*>(args.walk.tiles +
                                                       static_cast<std::size_t>(first_row) * depth);
    for (unsigned i = in_group; i < row_blocks * block_bytes / 16; i += 128) {
      int4 piece = source[i];
      // The bias columns of the left rows stay 0: sums are the products of ranks alone.
      if (multiply::biased && (i / 8) % 2 == 1) piece.w &= 0xffff;
      reinterpret_cast<int4*>(left_rows)[i] = piece;
    }
    async_proxy_fence();
    warpgroup_sync(warpgroup + 1);

    unsigned row_counts[row_blocks][2] = {};
    step_thresholds thresholds[row_blocks] = {};
    for (int tile = at.tile; tile < at.last_tile; ++tile) {
      barrier_wait(full + stage * 8, parity);
      if (threadIdx.x == 0) produce();
      __syncwarp();
#pragma unroll 1
      for (int split = 0; split < splits; ++split) {
        unsigned bytes[2] = {};
        const unsigned first_column = static_cast<unsigned>(tile * tile_rows + split * 256);
        const count_bounds right = args.right_bounds[first_column / 256];
#pragma unroll
        for (int x = 0; x < row_blocks; ++x) {
          pin_registers(sums);
          wgmma_fence();
          multiply::multiply(sums,
                             left_operand + static_cast<std::uint64_t>(x * (block_bytes >> 4)),
                             right_operand + ((stage * tile_bytes + split * 256 * depth) >> 4));
          wgmma_commit();
          const unsigned row =
              first_row + static_cast<unsigned>(x * screen_block_rows) + warp_row + (lane >> 2);
          const count_bounds left =
              args.left_bounds[(first_row + static_cast<unsigned>(x * screen_block_rows)) / 64];
          step_thresholds& step = thresholds[x];
          if (step.most == 0 || left.least != step.left.least || left.most != step.left.most ||
              right.least != step.right.least || right.most != step.right.most) {
            step = {left, right, exact_threshold(left.least, right.least, args.at_least),
                    exact_threshold(left.most, right.most, args.at_least)};
          }
          wgmma_wait<0>();
          pin_registers(sums);
          if (split + 1 == splits && x + 1 == row_blocks && in_group == 0) {
            barrier_arrive(empty + stage * 8);
          }
          decisions certain = decide<depth>(sums, step.most);
          const unsigned column = first_column + (lane & 3U) * 2;
          const bool diagonal = first_column < first_row + row_blocks * screen_block_rows;
          if (step.least < step.most) {
            const decisions possible = decide<depth>(sums, step.least);
#pragma unroll
            for (int half = 0; half < 2; ++half) {
#pragma unroll
              for (int word = 0; word < 2; ++word) {
                const unsigned open = possible.words[half][word] & ~certain.words[half][word];
                if (open != 0) {
                  queue_uncertain(args.walk, open, word, row + static_cast<unsigned>(half) * 8,
                                  column);
                }
              }
            }
          }
          if (diagonal) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
#pragma unroll
              for (int word = 0; word < 2; ++word) {
                certain.words[half][word] &=
                    columns_past(row + static_cast<unsigned>(half) * 8, column, word);
              }
            }
          }
#pragma unroll
          for (int half = 0; half < 2; ++half) {
            row_counts[x][half] += static_cast<unsigned>(__popc(certain.words[half][0]) +
                                                         __popc(certain.words[half][1]));
          }
          add_column_counts(certain, bytes);
        }
        // Byte b of bytes[n]: bit 8 * (lane / 4 % 4) + 4 * n + b of word lane / 16.
#pragma unroll
        for (int n = 0; n < 2; ++n) {
#pragma unroll
          for (int b = 0; b < 4; ++b) {
            const unsigned count = bytes[n] >> (8 * b) & 255U;
            const int bit = static_cast<int>(lane / 4 % 4 * 8) + 4 * n + b;
            const unsigned at_column =
                decision_column(static_cast<int>(lane / 16), bit) + (lane & 3U) * 2;
            if (count != 0) {
              atomicAdd(columns + flush_set * tile_rows + split * 256 + at_column, count);
            }
          }
        }
      }
      __syncthreads();
      flush(flush_set, tile);
      flush_set ^= 1U;
      if (++stage == stages) {
        stage = 0;
        parity ^= 1U;
      }
    }
#pragma unroll
    for (int x = 0; x < row_blocks; ++x) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        unsigned count = row_counts[x][half];
        count += __shfl_xor_sync(~0U, count, 1);
        count += __shfl_xor_sync(~0U, count, 2);
        const unsigned row = first_row + static_cast<unsigned>(x * screen_block_rows) + warp_row +
                             (lane >> 2) + static_cast<unsigned>(half) * 8;
        if ((lane & 3U) == 0 && count != 0) {
          atomicAdd(args.degree + row, count);
          kept += count;
        }
      }
    }
    at.item += gridDim.x;
  }
  for (int step = 16; step > 0; step /= 2) kept += __shfl_xor_sync(~0U, kept, step);
  if (lane == 0 && kept != 0) atomicAdd(args.kept, kept);
#endif
}

}  // namespace gpu::kernels
