// The pair screen on rows of more than 128 columns, rounded to 8 bits.
#include <algorithm>

#include "kernels/pairs/screen/wide.cuh"

namespace gpu::kernels {
namespace {

// Bands of right rows of about this many bytes stay in L2, as the panels beside them do.
constexpr index_t band_bytes = index_t{12} << 20;

int band_tiles_of(int depth) {
  const index_t tiles = band_bytes / (index_t{wide_screen.tile_rows} * depth);
  return static_cast<int>(tiles < 3 ? 3 : (tiles > 48 ? 48 : tiles / 3 * 3));
}
int tile_count_of(index_t rows) {
  return static_cast<int>(ceil_div(rows, wide_screen.tile_rows));
}
int first_tile_of(const screen_rows& packed) {
  return static_cast<int>(packed.first_right / wide_screen.tile_rows);
}

wide_walk find_walk(const screen_rows& packed) {
  const int tiles = band_tiles_of(packed.depth);
  const int panels = panels_of_band(tiles);
  const int left = static_cast<int>(ceil_div(packed.left_rows, wide_screen.panel_rows));
  wide_walk out{.left_panels = left,
                .band_tiles = tiles,
                .band_diagonal = diagonal_tiles(tiles, panels),
                .diagonal_bands = 0,
                .diagonal_items = 0};
  if (packed.first_right > 0) return out;
  // The last band with a diagonal may have fewer panels of it.
  const index_t whole = left / panels;
  out.diagonal_bands = static_cast<int>(whole) + 1;
  out.diagonal_items = wide_items_before(out, whole) + whole * panels * tiles +
                       diagonal_tiles(tiles, left - static_cast<int>(whole) * panels);
  return out;
}

}  // namespace

index_t wide_screen_items(const screen_rows& packed) {
  const wide_walk walk = find_walk(packed);
  const int count = tile_count_of(packed.rows) - first_tile_of(packed);
  const index_t last = ceil_div(count, walk.band_tiles) - 1;
  if (last < 0) return 0;
  const int width = count - static_cast<int>(last) * walk.band_tiles;
  if (last >= walk.diagonal_bands) {
    return wide_items_before(walk, last) + index_t{walk.left_panels} * width;
  }
  const int panels = panels_of_band(walk.band_tiles);
  const index_t above = last * panels;
  return wide_items_before(walk, last) + above * width +
         diagonal_tiles(width, std::min(panels, walk.left_panels - static_cast<int>(above)));
}

void launch_pair_screen_wide(const screen_rows& packed, const screen_arguments& common,
                             int multiprocessors, cudaStream_t stream) {
  wide_screen_arguments args{};
  static_cast<screen_arguments&>(args) = common;
  args.first_tile = first_tile_of(packed);
  args.tile_count = tile_count_of(packed.rows);
  args.plane_bytes = packed.padded_rows * screen_plane_columns;
  args.planes = packed.depth / screen_plane_columns;
  args.bands = find_walk(packed);
  constexpr std::size_t bytes = wide_screen_shared_bytes();
  static_assert(bytes <= 227 * 1024 - 1024);
  launch_persistent(args.candidates.stops ? wide_screen_kernel<true> : wide_screen_kernel<false>,
                    args, wide_screen.warpgroups * 128, bytes, multiprocessors, stream);
}

}  // namespace gpu::kernels
