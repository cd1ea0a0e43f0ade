// 1-bit warpgroup tensor cores (wgmma, compute capability 9.0).
//
// A block of 3 warpgroups computes 192 x 256 results at a time, a warpgroup 64 x 256 in 128 sums a
// thread. Operands come prepared as tiles, so that a stage of 64 bytes of depth is two contiguous
// bulk copies; thread 0 fills a ring of 4 stages. A warpgroup that has finished a tile leaves its
// counts in shared memory as 16-bit numbers. While the tensor cores work on the next tile, its
// warps turn them into results and store whole rows of 1 KiB: at a depth of 8192 bits, storing the
// result takes nearly as long as multiplying.
//
// The grid is persistent. Row tiles are walked in groups, so that the blocks at work share both
// operands in L2. Where there are too few tiles, or a count could pass 16 bits, the depth is cut
// into passes that add to the result.
// Shared memory (kernels/common/warpgroup_stream.cuh has the picture): 4 * (192 + 256) * 64 +
// 192 * 528 bytes, and the offsets: 224 KiB; 1 block a multiprocessor. 167 registers, no spills.

#include <algorithm>

#include "kernels/binary_matmul/hopper_products.cuh"
#include "kernels/binary_matmul/kernels.hpp"
#include "kernels/common/launch.cuh"
#include "kernels/common/warpgroup_stream.cuh"

namespace gpu::kernels {
namespace {

using namespace bit_hopper;

// Of one warp: counts of 16 rows, offsets of 256 columns and of the rows.
constexpr int warp_bytes = 16 * count_pitch + (policy::tile_cols + 16) * 4;
constexpr std::size_t shared_bytes = ring_bytes + policy::warpgroups * 4 * warp_bytes;
constexpr int threads = policy::warpgroups * 128;

struct hopper_arguments {
  prepared_bits a;
  prepared_bits b;
  int scale;
  device_matrix_view<std::int32_t> out;
  int row_tiles;
  int col_tiles;
  int passes;
  int items;  // tiles times passes
  index_t pass_stages;
  index_t stages;      // of the whole depth
  bool vector_stores;  // rows of the result start at 16-byte boundaries
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

// One block's share of work: a tile of the result and a part of the depth.
struct work_item {
  int item;
  int row;
  int col;
  index_t first_stage;  // of the depth
  int stages;
};

// The stages of both operands, item by item. Items walk groups of row tiles, within a group column
// by column.
struct bit_walk {
  static constexpr int stages = policy::stages;
  static constexpr unsigned stage_bytes = bit_hopper::stage_bytes;
  static constexpr int consumers = policy::warpgroups;
  static constexpr int loads_ahead = stages - 1;
  static constexpr int cluster = 1;

  using cursor = work_item;
  struct load {
    const std::uint8_t* a;
    const std::uint8_t* b;
    int left;  // stages of the item, with this one
  };

  const hopper_arguments& args;

  __device__ __forceinline__ int first_item() const { return 0; }
  __device__ __forceinline__ bool locate(cursor& at) const {
    if (at.item >= args.items) return false;
    const int tiles = args.row_tiles * args.col_tiles;
    const int pass = at.item / tiles;
    const int tile = at.item % tiles;
    const int per_group = policy::row_group * args.col_tiles;
    const int first = tile / per_group * policy::row_group;
    const int rows = min(policy::row_group, args.row_tiles - first);
    const int within = tile % per_group;
    at.row = first + within % rows;
    at.col = within / rows;
    at.first_stage = pass * args.pass_stages;
    at.stages = static_cast<int>(min(args.pass_stages, args.stages - at.first_stage));
    return true;
  }
  __device__ __forceinline__ load first_load(const cursor& at) const {
    return {reinterpret_cast<const std::uint8_t*>(args.a.words) +
                (at.first_stage * args.a.padded_rows + at.row * policy::tile_rows) *
                    policy::depth_bytes,
            reinterpret_cast<const std::uint8_t*>(args.b.words) +
                (at.first_stage * args.b.padded_rows + at.col * policy::tile_cols) *
                    policy::depth_bytes,
            at.stages};
  }
  __device__ __forceinline__ bool next(load& here) const {
    here.a += args.a.padded_rows * policy::depth_bytes;
    here.b += args.b.padded_rows * policy::depth_bytes;
    return --here.left != 0;
  }
  __device__ __forceinline__ void issue(const load& here, unsigned memory, unsigned full) const {
    bulk_copy(memory, here.a, left_bytes, full);
    bulk_copy(memory + left_bytes, here.b, right_bytes, full);
  }
};

using bit_stream = warpgroup_stream<bit_walk>;

// What one warp has still to store: the 16 rows of counts that it left in shared memory, with the
// offsets of their columns and rows. It stores a row at a time, between the issue of products and
// their end, evenly over the next tile: stores in a burst would meet those of all other blocks and
// stall the warp.
struct row_store {
  int next = 16;
  int row;
  int first_col;
  bool first_pass;

  __device__ __forceinline__ void start(const hopper_arguments& args, const work_item& item) {
    row = item.row * policy::tile_rows + static_cast<int>(threadIdx.x) / 32 * 16;
    first_col = item.col * policy::tile_cols;
    first_pass = item.first_stage == 0;
    next = row < args.a.rows ? 0 : 16;
  }

  __device__ __forceinline__ bool pending() const { return next < 16; }

  __device__ __forceinline__ void step(const hopper_arguments& args, std::uint8_t* counts) {
    if (next == 0) load_offsets(args, counts);
    if (row + next < args.a.rows) store_row(args, counts, next);
    ++next;
  }

 private:
  __device__ __forceinline__ int* offsets(std::uint8_t* counts) const {
    return reinterpret_cast<int*>(counts + 16 * count_pitch);
  }

  __device__ __forceinline__ void load_offsets(const hopper_arguments& args, std::uint8_t* counts) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if (lane < 16) offsets(counts)[policy::tile_cols + lane] = args.a.row_offsets[row + lane];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int at = half * 128 + lane * 4;
      *reinterpret_cast<int4*>(offsets(counts) + at) =
          *reinterpret_cast<const int4*>(args.b.row_offsets + first_col + at);
    }
    __syncwarp();
  }

  __device__ __forceinline__ void store_row(const hopper_arguments& args, std::uint8_t* counts,
                                            int within) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int of_row = offsets(counts)[policy::tile_cols + within];
    const std::uint8_t* row_counts = counts + within * count_pitch;
    std::int32_t* out =
        args.out.data() + static_cast<index_t>(row + within) * args.out.row_stride() + first_col;
    if (args.vector_stores && first_col + policy::tile_cols <= args.b.rows) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int at = half * 128 + lane * 4;
        const uint2 packed = *reinterpret_cast<const uint2*>(row_counts + at * 2);
        const int4 of_col = *reinterpret_cast<const int4*>(offsets(counts) + at);
        const auto result = [&](unsigned count, int offset) {
          return args.scale * static_cast<int>(count) + (of_row + offset);
        };
        __stcs(reinterpret_cast<int4*>(out + at),
               make_int4(result(packed.x & 0xffffU, of_col.x), result(packed.x >> 16, of_col.y),
                         result(packed.y & 0xffffU, of_col.z), result(packed.y >> 16, of_col.w)));
      }
      return;
    }
    // Results that are added to, and rows that no vector store reaches.
    const int cols = static_cast<int>(min(index_t{policy::tile_cols}, args.b.rows - first_col));
#pragma unroll 1
    for (int i = lane; i < cols; i += 32) {
      int value = args.scale * reinterpret_cast<const std::uint16_t*>(row_counts)[i];
      if (first_pass) value += of_row + offsets(counts)[i];
      if (args.passes > 1) {
        atomicAdd(out + i, value);
      } else {
        out[i] = value;
      }
    }
    __syncwarp();
  }
};

#endif

__global__ void __launch_bounds__(threads, 1)
    binary_hopper_kernel(const __grid_constant__ hopper_arguments args) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ __align__(1024) std::uint8_t shared[];
  __shared__ stream_storage<bit_walk> storage;
  const int warpgroup = __shfl_sync(~0U, static_cast<int>(threadIdx.x >> 7), 0);
  const bit_walk walk{args};
  const bit_stream stream{walk, shared_address(shared), storage};
  std::uint8_t* counts = shared + ring_bytes + static_cast<int>(threadIdx.x) / 32 * warp_bytes;
  stream.start();

  const bit_operands operands(stream.first_stage, warpgroup);
  int sums[128];
  row_store store;
  bit_stream::position position{0, 0};
  unsigned last_stage = 0;
  for (work_item item = stream.first_item(); walk.locate(item); stream.next_item(item)) {
    const int store_interval = item.stages / 16;
    pin_registers(sums);
#pragma unroll 1
    for (int i = 0; i < item.stages; ++i) {
      stream.wait_until_full(position);
      wgmma_fence();
      multiply_stage(sums, operands, position.stage, i > 0);
      if (store.pending() && i >= store.next * store_interval) store.step(args, counts);
      // The products of the stage before this one have ended, so it is free; this one's keep the
      // tensor cores at work.
      wgmma_wait<1>();
      if (i > 0) {
        stream.release(last_stage);
        stream.issue();
      }
      last_stage = position.stage;
      position.advance();
    }
    wgmma_wait<0>();
    pin_registers(sums);
    stream.release(last_stage);
    stream.issue();
    while (store.pending()) store.step(args, counts);
    warpgroup_sync(1 + warpgroup);
    put_counts(sums, counts);
    warpgroup_sync(1 + warpgroup);
    store.start(args, item);
  }
  while (store.pending()) store.step(args, counts);
#endif
}

// Passes over the depth: as many as the 16 bits of a count ask for, or as fill the device.
index_t choose_passes(index_t tiles, index_t stages, int multiprocessors) {
  constexpr index_t most_stages = policy::most_pass_bits / (policy::depth_bytes * 8);
  // A pass that is shorter spends its time filling and draining the ring.
  constexpr index_t least_stages = 16;
  const index_t filling = tiles >= multiprocessors ? 1 : multiprocessors / tiles;
  const index_t useful = std::max<index_t>(1, std::min(filling, stages / least_stages));
  return std::max(useful, ceil_div(stages, most_stages));
}

}  // namespace

void launch_binary_hopper(const prepared_bits& a, const prepared_bits& b,
                          const detail::bit_terms& terms, device_matrix_view<std::int32_t> out,
                          int multiprocessors, cudaStream_t stream) {
  if (out.empty()) return;
  const index_t row_tiles = ceil_div(a.rows, policy::tile_rows);
  const index_t col_tiles = ceil_div(b.rows, policy::tile_cols);
  const index_t stages = a.chunks * (bit_chunk_bytes / policy::depth_bytes);
  const index_t pass_stages =
      ceil_div(stages, choose_passes(row_tiles * col_tiles, stages, multiprocessors));
  const int passes = static_cast<int>(ceil_div(stages, pass_stages));
  const hopper_arguments args{
      .a = a,
      .b = b,
      .scale = terms.scale,
      .out = out,
      .row_tiles = static_cast<int>(row_tiles),
      .col_tiles = static_cast<int>(col_tiles),
      .passes = passes,
      .items = static_cast<int>(row_tiles * col_tiles * passes),
      .pass_stages = pass_stages,
      .stages = stages,
      .vector_stores = passes == 1 && out.row_stride() % 4 == 0 &&
                       reinterpret_cast<std::uintptr_t>(out.data()) % 16 == 0};
  if (passes > 1) {
    constexpr std::size_t element = sizeof(std::int32_t);
    GPU_SIMILARITY_CUDA_CHECK(
        cudaMemset2DAsync(out.data(), static_cast<std::size_t>(out.row_stride()) * element, 0,
                          static_cast<std::size_t>(out.cols()) * element,
                          static_cast<std::size_t>(out.rows()), stream));
  }
  const unsigned blocks = grid_blocks(args.items, 1, multiprocessors);
  allow_shared_memory(binary_hopper_kernel, shared_bytes);
  binary_hopper_kernel<<<blocks, threads, shared_bytes, stream>>>(args);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
