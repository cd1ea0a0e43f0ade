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
// Shared memory (kernels/common/warpgroup_stream.cuh has the picture): the ring and 512 bytes a
// warp for the close look; 1 block a multiprocessor.

#include "kernels/common/s8_tile.cuh"
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

static_assert(wide_screen.panel_rows == s8_tile_left && wide_screen.tile_rows == s8_tile_right &&
              wide_screen.warpgroups == s8_warpgroups && screen_plane_columns == s8_plane_columns);

constexpr std::size_t wide_screen_shared_bytes() {
  return static_cast<std::size_t>(wide_screen.stages) * s8_stage_bytes +
         static_cast<std::size_t>(wide_screen.warpgroups) * 4 * 512;
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// The planes of the tiles of a block: a load is 64 columns of a panel of left rows and of a tile
/// of right rows.
struct wide_plane_walk {
  static constexpr int stages = wide_screen.stages;
  static constexpr unsigned stage_bytes = s8_stage_bytes;
  static constexpr int consumers = wide_screen.warpgroups;
  // The stage that is filled next was released three steps ago: warpgroups may be that far apart.
  static constexpr int loads_ahead = stages - 3;
  static constexpr int cluster = 1;

  struct load {
    int panel;
    int tile;
    int plane;
  };
  struct cursor {
    index_t item;
    int band;
    int panel;
    int tile;
  };

  const wide_screen_arguments& args;

  __device__ __forceinline__ index_t first_item() const { return args.first_item; }
  __device__ __forceinline__ bool locate(cursor& at) const {
    if (at.item >= args.last_item) return false;
    const wide_walk& walk = args.bands;
    while (args.first_tile + (at.band + 1) * walk.band_tiles < args.tile_count &&
           at.item >= wide_items_before(walk, at.band + 1)) {
      ++at.band;
    }
    const int first_tile = args.first_tile + at.band * walk.band_tiles;
    const int width = min(walk.band_tiles, args.tile_count - first_tile);
    const bool has_diagonal = at.band < walk.diagonal_bands;
    const int first_panel =
        has_diagonal ? at.band * panels_of_band(walk.band_tiles) : walk.left_panels;
    auto rest = static_cast<int>(at.item - wide_items_before(walk, at.band));
    const int above = first_panel * width;
    if (rest < above) {
      at.panel = rest / width;
      at.tile = first_tile + rest % width;
      return true;
    }
    rest -= above;
    for (int p = 0;; ++p) {
      const int skipped = p * wide_screen.panel_rows / wide_screen.tile_rows;
      if (rest < width - skipped) {
        at.panel = first_panel + p;
        at.tile = first_tile + skipped + rest;
        return true;
      }
      rest -= width - skipped;
    }
  }
  __device__ __forceinline__ load first_load(const cursor& at) const {
    return {at.panel, at.tile, 0};
  }
  __device__ __forceinline__ bool next(load& here) const { return ++here.plane != args.planes; }
  __device__ __forceinline__ void issue(const load& here, unsigned memory, unsigned full) const {
    const std::uint8_t* from = args.tiles + here.plane * args.plane_bytes;
    bulk_copy(memory, from + static_cast<index_t>(here.panel) * s8_left_bytes, s8_left_bytes, full);
    bulk_copy(memory + s8_left_bytes, from + static_cast<index_t>(here.tile) * s8_right_bytes,
              s8_right_bytes, full);
  }
};

using wide_multiply = screen_multiply<screen_operand::int8, 64>;
using wide_stream = warpgroup_stream<wide_plane_walk>;

/// What |sum of rounded rows| exceeds wherever the statistic reaches the cut; -1 where every pair
/// has to be looked at.
__device__ __forceinline__ unsigned find_limit(const screen_block& left, const screen_block& right,
                                               float cut) {
  const float least = find_least_sum(left, right, cut, 0.0F);
  return static_cast<unsigned>(least > 1.0F ? __float2int_rz(least) - 1 : -1);
}

#endif

template <bool stops>
__global__ void __launch_bounds__(wide_screen.warpgroups * 128, 1)
    wide_screen_kernel(const __grid_constant__ wide_screen_arguments args) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ __align__(1024) std::uint8_t shared[];
  __shared__ stream_storage<wide_plane_walk> storage;
  if constexpr (stops) {
    if (is_over_at_start(args.candidates)) return;
  }
  const int warpgroup = __shfl_sync(~0U, static_cast<int>(threadIdx.x >> 7), 0);
  const wide_plane_walk walk{args};
  const wide_stream stream{walk, shared_address(shared), storage};
  auto* scratch = reinterpret_cast<wide_multiply::sum*>(
      shared + wide_screen.stages * s8_stage_bytes + (threadIdx.x >> 5) * 512);
  stream.start();

  const s8_operands operands(stream.first_stage, warpgroup);
  wide_multiply::sum sums[wide_multiply::sums];
  wide_stream::position position{0, 0};
#pragma unroll 1
  for (auto at = stream.first_item(); walk.locate(at); stream.next_item(at)) {
    const unsigned first_row =
        static_cast<unsigned>(at.panel) * wide_screen.panel_rows + warpgroup * screen_block_rows;
    const screen_block left = args.blocks[first_row / screen_block_rows];
    const screen_block right = args.tile_bounds[at.tile];
    multiply_planes(stream, operands, position, args.planes, sums);
    const unsigned limit = find_limit(left, right, args.cut);
    const bool hit = wide_multiply::any(sums, limit);
    if (__any_sync(~0U, hit)) {
      const unsigned warp_row = (threadIdx.x & 127U) / 32 * 16;
      collect<wide_multiply, stops>(args, sums, hit, limit, first_row + warp_row,
                                    static_cast<unsigned>(at.tile) * wide_screen.tile_rows,
                                    scratch);
    }
  }
#endif
}

}  // namespace gpu::kernels
