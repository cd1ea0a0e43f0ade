// The first half of the neighbour search, one instance per depth and key.

#include <limits>

#include "kernels/pairs/neighbors/maxima.cuh"

namespace gpu::kernels {
namespace {

template <bool magnitude>
void launch(int depth, const maxima_arguments& args, int multiprocessors, cudaStream_t stream) {
  switch (depth) {
    case 64:
      return launch_maxima<64, magnitude>(args, multiprocessors, stream);
    case 128:
      return launch_maxima<128, magnitude>(args, multiprocessors, stream);
    case 192:
      return launch_maxima<192, magnitude>(args, multiprocessors, stream);
    default:
      return launch_maxima<256, magnitude>(args, multiprocessors, stream);
  }
}

// Tiles of right rows in an item: the even number with which the last block of the device ends
// earliest. An item costs its tiles, and one tile's time for loading its panel.
int choose_chunk(int tile_count, int panels, int multiprocessors) {
  constexpr int panel_tiles = 1;
  int best = neighbor_most_chunk_tiles;
  index_t least = std::numeric_limits<index_t>::max();
  for (int chunk = neighbor_most_chunk_tiles; chunk >= 2; chunk -= 2) {
    const index_t rounds = ceil_div(panels * ceil_div(tile_count, chunk), multiprocessors);
    const index_t cost = rounds * (chunk + panel_tiles);
    if (cost < least) least = cost, best = chunk;
  }
  return best;
}

}  // namespace

void launch_neighbor_maxima(const neighbor_rows& packed, const neighbor_block& block,
                            detail::bin_key key, int multiprocessors, cudaStream_t stream) {
  if (block.count == 0) return;
  const neighbor_policy policy = select_neighbor_policy(packed.depth);
  const int panels = static_cast<int>(block.count / neighbor_panel_rows(policy));
  const int tile_count = static_cast<int>(packed.padded_rows / policy.tile_rows);
  const int chunk = choose_chunk(tile_count, panels, multiprocessors);
  const maxima_arguments args{
      .tiles = packed.tiles,
      .block = block,
      .panels = panels,
      .tile_count = tile_count,
      .chunk_tiles = chunk,
      .items = panels * static_cast<int>(ceil_div(tile_count, chunk)),
      .sign_flips = key == detail::bin_key::negated_value ? 0x80008000U : 0U};
  if (key == detail::bin_key::magnitude) {
    launch<true>(packed.depth, args, multiprocessors, stream);
  } else {
    launch<false>(packed.depth, args, multiprocessors, stream);
  }
}

}  // namespace gpu::kernels
