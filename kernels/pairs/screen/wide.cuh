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
// Order of work: bands of right rows, in a band panel after panel of left rows, tile after tile, so
// that the blocks on the device share a few panels and one band of right rows in L2. Tiles below
// the diagonal are not numbered: every block gets the same share.
// Shared memory: the ring and 512 bytes a warp for the close look; 1 block a multiprocessor.

#include "kernels/pairs/screen/screen_tiles.cuh"

namespace gpu::kernels {

struct wide_screen_arguments : screen_arguments {
  index_t plane_bytes;  // 64 bytes of every packed row
  int planes;
  int band_tiles;
  index_t band_diagonal;  // tiles of a whole band's diagonal panels
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
/// Items of the bands before `band`, all of `tiles` tiles.
__host__ __device__ constexpr index_t wide_items_before(index_t band, int tiles, index_t diagonal) {
  return index_t{tiles} * panels_of_band(tiles) * (band * (band - 1) / 2) + band * diagonal;
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// The tile that an item stands for; `band` is at most the item's and ends as it.
__device__ __forceinline__ wide_tile locate(const wide_screen_arguments& args, index_t item,
                                            int& band) {
  while ((band + 1) * args.band_tiles < args.tile_count &&
         item >= wide_items_before(band + 1, args.band_tiles, args.band_diagonal)) {
    ++band;
  }
  const int first_tile = band * args.band_tiles;
  const int width = min(args.band_tiles, args.tile_count - first_tile);
  const int first_panel = band * panels_of_band(args.band_tiles);
  auto rest = static_cast<int>(item - wide_items_before(band, args.band_tiles, args.band_diagonal));
  const int above = first_panel * width;
  if (rest < above) return {rest / width, first_tile + rest % width};
  rest -= above;
  for (int p = 0;; ++p) {
    const int skipped = p * wide_screen.panel_rows / wide_screen.tile_rows;
    if (rest < width - skipped) return {first_panel + p, first_tile + skipped + rest};
    rest -= width - skipped;
  }
}

#endif

constexpr std::size_t wide_screen_shared_bytes() {
  return static_cast<std::size_t>(wide_screen.stages) *
             (wide_screen.panel_rows + wide_screen.tile_rows) * screen_plane_columns +
         static_cast<std::size_t>(wide_screen.warpgroups) * 4 * 512;
}

__global__ void __launch_bounds__(wide_screen.warpgroups * 128, 1)
    wide_screen_kernel(const __grid_constant__ wide_screen_arguments args) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using multiply = screen_multiply<screen_operand::int8, 64>;
  constexpr int stages = wide_screen.stages;
  constexpr unsigned left_bytes = wide_screen.panel_rows * screen_plane_columns;
  constexpr unsigned right_bytes = wide_screen.tile_rows * screen_plane_columns;
  constexpr unsigned stage_bytes = left_bytes + right_bytes;
  // Refilled is what the warpgroups left three steps ago: they may run that far apart.
  constexpr int ahead = stages - 3;

  extern __shared__ __align__(1024) std::uint8_t shared[];
  __shared__ __align__(8) std::uint64_t barriers[2 * stages];  // full, then empty
  __shared__ index_t producer_item;                            // of thread 0 alone, as are
  __shared__ wide_tile producer_tile;
  __shared__ int producer_band, producer_plane;
  __shared__ ring_place<stages> producer_place;

  const int warpgroup = __shfl_sync(~0U, static_cast<int>(threadIdx.x >> 7), 0);
  const unsigned in_group = threadIdx.x & 127U;
  const copy_ring<stages, stage_bytes> ring{shared_address(shared), shared_address(barriers)};
  auto* scratch =
      reinterpret_cast<multiply::sum*>(shared + stages * stage_bytes + (threadIdx.x >> 5) * 512);

  // Thread 0 keeps the ring filled; its position stays in shared memory to leave the registers to
  // the sums.
  const auto produce = [&] {
    const index_t item = producer_item;
    if (item >= args.last_item) return;
    const wide_tile at = producer_tile;
    const int plane = producer_plane;
    ring_place<stages> place = producer_place;
    const std::uint8_t* from = args.tiles + plane * args.plane_bytes;
    ring.claim(place);
    const unsigned to = ring.memory(place.stage);
    const unsigned full = ring.full(place.stage);
    bulk_copy(to, from + static_cast<index_t>(at.panel) * left_bytes, left_bytes, full);
    bulk_copy(to + left_bytes, from + static_cast<index_t>(at.tile) * right_bytes, right_bytes,
              full);
    place.advance();
    producer_place = place;
    producer_plane = plane + 1;
    if (plane + 1 == args.planes) {
      producer_plane = 0;
      producer_item = item + gridDim.x;
      int band = producer_band;
      if (item + gridDim.x < args.last_item) producer_tile = locate(args, item + gridDim.x, band);
      producer_band = band;
    }
  };
  if (threadIdx.x == 0) {
    ring.init(wide_screen.warpgroups);
    int band = 0;
    producer_item = args.first_item + blockIdx.x;
    if (producer_item < args.last_item) producer_tile = locate(args, producer_item, band);
    producer_band = band;
    producer_plane = 0;
    producer_place = {0, 0};
    for (int stage = 0; stage < ahead; ++stage) produce();
  }
  __syncthreads();

  const std::uint64_t left_operand =
      operand_descriptor(ring.first_stage + static_cast<unsigned>(warpgroup) * screen_block_rows *
                                                screen_plane_columns,
                         screen_plane_columns);
  const std::uint64_t right_operand =
      operand_descriptor(ring.first_stage + left_bytes, screen_plane_columns);
  multiply::sum d[multiply::sums];
  ring_place<stages> place{0, 0};
  int band = 0;

#pragma unroll 1
  for (index_t item = args.first_item + blockIdx.x; item < args.last_item; item += gridDim.x) {
    const wide_tile at = locate(args, item, band);
    const unsigned first_row =
        static_cast<unsigned>(at.panel * wide_screen.panel_rows + warpgroup * screen_block_rows);
    const screen_block left = args.blocks[first_row / screen_block_rows];
    const screen_block right = args.tile_bounds[at.tile];
    unsigned previous = 0;
#pragma unroll 1
    for (int plane = 0; plane < args.planes; ++plane) {
      ring.wait_until_full(place);
      const std::uint64_t step = (place.stage * stage_bytes) >> 4;
      pin_registers(d);
      wgmma_fence();
      wgmma_s8(d, left_operand + step, right_operand + step, plane);
      wgmma_s8(d, left_operand + step + (256 >> 4), right_operand + step + (256 >> 4), 1);
      wgmma_commit();
      pin_registers(d);
      if (threadIdx.x == 0) produce();
      __syncwarp();
      if (plane > 0) {
        wgmma_wait<1>();
        if (in_group == 0) ring.release(previous);
      }
      previous = place.stage;
      place.advance();
    }
    wgmma_wait<0>();
    pin_registers(d);
    if (in_group == 0) ring.release(previous);
    // |sum of rounded| >= |sum| - norms (e_l + e_r + e_l e_r), by Cauchy and Schwarz.
    const float least = left.smallest_norm * right.smallest_norm *
                        (args.cut - (left.largest_error + right.largest_error +
                                     left.largest_error * right.largest_error));
    const int limit = least > 1.0F ? __float2int_rz(least) - 1 : -1;
    const bool hit = multiply::any(d, static_cast<unsigned>(limit));
    if (__any_sync(~0U, hit)) {
      collect<multiply>(args, d, hit, static_cast<unsigned>(limit),
                        first_row + (in_group >> 5) * 16,
                        static_cast<unsigned>(at.tile * wide_screen.tile_rows), scratch);
    }
  }
#endif
}

}  // namespace gpu::kernels
