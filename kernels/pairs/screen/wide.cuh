#pragma once
// The pair screen for rows of more than 128 columns: rows rounded to 8 bits, multiplied over their
// whole length, a tile at a time.
//
// A block computes tiles of 192 left rows x 256 right rows, one after the other. Each of its three
// warpgroups multiplies 64 left rows by 256 right rows (wgmma, exact 32-bit sums in registers);
// both operands stream through one ring of bulk copies, 64 bytes of every row a stage. What comes
// out is the sum of rounded rows; the distance that rounding can put between it and the statistic
// is in the bounds of 64 rows (see launch_round_rows), so a tile has one threshold and one maximum
// and minimum over its sums.
//
// Order of work: bands of right rows; in a band panel after panel of left rows; in a panel tile
// after tile. So the blocks on the device share a few panels and one band of right rows in L2.
// Tiles below the diagonal have no numbers, so that every block gets the same share. Bands behind
// the last left row, and all bands where left rows do not meet each other, meet every panel.
// Shared memory: the ring and 512 bytes a warp for the close look; 1 block a multiprocessor.

#include "kernels/pairs/screen/screen_tiles.cuh"

namespace gpu::kernels {

/// How work items are numbered: the first bands have a diagonal.
struct wide_walk {
  int left_panels;
  int band_tiles;
  index_t band_diagonal;   // tiles of a whole band's diagonal panels
  int diagonal_bands;      // bands that begin before the last left row, where left rows meet
  index_t diagonal_items;  // of those bands
};

struct wide_screen_arguments : screen_arguments {
  index_t plane_bytes;  // 64 bytes of every packed row
  int planes;
  wide_walk bands;
};

struct wide_tile {
  int panel;
  int tile;
};

/// Tiles of the diagonal panels of a band of `tiles` tiles: panel p begins in tile 3 p / 4.
__host__ __device__ constexpr index_t diagonal_tiles(int tiles, int panels) {
  index_t sum = 0;
  for (int p = 0; p < panels; ++p) {
    const int left = tiles - p * wide_screen.panel_rows / wide_screen.tile_rows;
    if (left > 0) sum += left;
  }
  return sum;
}
/// Panels that a band of `tiles` tiles spans.
__host__ __device__ constexpr int panels_of_band(int tiles) {
  return tiles * wide_screen.tile_rows / wide_screen.panel_rows;
}
/// Items of the bands before `band`, all of band_tiles tiles.
__host__ __device__ constexpr index_t wide_items_before(const wide_walk& walk, index_t band) {
  const index_t tiles = walk.band_tiles;
  if (band >= walk.diagonal_bands) {
    return walk.diagonal_items + (band - walk.diagonal_bands) * tiles * walk.left_panels;
  }
  return tiles * panels_of_band(walk.band_tiles) * (band * (band - 1) / 2) +
         band * walk.band_diagonal;
}

/// Bytes of a stage: 64 columns of a panel, then those of a tile.
constexpr unsigned wide_left_bytes = wide_screen.panel_rows * screen_plane_columns;
constexpr unsigned wide_right_bytes = wide_screen.tile_rows * screen_plane_columns;
constexpr unsigned wide_stage_bytes = wide_left_bytes + wide_right_bytes;

constexpr std::size_t wide_screen_shared_bytes() {
  return static_cast<std::size_t>(wide_screen.stages) * wide_stage_bytes +
         static_cast<std::size_t>(wide_screen.warpgroups) * 4 * 512;
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// The tile that an item stands for; `band` is at most the item's and ends as it.
__device__ __forceinline__ wide_tile locate(const wide_screen_arguments& args, index_t item,
                                            int& band) {
  const wide_walk& walk = args.bands;
  while (args.first_tile + (band + 1) * walk.band_tiles < args.tile_count &&
         item >= wide_items_before(walk, band + 1)) {
    ++band;
  }
  const int first_tile = args.first_tile + band * walk.band_tiles;
  const int width = min(walk.band_tiles, args.tile_count - first_tile);
  const bool has_diagonal = band < walk.diagonal_bands;
  const int first_panel = has_diagonal ? band * panels_of_band(walk.band_tiles) : walk.left_panels;
  auto rest = static_cast<int>(item - wide_items_before(walk, band));
  const int above = first_panel * width;
  if (rest < above) return {rest / width, first_tile + rest % width};
  rest -= above;
  for (int p = 0;; ++p) {
    const int skipped = p * wide_screen.panel_rows / wide_screen.tile_rows;
    if (rest < width - skipped) return {first_panel + p, first_tile + skipped + rest};
    rest -= width - skipped;
  }
}

using wide_multiply = screen_multiply<screen_operand::int8, 64>;
using wide_place = ring_place<wide_screen.stages>;
using wide_ring = copy_ring<wide_screen.stages, wide_stage_bytes>;

/// What thread 0 keeps between two stages that it sends for. It is in shared memory, so that the
/// registers are left to the sums.
struct wide_stream_state {
  index_t item;
  wide_tile tile;
  int band;
  int plane;  // the next one of the tile
  wide_place place;
};

/// Thread 0: sends for the next stage of the walk, once it is free.
__device__ __forceinline__ void send_next(const wide_screen_arguments& args, const wide_ring& ring,
                                          wide_stream_state& state) {
  const index_t item = state.item;
  if (item >= args.last_item) return;
  const wide_tile at = state.tile;
  const int plane = state.plane;
  wide_place place = state.place;
  const std::uint8_t* from = args.tiles + plane * args.plane_bytes;
  ring.claim(place);
  const unsigned to = ring.memory(place.stage);
  const unsigned full = ring.full(place.stage);
  bulk_copy(to, from + static_cast<index_t>(at.panel) * wide_left_bytes, wide_left_bytes, full);
  bulk_copy(to + wide_left_bytes, from + static_cast<index_t>(at.tile) * wide_right_bytes,
            wide_right_bytes, full);
  place.advance();
  state.place = place;
  state.plane = plane + 1;
  if (plane + 1 == args.planes) {
    state.plane = 0;
    state.item = item + gridDim.x;
    int band = state.band;
    if (item + gridDim.x < args.last_item) state.tile = locate(args, item + gridDim.x, band);
    state.band = band;
  }
}

/// Thread 0: prepares the ring and sends for the first stages.
__device__ __forceinline__ void start_stream(const wide_screen_arguments& args,
                                             const wide_ring& ring, wide_stream_state& state) {
  // The stage that is filled next was left three steps ago: warpgroups may be that far apart.
  constexpr int ahead = wide_screen.stages - 3;
  ring.init(wide_screen.warpgroups);
  int band = 0;
  state.item = args.first_item + blockIdx.x;
  if (state.item < args.last_item) state.tile = locate(args, state.item, band);
  state.band = band;
  state.plane = 0;
  state.place = {0, 0};
  for (int stage = 0; stage < ahead; ++stage) send_next(args, ring, state);
}

/// The warpgroup's 64 left rows and the 256 right rows of the first stage.
struct wide_operands {
  std::uint64_t left;
  std::uint64_t right;
};

__device__ __forceinline__ wide_operands find_operands(const wide_ring& ring, int warpgroup) {
  const unsigned rows_before = static_cast<unsigned>(warpgroup) * screen_block_rows;
  return {operand_descriptor(ring.first_stage + rows_before * screen_plane_columns,
                             screen_plane_columns),
          operand_descriptor(ring.first_stage + wide_left_bytes, screen_plane_columns)};
}

/// sums = the warpgroup's part of a tile, plane after plane. `place` moves on by the tile's planes.
__device__ __forceinline__ void multiply_tile(const wide_screen_arguments& args,
                                              const wide_ring& ring, const wide_operands& operands,
                                              wide_place& place, wide_stream_state& stream,
                                              wide_multiply::sum (&sums)[wide_multiply::sums]) {
  const bool is_first_of_group = (threadIdx.x & 127U) == 0;
  unsigned previous = 0;
#pragma unroll 1
  for (int plane = 0; plane < args.planes; ++plane) {
    ring.wait_until_full(place);
    const std::uint64_t step = (place.stage * wide_stage_bytes) >> 4;
    pin_registers(sums);
    wgmma_fence();
    wgmma_s8(sums, operands.left + step, operands.right + step, plane);
    wgmma_s8(sums, operands.left + step + (256 >> 4), operands.right + step + (256 >> 4), 1);
    wgmma_commit();
    pin_registers(sums);
    if (threadIdx.x == 0) send_next(args, ring, stream);
    __syncwarp();
    if (plane > 0) {
      wgmma_wait<1>();
      if (is_first_of_group) ring.release(previous);
    }
    previous = place.stage;
    place.advance();
  }
  wgmma_wait<0>();
  pin_registers(sums);
  if (is_first_of_group) ring.release(previous);
}

/// What |sum of rounded rows| exceeds wherever the statistic reaches the cut; -1 where every pair
/// has to be looked at.
__device__ __forceinline__ unsigned find_limit(const screen_block& left, const screen_block& right,
                                               float cut) {
  const float least = find_least_sum(left, right, cut, 0.0F);
  return static_cast<unsigned>(least > 1.0F ? __float2int_rz(least) - 1 : -1);
}

#endif

__global__ void __launch_bounds__(wide_screen.warpgroups * 128, 1)
    wide_screen_kernel(const __grid_constant__ wide_screen_arguments args) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  constexpr int stages = wide_screen.stages;
  extern __shared__ __align__(1024) std::uint8_t shared[];
  __shared__ __align__(8) std::uint64_t barriers[2 * stages];  // full, then empty
  __shared__ wide_stream_state stream;
  const int warpgroup = __shfl_sync(~0U, static_cast<int>(threadIdx.x >> 7), 0);
  const wide_ring ring{shared_address(shared), shared_address(barriers)};
  auto* scratch = reinterpret_cast<wide_multiply::sum*>(shared + stages * wide_stage_bytes +
                                                        (threadIdx.x >> 5) * 512);
  if (threadIdx.x == 0) start_stream(args, ring, stream);
  __syncthreads();

  const wide_operands operands = find_operands(ring, warpgroup);
  wide_multiply::sum sums[wide_multiply::sums];
  wide_place place{0, 0};
  int band = 0;
#pragma unroll 1
  for (index_t item = args.first_item + blockIdx.x; item < args.last_item; item += gridDim.x) {
    const wide_tile at = locate(args, item, band);
    const unsigned first_row =
        static_cast<unsigned>(at.panel * wide_screen.panel_rows + warpgroup * screen_block_rows);
    const screen_block left = args.blocks[first_row / screen_block_rows];
    const screen_block right = args.tile_bounds[at.tile];
    multiply_tile(args, ring, operands, place, stream, sums);
    const unsigned limit = find_limit(left, right, args.cut);
    const bool hit = wide_multiply::any(sums, limit);
    if (__any_sync(~0U, hit)) {
      const unsigned warp_row = (threadIdx.x & 127U) / 32 * 16;
      collect<wide_multiply>(args, sums, hit, limit, first_row + warp_row,
                             static_cast<unsigned>(at.tile * wide_screen.tile_rows), scratch);
    }
  }
#endif
}

}  // namespace gpu::kernels
