#pragma once
// Ways of all pairs on CUDA that take less time for a pair than others, and longer to begin:
// whether a job is too short for them. Pure functions of its shape.

#include <algorithm>

#include <gpu/index.hpp>

#include "base/keep_range.hpp"
#include "plan/machine_costs.hpp"
#include "stats/significance/correlation_test.hpp"

namespace gpu::inline v0::detail {

/// Whether pairs are fewer than a tile for each multiprocessor: then even the sample of a screen,
/// or packing rows anew, takes longer than they do.
constexpr bool is_short_for_packing(double pairs, const cuda_costs& machine = default_cuda_costs) {
  return pairs <= machine.pairs_at_once;
}

/// Whether tiles of `cols` ranks count so many pairs before they were counted class by class.
constexpr bool is_short_for_classes(double pairs, index_t cols,
                                    const cuda_costs& machine = default_cuda_costs) {
  const index_t steps = (cols + 31) / 32;
  const double of_tiles = machine.rank_pair + static_cast<double>(steps) * machine.rank_step;
  const double saved = of_tiles * (1 - 1 / machine.pairs_of_classes);
  return pairs * saved < machine.class_start;
}

/// Whether tiles of unit rows in halves find the edges among so many pairs before a screen does.
constexpr bool is_short_for_unit_screens(double pairs,
                                         const cuda_costs& machine = default_cuda_costs) {
  const double saved = machine.half_pair / 2;
  return pairs * saved < machine.screen_start;
}

/// Whether so many rows have all their pairs decided before the patterns among them are found.
constexpr bool is_short_for_folding(double rows, const cuda_costs& machine = default_cuda_costs) {
  return rows * rows / 2 * machine.screened_pair < machine.fold_start + rows * machine.fold_row;
}

/// Whether the edges of unit rows of so few columns are found sooner by products in double than by
/// products in halves, whose error of `half_error` leaves many pairs near the cut to be decided
/// again. Rows are taken to be independent.
inline bool takes_doubles(double pairs, index_t cols, const keep_range& keep, double half_error,
                          const cuda_costs& machine = default_cuda_costs) {
  constexpr index_t most_cols = 8;  // of which a pair in doubles takes machine.double_pair
  const double cut = std::min({keep.at_least, -keep.at_most, 1.0});
  if (cols < 3 || cols > most_cols || !(cut > half_error)) return false;
  const auto share_beyond = [cols](double magnitude) {
    return stats::p_value(magnitude, cols, tail::two_sided);
  };
  const double near = share_beyond(cut - half_error) - share_beyond(cut);
  const double halves = pairs * (machine.half_pair + near * machine.half_candidate);
  return machine.double_start + pairs * machine.double_pair < halves;
}

}  // namespace gpu::inline v0::detail
