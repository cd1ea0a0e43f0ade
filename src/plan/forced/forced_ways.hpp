#pragma once
// Ways of all pairs on CUDA that are taken whatever the choice says: bench/plane_job times each of
// them beside the chosen one. No answer depends on them.

#include <optional>

namespace gpu::inline v0::detail {

/// What is empty is chosen. A way that the device or the rows do not offer is not taken.
struct forced_cuda_ways {
  std::optional<bool> products = {};     ///< Long rows are decided by products, or by tiles.
  std::optional<bool> limbs = {};        ///< Products of ranks are those of limbs, or of doubles.
  std::optional<bool> halves = {};       ///< Dense results in float are products of halves.
  std::optional<bool> fast_counts = {};  ///< Counts by classes and by unit rows, or by tiles.
  std::optional<int> screen = {};        ///< 0: no screen; n: number n of screens_for.
};

/// Those of this process: none, until a measurement sets them while no call runs.
forced_cuda_ways& cuda_ways_in_force();

}  // namespace gpu::inline v0::detail
