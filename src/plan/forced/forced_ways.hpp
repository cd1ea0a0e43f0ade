#pragma once
// Ways of all pairs that are taken whatever the choices say: bench/plane_job times each of them
// beside the chosen one. No answer depends on them.

#include <optional>

#include "cpu/pairs/choice/cpu_pair_way.hpp"
#include "cpu/pairs/choice/row_form.hpp"

namespace gpu::inline v0::detail {

/// What is empty is chosen.
struct forced_cpu_ways {
  std::optional<cpu::cpu_pair_way> way = {};  ///< gpu::unsupported where the rows have no such way.
  /// For ranks what can_take_rank_form allows, for unit rows floats or wide.
  std::optional<cpu::cpu_row_form> form = {};
};

/// What is empty is chosen. A way that the device or the rows do not offer is not taken.
struct forced_cuda_ways {
  std::optional<bool> products = {};     ///< Long rows are decided by products, or by tiles.
  std::optional<bool> halves = {};       ///< Dense results in float are products of halves.
  std::optional<bool> fast_counts = {};  ///< Counts by classes and by unit rows, or by tiles.
  std::optional<bool> ready = {};        ///< Few rows of x are multiplied as y is prepared.
  std::optional<int> screen = {};        ///< 0: no screen; n: number n of screens_for.
  bool never_short = false;  ///< Ways that only long jobs pay are taken of short ones: for tests.
};

struct forced_ways {
  forced_cpu_ways cpu = {};
  forced_cuda_ways cuda = {};
};

/// Those of this process: none, until a measurement sets them while no call runs.
forced_ways& ways_in_force();

}  // namespace gpu::inline v0::detail
