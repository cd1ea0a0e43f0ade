// The pair screen on rows of more than 128 columns, rounded to 8 bits.
#include "kernels/common/launch.cuh"
#include "kernels/pairs/screen/variants.cuh"
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

}  // namespace

index_t wide_screen_items(const screen_rows& packed) {
  const int tiles = band_tiles_of(packed.depth);
  const int count = tile_count_of(packed.rows);
  const index_t last = ceil_div(count, tiles) - 1;
  if (last < 0) return 0;
  const int width = count - static_cast<int>(last) * tiles;
  const int panels = panels_of_band(tiles);
  return wide_items_before(last, tiles, diagonal_tiles(tiles, panels)) + last * panels * width +
         diagonal_tiles(width, panels);
}

void launch_pair_screen_wide(const screen_rows& packed, const screen_arguments& common,
                             int multiprocessors, cudaStream_t stream) {
  const int tiles = band_tiles_of(packed.depth);
  wide_screen_arguments args{};
  static_cast<screen_arguments&>(args) = common;
  args.tile_count = tile_count_of(packed.rows);
  args.plane_bytes = packed.padded_rows * screen_plane_columns;
  args.planes = packed.depth / screen_plane_columns;
  args.band_tiles = tiles;
  args.band_diagonal = diagonal_tiles(tiles, panels_of_band(tiles));
  constexpr std::size_t bytes = wide_screen_shared_bytes();
  static_assert(bytes <= 227 * 1024 - 1024);
  allow_shared_memory(wide_screen_kernel, bytes);
  wide_screen_kernel<<<static_cast<unsigned>(multiprocessors), wide_screen.warpgroups * 128, bytes,
                       stream>>>(args);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
