#pragma once
// Ways of all pairs on CUDA that take less time for a pair than others, and longer to begin:
// whether a job is too short for them, or for CUDA at all. Pure functions of its shape.

#include <algorithm>

#include <gpu/index.hpp>

#include "base/keep_range.hpp"
#include "pairs/measures/measures.hpp"
#include "plan/machine_costs.hpp"
#include "stats/significance/significance.hpp"

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

// ---- which backend ends a job first -----------------------------------------------------------

/// All pairs of rows in host memory.
struct job_shape {
  index_t rows;  ///< Of the table, or of x and y.
  index_t cols;
  double pairs;
};

/// Seconds, without what delivers the result, which is the same for both.
struct backend_seconds {
  double cpu;
  double cuda;
  double cuda_start;  ///< More, in a process that has not used the device yet.
};

/// For backend::automatic.
inline backend_seconds seconds_of(const measure_traits& what, const job_shape& job, int threads,
                                  const cpu_costs& cpu,
                                  const cuda_costs& cuda = default_cuda_costs) {
  constexpr double nanosecond = 1e-9;
  constexpr index_t most_int8_ranks = 128;
  const auto columns = static_cast<double>(what.packed_cols(job.cols));
  const double elements = static_cast<double>(job.rows) * columns;
  const bool are_ranks = packs_ranks(what);
  const bool are_bytes = are_ranks && job.cols <= most_int8_ranks;

  const double rank_column = are_bytes && cpu.int8 > 0 ? cpu.int8 : cpu.int16;
  const double of_pair =
      are_ranks ? columns * rank_column + cpu.filter + cpu.count : columns * cpu.float64 + cpu.clip;
  const double of_element = are_ranks ? cpu.ranking : cpu.packing;
  const double work = job.pairs * of_pair + elements * of_element;

  const double steps = static_cast<double>((job.cols + 31) / 32);
  const double cuda_pair = are_bytes ? cuda.rank_pair + steps * cuda.rank_step
                                     : cuda.rank_pair + columns / cuda.card_double_rate();
  return {.cpu = cpu.call + work / threads * nanosecond,
          .cuda = cuda.host_call + elements * cuda.host_element + job.pairs * cuda_pair,
          .cuda_start = cuda.context_start};
}

}  // namespace gpu::inline v0::detail
