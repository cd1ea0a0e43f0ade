#pragma once
// The cut on p of differential correlation, after the adjustment for the number of tests.

#include <gpu/discovery.hpp>

#include "pairs/differential/difference_walk.hpp"

namespace gpu::inline v0::detail {

/// max_p after the adjustment for all tests of the job. Benjamini and Hochberg's is counted over
/// the walk, which is that of the whole job then.
double adjusted_max_p(const difference_walk& walk, const differential_filter& keep);

/// The search for the discoveries of the whole job, before its first counting pass.
discovery_search begin_search(const difference_walk& walk, double max_p, tail side);

/// The counting pass of a search over the pairs of the part. Of a search that is decided there are
/// no counts. The summary is empty.
discovery_counts count_discoveries(const difference_walk& walk, const discovery_search& search);

}  // namespace gpu::inline v0::detail
