#pragma once
// What is kept of pairs with their statistics over two groups.

#include <gpu/differential.hpp>
#include <gpu/discovery.hpp>

#include "pairs/differential/difference_walk.hpp"

namespace gpu::inline v0::detail {

/// Each throws gpu::invalid_argument of a value outside its range.
void check_sink(const differential_filter& keep);
void check_sink(const differential_edge_sink& sink);
void check_sink(const differential_top_k_sink& sink);

/// What a sink keeps of the part of the walk, after the adjustment for the whole job.
/// @throw gpu::capacity_exceeded
differential_edges find_differences(const difference_walk& walk,
                                    const differential_edge_sink& sink);
differential_partners find_partners(const difference_walk& walk,
                                    const differential_top_k_sink& sink);
differential_counts count_differences(const difference_walk& walk, const differential_filter& keep);

/// The search for the discoveries of the whole job, before its first counting pass.
discovery_search begin_search(const difference_walk& walk, double max_p, tail side);
/// The counting pass of a search over the pairs of the part; no counts where it is decided. The
/// summary is empty.
discovery_counts count_discoveries(const difference_walk& walk, const discovery_search& search);

}  // namespace gpu::inline v0::detail
