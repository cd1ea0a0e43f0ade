#pragma once
// What one .cu file per tile instantiates: the tile with every sink.

#include <type_traits>

#include "kernels/pairs/frame/kernel.cuh"
#include "kernels/pairs/sinks/bins.cuh"
#include "kernels/pairs/sinks/candidates.cuh"
#include "kernels/pairs/sinks/counts.cuh"
#include "kernels/pairs/sinks/dense.cuh"

namespace gpu::kernels {

/// Rows of ranks may be folded and have weights then.
template <class Tile>
inline constexpr bool takes_weights = std::is_same_v<typename Tile::statistic, spearman_statistic>;

template <class Tile>
void run_tile(const pair_panel& panel, const candidate_sink_args& sink, cudaStream_t stream) {
  if (sink.content == queue_content::kept) {
    return run_pair_kernel<Tile, tile_candidate_sink<Tile, queue_content::kept>>(panel, sink,
                                                                                 stream);
  }
  run_pair_kernel<Tile, tile_candidate_sink<Tile>>(panel, sink, stream);
}
template <class Tile>
void run_tile(const pair_panel& panel, const count_sink_args& sink, cudaStream_t stream) {
  if constexpr (takes_weights<Tile>) {
    if (sink.weights != nullptr) {
      return run_pair_kernel<Tile, tile_weighted_count_sink<Tile>>(panel, sink, stream);
    }
  }
  run_pair_kernel<Tile, tile_count_sink<Tile>>(panel, sink, stream);
}
template <class Tile>
void run_tile(const pair_panel& panel, const bin_sink_args& sink, cudaStream_t stream) {
  if constexpr (takes_weights<Tile>) {
    if (sink.weights != nullptr) {
      return run_pair_kernel<Tile, tile_bin_sink<Tile, true>>(panel, sink, stream);
    }
  }
  run_pair_kernel<Tile, tile_bin_sink<Tile>>(panel, sink, stream);
}
template <class Tile>
void run_tile(const pair_panel& panel, const dense_sink_args& sink, cudaStream_t stream) {
  run_pair_kernel<Tile, tile_dense_sink<Tile>>(panel, sink, stream);
}

}  // namespace gpu::kernels
