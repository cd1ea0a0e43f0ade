#pragma once
// The pairs that a cut keeps: of a block, of those that a device found, and of a walk.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "base/round_up.hpp"
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
  detail::parallel_for(tasks, threads, [&](index_t task, int thread) {
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

/// The same for pairs that a device found.
template <class Take>
void for_each_kept(const screened_pairs& found, const stats::difference_cut& cut, int threads,
                   const Take& take) {
  const index_t rows = found.rows.size();
  detail::parallel_for(ceil_div(rows, rows_per_task), threads, [&](index_t task, int thread) {
    const index_t end = std::min(rows, (task + 1) * rows_per_task);
    for (index_t i = task * rows_per_task; i < end; ++i) {
      const auto row = static_cast<std::size_t>(i);
      for (std::uint64_t at = found.begin[row]; at < found.begin[row + 1]; ++at) {
        const double first = found.first[at];
        const double second = found.second[at];
        const auto verdict = cut.decide(first, second);
        if (!verdict.is_kept) continue;
        take(found.rows.begin + i, index_t{found.cols[at]}, thread, verdict, first, second);
      }
    }
  });
}

/// The same for the pairs of the panel of a walk with all later rows. begin_rows(rows) is called
/// before pairs of these rows are given: of rows ascending, several times for one range. Pairs that
/// are surely kept are counted in `degrees`, [rows], in place of being given, where it is not null
/// and where that takes less time.
template <class BeginRows, class Take>
void for_each_kept(const difference_walk& walk, const stats::difference_cut& cut,
                   std::vector<std::uint32_t>* degrees, const BeginRows& begin_rows,
                   const Take& take) {
  if (difference_engine* const device = walk.on_device()) {
    device->find_later(walk.panel(), cut.screen(), degrees, [&](const screened_pairs& found) {
      begin_rows(found.rows);
      for_each_kept(found, cut, walk.threads(), take);
    });
    return;
  }
  walk.for_each_block([&](const statistics_block& block) {
    begin_rows(block.rows);
    for_each_kept(block, cut, walk.threads(), take);
  });
}

}  // namespace gpu::inline v0::detail
