#pragma once
// Counts pairs of ranked rows at a cut that keeps many of them, per row and per bin of the
// statistic: every pair is decided, exactly, by its integer sum.
//
// Layout. Rows stand class by class (count_kernels.hpp): all pairs of two 256-row blocks share one
// exact integer threshold on |S|, or, for cuts that are not symmetric, one window of dropped sums,
// found by the definition of rho itself. No pair needs a second look.
//
// A block holds up to 3 x 256 right rows of one class in shared memory, one block a warpgroup, and
// streams a chunk of the left rows past them, 256 a stage (128 with bins). A step multiplies 64
// left rows by 256 right rows (wgmma); a thread then holds sums of 2 rows x 64 columns.
//
// Epilogue, per sum: s^2 - T^2 (one multiply-add), whose sign a funnel shift collects into words of
// 32 decisions, on two different pipes. Sums whose square does not fit are compared with the window
// instead: subtract, compare, add a bit. Rows are counted by population counts, two shuffles and
// one addition to global memory a step. Columns stay, so their counts stay in registers as
// bit-planes, to which a step adds with a ripple carry, and leave once in 60 steps.
//
// Bins. The sums of a step go to the warp's scratch as 16-bit numbers, two a store; each lane then
// walks through its kept bits, reads the sum and counts it in a histogram of sums in shared memory.
// Only where the classes change is that converted to bins, by the definition of rho: the number of
// bins costs nothing. A lane without bits counts a sum of its own that nobody reads.
//
// Order of work: items walk chunk by chunk, so that the blocks on the device share one chunk of
// left rows in L2 while their right rows differ.
//
// A step takes 558 clocks without bins at 1,000,000 rows and 524 at 5,000,000: about what the
// multiply (128) and the epilogue's instructions on the integer pipe (173, two clocks each) come to
// one after the other. It took 687 at 1,000,000 with tiles of 128 rows, whose thresholds were read
// and found on the way: probably because the first warpgroup sends for the tiles and the others
// wait for it.
// Tried without gain: items that begin at different tiles of their chunk, rows counted without
// atomics (both 1 % or less); counting columns by adding up bit-sliced words over lanes every step
// (more instructions than the decisions); atomics on the histogram behind a predicate for every sum
// (the compiler makes branches of them, 6 instructions a sum); converting the histogram to bins
// with fewer divisions (the same time).

#include <cstdint>

#include "common/bulk_copy.cuh"
#include "common/wgmma.cuh"
#include "correlation/count_kernels.hpp"
#include "correlation/sink_bins.cuh"
#include "stats/statistic.hpp"

namespace gpu::kernels {

struct count_arguments {
  const std::uint8_t* tiles;
  const int* square_sums;
  const count_panel* panels;
  const index_t* items_before;
  const std::uint32_t* first_panel;
  index_t first_item;
  index_t last_item;
  double at_least;
  double at_most;
  unsigned* degree;
  bin_sink_args bins;
  int largest_sum;  // of |S| over all rows: half the histogram
  unsigned one;     // 1, unknown to the compiler: multiplying by it adds on the multiplier's pipe
};

inline constexpr int count_threads = count_panel_blocks * 128;
/// The ring of left rows. Each tile costs the first warpgroup, which sends for the next ones, some
/// hundred clocks, so that tiles are as large as shared memory allows.
template <int depth, bool binned>
struct count_ring {
  static constexpr int tile_rows = binned ? 128 : 256;
  static constexpr int stages = depth > 64 ? 3 : 4;
  static constexpr int bytes = stages * tile_rows * depth;
};
/// Bytes of a warp's scratch: what a lane without bits reads, then 64 x 2 sums a lane.
inline constexpr int count_scratch = 256 + 8192;

__host__ __device__ constexpr std::size_t count_histogram_bytes(int largest_sum) {
  return (2 * static_cast<std::size_t>(largest_sum) + 1 + 32) * sizeof(unsigned);
}
/// What a chunk of left rows is to a panel: square sums where pairs are binned, else cuts.
__host__ __device__ constexpr std::size_t count_table_bytes(bool binned) {
  return count_chunk_blocks * (binned ? 1 : 2) * sizeof(int);
}
template <int depth, bool binned>
__host__ __device__ constexpr std::size_t count_shared_bytes(int largest_sum) {
  const std::size_t rows =
      count_ring<depth, binned>::bytes + count_panel_blocks * count_block_rows * depth;
  const std::size_t bins =
      binned ? count_histogram_bytes(largest_sum) + count_threads / 32 * count_scratch : 0;
  return rows + count_table_bytes(binned) + (bins + 15) / 16 * 16;
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// The least sum in [-bound, bound] whose rho is at least `cut`, or bound + 1. The division is the
/// one that defines rho; the product only starts the search.
__device__ __forceinline__ int least_sum_at(double cut, double scale, int bound) {
  const auto reaches = [&](int sum) {
    return fmax(-1.0, fmin(static_cast<double>(sum) / scale, 1.0)) >= cut;
  };
  const double guess = ceil(fmax(-1.0, fmin(cut, 1.0)) * scale);
  int sum = max(-bound, min(static_cast<int>(guess), bound + 1));
  while (sum > -bound && reaches(sum - 1)) --sum;
  while (sum <= bound && !reaches(sum)) ++sum;
  return sum;
}

/// What two classes make of the cut: sums from `first` on, `length` of them, are dropped.
struct dropped_sums {
  int first;
  int length;
};
__device__ __noinline__ dropped_sums find_dropped(int square_sum_x, int square_sum_y,
                                                  double at_least, double at_most) {
  const double scale = sqrt(static_cast<double>(square_sum_x) * static_cast<double>(square_sum_y));
  const int bound = static_cast<int>(scale) + 1;
  const int least = least_sum_at(at_least, scale, bound);
  const int most = -least_sum_at(-at_most, scale, bound);
  return {most + 1, least - most - 1};
}

/// Decisions of one thread: words[half][parity] has rows g + 8 half and columns 2 t + parity + 8 q
/// of the step, q = 0 at the top bit; g and t are the lane's place among its quads and in its quad.
struct decisions {
  unsigned words[2][2];
};

template <bool square>
__device__ __forceinline__ decisions decide(const int (&sums)[128], dropped_sums dropped,
                                            unsigned one) {
  decisions out{};
  if constexpr (square) {
    const int least = dropped.first + dropped.length;
    const int limit = -least * least;
#pragma unroll
    for (int i = 0; i < 128; ++i) {
      unsigned& word = out.words[(i >> 1) & 1][i & 1];
      word = __funnelshift_l(static_cast<unsigned>(sums[i] * sums[i] + limit), word, 1);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) out.words[i >> 1][i & 1] = ~out.words[i >> 1][i & 1];
  } else {
#pragma unroll
    for (int i = 0; i < 128; ++i) {
      asm("{\n.reg .pred kept;\n.reg .u32 past;\n"
          "mad.lo.u32 past, %1, %4, %2;\n"
          "setp.ge.u32 kept, past, %3;\n"
          "@kept mad.lo.u32 %0, %4, %5, %0;\n}"
          : "+r"(out.words[(i >> 1) & 1][i & 1])
          : "r"(sums[i]), "r"(-dropped.first), "r"(dropped.length), "r"(one),
            "r"(0x80000000U >> (i >> 2)));
    }
  }
  return out;
}

/// Drops the decisions of columns that are not past their row; `row` and `column` are those of the
/// lane's first sum.
__device__ __forceinline__ void keep_upper(decisions& d, int row, int column) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
#pragma unroll
    for (int parity = 0; parity < 2; ++parity) {
      const int behind = row + 8 * half - column - parity;  // column + 8 q > row from here on
      const int dropped = behind < 0 ? 0 : behind / 8 + 1;
      d.words[half][parity] &= dropped >= 32 ? 0U : ~0U >> dropped;
    }
  }
}

/// Adds a number of `planes` bit-planes from the lane at distance `distance`; one plane more comes
/// out. Each bit position is a column.
template <int planes, int size>
__device__ __forceinline__ void add_from_lane(unsigned (&number)[size], int distance) {
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

/// Counts of the 64 columns of a thread, bit-sliced; room for 63 steps of two rows.
struct column_counts {
  static constexpr int planes = 7;
  static constexpr int most_steps = 63;
  unsigned plane[2][planes];

  __device__ __forceinline__ void add(const decisions& d) {
#pragma unroll
    for (int x = 0; x < 2; ++x) {
      const unsigned a = d.words[0][x];
      const unsigned b = d.words[1][x];
      unsigned carry = (a & b) | (plane[x][0] & (a | b));
      plane[x][0] ^= a ^ b;
#pragma unroll
      for (int p = 1; p < planes; ++p) {
        const unsigned next = plane[x][p] & carry;
        plane[x][p] ^= carry;
        carry = next;
      }
    }
  }

  /// Adds the counts of the warp's rows to degree, that of the step's first column, and clears
  /// them.
  __device__ __forceinline__ void leave(unsigned* degree) {
    const unsigned lane = threadIdx.x & 31U;
#pragma unroll
    for (int x = 0; x < 2; ++x) {
      unsigned number[planes + 3] = {};
#pragma unroll
      for (int p = 0; p < planes; ++p) {
        number[p] = plane[x][p];
        plane[x][p] = 0;
      }
      add_from_lane<planes>(number, 4);
      add_from_lane<planes + 1>(number, 8);
      add_from_lane<planes + 2>(number, 16);
      // All eight lanes of a column have its count: each adds four of the columns.
#pragma unroll
      for (unsigned j = 0; j < 4; ++j) {
        const unsigned q = (lane >> 2) * 4 + j;
        unsigned count = 0;
#pragma unroll
        for (int p = 0; p < planes + 3; ++p) count |= (number[p] >> (31 - q) & 1U) << p;
        if (count != 0) atomicAdd(degree + q * 8 + (lane & 3U) * 2 + x, count);
      }
    }
  }
};

/// Puts the sums of a thread into its scratch, 256 bytes from one q to the one before it.
__device__ __forceinline__ void write_sums(const int (&sums)[128], unsigned scratch) {
#pragma unroll
  for (int q = 0; q < 32; ++q) {
    const unsigned even = __byte_perm(sums[4 * q], sums[4 * q + 2], 0x5410);
    const unsigned odd = __byte_perm(sums[4 * q + 1], sums[4 * q + 3], 0x5410);
    asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(scratch + (31 - q) * 256), "r"(even),
                 "r"(odd)
                 : "memory");
  }
}

/// Where a sum is counted: bytes of histogram a sum, and the address of the sum 0. Ranks without
/// ties give sums that are equal modulo 4: four times as far apart, they would share few banks.
struct histogram_place {
  int step;
  unsigned zero;
};
__device__ __forceinline__ histogram_place place_sums(bool without_ties, unsigned middle,
                                                      int largest_sum) {
  if (without_ties) return {1, middle - static_cast<unsigned>(largest_sum % 4)};
  return {4, middle};
}

/// Counts the sum of the top bit of `word`; without one, that of the slot before the scratch.
__device__ __forceinline__ void count_top_sum(unsigned& word, unsigned sums,
                                              histogram_place place) {
  int bit = 0;
  short sum = 0;
  asm("bfind.u32 %0, %1;" : "=r"(bit) : "r"(word));
  asm volatile("ld.shared.s16 %0, [%1];" : "=h"(sum) : "r"(sums + bit * 256) : "memory");
  unsigned top = 0;  // the instruction, unlike <<, gives 0 for 0xffffffff
  asm("shl.b32 %0, 1, %1;" : "=r"(top) : "r"(bit));
  word &= ~top;
  asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(place.zero + sum * place.step) : "memory");
}

/// Counts the sums of a thread's kept pairs. Half of the lanes begin with the odd columns: so no
/// two lanes read from one bank.
__device__ __forceinline__ void count_sums(const decisions& d, unsigned scratch,
                                           histogram_place place) {
  constexpr int unasked_turns = 3;  // few warps are done after fewer
  const bool swapped = (threadIdx.x & 16U) != 0;
#pragma unroll
  for (int x = 0; x < 2; ++x) {
    unsigned low = swapped ? d.words[0][1 - x] : d.words[0][x];
    unsigned high = swapped ? d.words[1][1 - x] : d.words[1][x];
    const unsigned sums = scratch + (swapped ? (1 - x) * 4 : x * 4);
#pragma unroll
    for (int turn = 0; turn < unasked_turns; ++turn) {
      count_top_sum(low, sums, place);
      count_top_sum(high, sums + 2, place);
    }
    while (__any_sync(~0U, (low | high) != 0)) {
      count_top_sum(low, sums, place);
      count_top_sum(high, sums + 2, place);
    }
  }
}

/// Place of a sum in args.bins: by its rho, which is divided out only near the edge of a bin.
__device__ __forceinline__ index_t place_of(const bin_sink_args& args, int sum, double scale,
                                            double inverse) {
  const double near = static_cast<double>(sum) * inverse;
  const double key = args.key == detail::bin_key::value
                         ? near
                         : (args.key == detail::bin_key::magnitude ? fabs(near) : -near);
  const double position = (key - args.low) * args.scale;
  const double whole = floor(position);
  const double past = position - whole;
  constexpr double margin = 1e-4;  // of a bin: there are fewer than 1e9 of them
  if (past > margin && past < 1 - margin && whole >= 0 &&
      whole < static_cast<double>(args.count - 1) && fabs(near) < 1 - margin &&
      key < args.high - margin) {
    return 1 + static_cast<index_t>(whole);
  }
  const double rho = static_cast<double>(sum) / scale;  // as detail::rho_of
  return bin_of(args, rho > 1.0 ? 1.0 : (rho < -1.0 ? -1.0 : rho));
}

/// Converts the histogram of sums of two classes to bins, and clears it. All threads call.
__device__ __noinline__ void leave_histogram(const count_arguments& args, unsigned* histogram,
                                             int step, int square_sum_x, int square_sum_y) {
  __syncthreads();
  const int entries = 2 * args.largest_sum + 1;
  // An odd number of entries a thread: no two threads of a warp meet in a bank.
  const int share = (entries + count_threads - 1) / count_threads | 1;
  const int begin = static_cast<int>(threadIdx.x) * share;
  const int end = min(begin + share, entries);
  const double scale = sqrt(static_cast<double>(square_sum_x) * static_cast<double>(square_sum_y));
  const double inverse = 1 / scale;
  unsigned long long count = 0;
  index_t place = 0;
  for (int i = begin; i < end; ++i) {
    const unsigned found = histogram[i];
    if (found == 0) continue;
    histogram[i] = 0;
    int sum = i - args.largest_sum;
    if (step == 1) sum = sum * 4 + args.largest_sum % 4;
    if (sum > args.largest_sum) continue;  // what lanes without bits counted
    const index_t here = place_of(args.bins, sum, scale, inverse);
    if (here != place && count != 0) {
      atomicAdd(args.bins.bins + place, count);
      count = 0;
    }
    place = here;
    count += found;
  }
  if (count != 0) atomicAdd(args.bins.bins + place, count);
  __syncthreads();
}

/// A position in the walk over items.
struct count_cursor {
  index_t item;
  int chunk;
  int first_block;  // of left rows, and how many
  int blocks;
  count_panel panel;
};

/// Finds the place of at.item; false at the end of the work.
__device__ __forceinline__ bool settle(const count_arguments& args, count_cursor& at) {
  if (at.item >= args.last_item) return false;
  while (at.item >= args.items_before[at.chunk + 1]) ++at.chunk;
  at.panel = args.panels[args.first_panel[at.chunk] + (at.item - args.items_before[at.chunk])];
  const int past = static_cast<int>(at.panel.first_block + at.panel.blocks);
  at.first_block = at.chunk * count_chunk_blocks;
  at.blocks = min(count_chunk_blocks, past - at.first_block);
  return true;
}

template <int depth>
__device__ __forceinline__ void multiply(int (&sums)[128], std::uint64_t left,
                                         std::uint64_t right) {
  pin_registers(sums);
  wgmma_fence();
#pragma unroll
  for (int k = 0; k < depth / 32; ++k) {
    wgmma_s8(sums, left + static_cast<std::uint64_t>(k * (256 >> 4)),
             right + static_cast<std::uint64_t>(k * (256 >> 4)), k);
  }
  wgmma_commit();
  wgmma_wait<0>();
  pin_registers(sums);
}

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

template <int depth, bool square, bool binned>
__global__ void __launch_bounds__(count_threads, 1)
    pair_count_kernel(const __grid_constant__ count_arguments args) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using ring_shape = count_ring<depth, binned>;
  constexpr int stages = ring_shape::stages;
  constexpr int tile_rows = ring_shape::tile_rows;
  constexpr int tile_bytes = tile_rows * depth;
  constexpr int block_bytes = count_block_rows * depth;
  constexpr int tile_steps = tile_rows / 64;
  constexpr int block_tiles = count_block_rows / tile_rows;

  extern __shared__ __align__(1024) std::uint8_t shared[];
  __shared__ __align__(8) std::uint64_t barriers[2 * stages];  // full, then empty
  __shared__ count_cursor producer_at;                         // of thread 0 alone, as are
  // the next tile, how many of the item are left, and where it goes; volatile: no other thread may
  // read them ahead.
  __shared__ volatile int producer_tile, producer_left;
  __shared__ volatile unsigned producer_stage, producer_parity;

  const int warpgroup = __shfl_sync(~0U, static_cast<int>(threadIdx.x >> 7), 0);
  const unsigned in_group = threadIdx.x & 127U;
  const unsigned lane = threadIdx.x & 31U;
  const unsigned full = shared_address(&barriers[0]);
  const unsigned empty = shared_address(&barriers[stages]);
  const unsigned ring = shared_address(shared);
  std::uint8_t* right_rows = shared + stages * tile_bytes + warpgroup * block_bytes;
  std::uint8_t* table = shared + stages * tile_bytes + count_panel_blocks * block_bytes;
  auto* classes = reinterpret_cast<int*>(table);        // of the chunk's blocks, or
  auto* cuts = reinterpret_cast<dropped_sums*>(table);  // what they make of the cut
  auto* histogram = reinterpret_cast<unsigned*>(table + count_table_bytes(binned));
  std::uint8_t* warp_scratch = reinterpret_cast<std::uint8_t*>(histogram) +
                               (count_histogram_bytes(args.largest_sum) + 15) / 16 * 16 +
                               (threadIdx.x >> 5) * count_scratch;

  // Thread 0 streams the tiles ahead of the consumers; its position stays in shared memory to
  // leave the registers to the sums.
  const auto aim = [&](const count_cursor& at) {
    producer_tile = at.first_block * block_tiles;
    producer_left = at.blocks * block_tiles;
  };
  const auto produce = [&] {
    const int left = producer_left;
    if (left == 0) return;
    const unsigned stage = producer_stage;
    const unsigned parity = producer_parity;
    const int tile = producer_tile;
    barrier_wait(empty + stage * 8, parity ^ 1U);
    barrier_expect(full + stage * 8, tile_bytes);
    bulk_copy(ring + stage * tile_bytes, args.tiles + static_cast<std::size_t>(tile) * tile_bytes,
              tile_bytes, full + stage * 8);
    producer_stage = stage + 1 == stages ? 0 : stage + 1;
    producer_parity = stage + 1 == stages ? parity ^ 1U : parity;
    producer_tile = tile + 1;
    producer_left = left - 1;
    if (left == 1) {
      count_cursor at = producer_at;
      at.item += gridDim.x;
      if (settle(args, at)) aim(at);
      producer_at = at;
    }
  };
  if constexpr (binned) {
    for (unsigned i = threadIdx.x; i < 2U * args.largest_sum + 1; i += count_threads) {
      histogram[i] = 0;
    }
  }
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < stages; ++stage) {
      barrier_init(full + static_cast<unsigned>(stage) * 8, 1);
      barrier_init(empty + static_cast<unsigned>(stage) * 8, count_panel_blocks);
    }
    barrier_init_fence();
    count_cursor at{.item = args.first_item + blockIdx.x};
    producer_left = 0;
    if (settle(args, at)) aim(at);
    producer_at = at;
    producer_stage = 0;
    producer_parity = 0;
    for (int stage = 0; stage < stages - 2; ++stage) produce();
  }
  __syncthreads();

  const std::uint64_t left_operand = operand_descriptor(ring, depth);
  const std::uint64_t right_operand = operand_descriptor(shared_address(right_rows), depth);
  const unsigned scratch = shared_address(warp_scratch) + 256 + lane * 8;
  histogram_place place{};
  // Row and column of the thread's first sum in a step; lane t of a quad counts row g + 8 t.
  const int warp_row = static_cast<int>((in_group >> 5) * 16);
  const int count_row = warp_row + static_cast<int>((lane >> 2) + (lane & 1U) * 8);
  int sums[128];
  column_counts columns{};
  unsigned stage = 0;
  unsigned parity = 0;
  int left_class = 0;
  int right_class = 0;
  dropped_sums dropped{};

  count_cursor at{.item = args.first_item + blockIdx.x};
  while (settle(args, at)) {
    const int my_block = static_cast<int>(at.panel.first_block) + warpgroup;
    const bool active = warpgroup < static_cast<int>(at.panel.blocks);
    const int panel_class = args.square_sums[at.panel.first_block];
    if (active) {
      warpgroup_sync(warpgroup + 1);
      const auto* source = reinterpret_cast<const int4*>(
          args.tiles + static_cast<std::size_t>(my_block) * block_bytes);
      for (unsigned i = in_group; i < block_bytes / 16; i += 128) {
        reinterpret_cast<int4*>(right_rows)[i] = source[i];
      }
      async_proxy_fence();
      warpgroup_sync(warpgroup + 1);
    }
    __syncthreads();  // the last item's table has been read
    for (int block = static_cast<int>(threadIdx.x); block < at.blocks; block += count_threads) {
      const int left = args.square_sums[at.first_block + block];
      if constexpr (binned) {
        classes[block] = left;
      } else {
        cuts[block] = find_dropped(left, panel_class, args.at_least, args.at_most);
      }
    }
    __syncthreads();
    unsigned* my_degree = args.degree + static_cast<std::size_t>(my_block) * count_block_rows;
    int column_steps = 0;
#pragma unroll 1
    for (int at_tile = 0; at_tile < at.blocks * block_tiles; ++at_tile) {
      const int tile = at.first_block * block_tiles + at_tile;
      if constexpr (binned) {
        const int tile_class = classes[at_tile / block_tiles];
        if (tile_class != left_class || panel_class != right_class) {
          leave_histogram(args, histogram, place.step, left_class, right_class);
          left_class = tile_class;
          right_class = panel_class;
          dropped = find_dropped(left_class, right_class, args.at_least, args.at_most);
          place = place_sums(left_class == args.largest_sum && right_class == args.largest_sum,
                             shared_address(histogram + args.largest_sum), args.largest_sum);
          // What a lane without bits counts: an entry of its own behind those of any sum.
          const unsigned idle = args.largest_sum + (lane + 1) * (4 / place.step);
          reinterpret_cast<uint2*>(warp_scratch)[lane] =
              make_uint2(idle * 0x10001U, idle * 0x10001U);
          __syncwarp();
        }
      } else {
        dropped = cuts[at_tile / block_tiles];
      }
      barrier_wait(full + stage * 8, parity);
      if (threadIdx.x == 0) produce();
      __syncwarp();
      const int ahead = my_block - tile / block_tiles;  // 0: on the diagonal
      if (active && ahead >= 0) {
#pragma unroll 1
        for (int step = 0; step < tile_steps; ++step) {
          multiply<depth>(sums, left_operand + ((stage * tile_bytes + step * 64 * depth) >> 4),
                          right_operand);
          if (step + 1 == tile_steps && in_group == 0) barrier_arrive(empty + stage * 8);
          decisions kept = decide<square>(sums, dropped, args.one);
          if (ahead == 0) {
            keep_upper(kept,
                       (tile % block_tiles * tile_steps + step) * 64 + warp_row +
                           static_cast<int>(lane >> 2),
                       static_cast<int>(lane & 3U) * 2);
          }
          if constexpr (binned) {
            write_sums(sums, scratch);
            __syncwarp();
            count_sums(kept, scratch, place);
            __syncwarp();
          }
          unsigned rows = 0;
#pragma unroll
          for (int x = 0; x < 2; ++x) {
            rows +=
                static_cast<unsigned>(__popc(kept.words[0][x]) + (__popc(kept.words[1][x]) << 16));
          }
          columns.add(kept);
          rows += __shfl_xor_sync(~0U, rows, 1);
          rows += __shfl_xor_sync(~0U, rows, 2);
          if ((lane & 3U) < 2) {
            atomicAdd(
                args.degree + static_cast<std::size_t>(tile) * tile_rows + step * 64 + count_row,
                (lane & 1U) != 0 ? rows >> 16 : rows & 0xffffU);
          }
        }
        column_steps += tile_steps;
        if (column_steps > column_counts::most_steps - tile_steps) {
          columns.leave(my_degree);
          column_steps = 0;
        }
      } else if (in_group == 0) {
        barrier_arrive(empty + stage * 8);
      }
      if (++stage == stages) {
        stage = 0;
        parity ^= 1U;
      }
    }
    if (column_steps != 0) columns.leave(my_degree);
    at.item += gridDim.x;
  }
  if constexpr (binned) leave_histogram(args, histogram, place.step, left_class, right_class);
#endif
}

}  // namespace gpu::kernels
