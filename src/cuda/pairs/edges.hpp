#pragma once
// Edges by the tiles that decide every pair.

#include <cuda_runtime_api.h>

#include "cuda/pairs/rows/budget.hpp"
#include "cuda/pairs/rows/device_rows.hpp"
#include "cuda/pairs/team/share.hpp"
#include "pairs/engine.hpp"
#include "plan/screen_choice.hpp"

namespace gpu::cuda {

/// What edges are made from.
struct edge_source {
  device_rows& rows;
  const detail::pair_area& area;
  pair_share& share;
  const pair_budget& budget;
  cudaStream_t finding;          ///< Of the tiles.
  cudaStream_t deciding;         ///< Of the exact decisions and the sort.
  kernels::pair_tile_kind tile;  ///< As device_rows::for_each_panel takes it.
  detail::pair_cut keep;         ///< Of the statistic.
  double estimate_error;         ///< Of its products as estimates of the statistic.
};

/// About how many edges there are among `pairs` pairs; many where nothing is known of them.
double expected_edges(const detail::cut_sample& sample, std::uint64_t pairs);

/// Tells about how many edges there are, where that is known; before the first of them.
void announce_edges(detail::edge_receiver& receiver, const detail::cut_sample& sample,
                    std::uint64_t pairs);

/// Device memory that the batches of edges may take of what is left.
inline std::size_t output_room(const pair_budget& budget) {
  return budget.left() / 4;
}

/// Delivers every kept pair of the source's share.
void write_edges_by_tiles(const edge_source& source, const detail::edge_request& request,
                          detail::edge_receiver& receiver, const detail::cut_sample& sample);

}  // namespace gpu::cuda
