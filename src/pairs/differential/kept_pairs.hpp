#pragma once
// The pairs of a block that a cut keeps.

#include <algorithm>

#include "base/parallel.hpp"
#include "pairs/differential/difference_walk.hpp"
#include "stats/correlation_difference.hpp"

namespace gpu::inline v0::detail {

/// Rows that a thread takes at a time.
inline constexpr index_t rows_per_task = 16;

/// take(row, col, thread, verdict, first, second) for the pairs of a block that `cut` keeps, of a
/// row by one thread and with ascending columns.
template <class Take>
void for_each_kept(const statistics_block& block, const stats::difference_cut& cut, int threads,
                   const Take& take) {
  const index_t tasks = (block.rows.size() + rows_per_task - 1) / rows_per_task;
  cpu::parallel_for(tasks, threads, [&](index_t task, int thread) {
    const index_t end = std::min(block.rows.size(), (task + 1) * rows_per_task);
    for (index_t i = task * rows_per_task; i < end; ++i) {
      const double* const first = block.first + i * block.cols.size();
      const double* const second = block.second + i * block.cols.size();
      for (index_t j = block.first_col(block.rows.begin + i); j < block.cols.size(); ++j) {
        if (!cut.may_keep(first[j], second[j])) continue;
        const auto verdict = cut.decide(first[j], second[j]);
        if (!verdict.is_kept) continue;
        take(block.rows.begin + i, block.cols.begin + j, thread, verdict, first[j], second[j]);
      }
    }
  });
}

}  // namespace gpu::inline v0::detail
