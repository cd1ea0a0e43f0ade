// The first half of the neighbour search, one instance per depth and key.

#include "correlation/neighbor_maxima.cuh"

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

// Enough items that the last round of the blocks is a small part, few enough that a panel pays.
int chunk_of(int tile_count, int panels, int multiprocessors) {
  const index_t tiles = static_cast<index_t>(tile_count) * panels;
  const auto even = static_cast<int>(tiles / (16 * multiprocessors) / 2 * 2);
  return even < 2 ? 2 : (even > neighbor_most_chunk_tiles ? neighbor_most_chunk_tiles : even);
}

}  // namespace

void launch_neighbor_maxima(const neighbor_rows& packed, const neighbor_block& block,
                            detail::bin_key key, int multiprocessors, cudaStream_t stream) {
  if (block.count == 0) return;
  const neighbor_policy policy = select_neighbor_policy(packed.depth);
  const int panels = static_cast<int>(block.count / neighbor_panel_rows(policy));
  const int tile_count = static_cast<int>(packed.padded_rows / policy.tile_rows);
  const int chunk = chunk_of(tile_count, panels, multiprocessors);
  const maxima_arguments args{
      .tiles = packed.tiles,
      .first_row = block.first,
      .panels = panels,
      .tile_count = tile_count,
      .chunk_tiles = chunk,
      .items = panels * static_cast<int>(ceil_div(tile_count, chunk)),
      .sign_flips = key == detail::bin_key::negated_value ? 0x80008000U : 0U,
      .maxima = block.maxima,
      .pitch = block.pitch};
  if (key == detail::bin_key::magnitude) {
    launch<true>(packed.depth, args, multiprocessors, stream);
  } else {
    launch<false>(packed.depth, args, multiprocessors, stream);
  }
}

}  // namespace gpu::kernels
