#pragma once
// How the CPU's top_k shares rows, and parts of a row, among threads.

#include <algorithm>
#include <vector>

#include <gpu/index.hpp>

#include "base/parallel.hpp"
#include "base/poll_progress.hpp"
#include "cpu/platform/scratch_limit.hpp"

namespace gpu::cpu {

/// A part of a row that is worth a thread.
inline constexpr index_t least_part = 32768;

/// Into how many parts select_in_parts cuts a row.
inline int part_count(index_t n, int threads) {
  return static_cast<int>(std::clamp<index_t>(n / least_part, 1, static_cast<index_t>(threads)));
}

/// Whether rows have a thread each, rather than all threads for each row.
inline bool has_row_for_each(index_t rows, int threads) {
  return rows >= threads;
}

/// The most threads, at most `threads`, whose scratch the limit holds. `row_bytes(n, threads)` is
/// what a row takes that is selected by so many threads, and does not fall with them.
template <class RowBytes>
int select_threads(const execution& exec, const char* what, index_t rows, int threads,
                   const RowBytes& row_bytes) {
  if (exec.workspace_bytes == 0) return threads;
  const auto bytes = [&](int team) {
    return has_row_for_each(rows, team) ? static_cast<std::size_t>(team) * row_bytes(1)
                                        : row_bytes(team);
  };
  while (threads > 1 && bytes(threads) > exec.workspace_bytes) --threads;
  return threads_within(exec, what, threads, {.fixed = bytes(threads)});
}

/// The results of select(begin, end) for contiguous parts of [0, n), in order: one part a thread,
/// but none smaller than least_part.
template <class Select>
auto select_in_parts(index_t n, int threads, const Select& select) {
  using result = decltype(select(index_t{0}, n));
  const int parts = part_count(n, threads);
  std::vector<result> found(static_cast<std::size_t>(parts));
  detail::parallel_for(parts, threads, [&](index_t part, int) {
    const index_t begin = n / parts * part;
    const index_t end = part + 1 == parts ? n : begin + n / parts;
    found[static_cast<std::size_t>(part)] = select(begin, end);
  });
  return found;
}

/// Calls select(row, threads) for each row: a thread a row where there are enough of them, else one
/// row after the other with all threads. Polls the call's progress before each.
template <class Select>
void for_each_row(index_t rows, int threads, const Select& select) {
  const bool rows_in_parallel = has_row_for_each(rows, threads);
  const int outer = rows_in_parallel ? threads : 1;
  const int inner = rows_in_parallel ? 1 : threads;
  constexpr index_t rows_at_once = 16;
  detail::parallel_for_ranges(rows, rows_at_once, outer, [&](detail::index_range some, int) {
    for (index_t i = some.begin; i < some.end; ++i) {
      detail::poll_progress();
      select(i, inner);
    }
  });
}

}  // namespace gpu::cpu
