#pragma once
// Ways of all pairs on the CPU that are taken whatever the choice says: bench/plane_job times each
// of them beside the chosen one. No answer depends on them.

#include <optional>

#include "cpu/pairs/choice/cpu_pair_way.hpp"
#include "cpu/pairs/choice/row_form.hpp"

namespace gpu::cpu {

/// What is empty is chosen.
struct forced_ways {
  std::optional<cpu_pair_way> way = {};  ///< gpu::unsupported where the rows have no such way.
  std::optional<cpu_rank_form> rank_form = {};  ///< One of which can_take_rank_form.
  std::optional<cpu_unit_form> unit_form = {};
};

/// Those of this process: none, until a measurement sets them while no call runs.
forced_ways& ways_in_force();

}  // namespace gpu::cpu
