#pragma once
// How the CPU's top_k shares rows, and parts of a row, among threads.

#include <algorithm>
#include <vector>

#include <gpu/index.hpp>

#include "base/first_failure.hpp"
#include "base/poll_progress.hpp"

namespace gpu::cpu {

/// A part of a row that is worth a thread.
inline constexpr index_t least_part = 32768;

/// The results of select(begin, end) for contiguous parts of [0, n), in order: one part a thread,
/// but none smaller than least_part.
template <class Select>
auto select_in_parts(index_t n, int threads, const Select& select) {
  using result = decltype(select(index_t{0}, n));
  const auto parts =
      static_cast<int>(std::clamp<index_t>(n / least_part, 1, static_cast<index_t>(threads)));
  std::vector<result> found(static_cast<std::size_t>(parts));
  first_failure failure;
#pragma omp parallel for num_threads(parts) schedule(static, 1) if (parts > 1)
  for (int part = 0; part < parts; ++part) {
    failure.run([&] {
      const index_t begin = n / parts * part;
      const index_t end = part + 1 == parts ? n : begin + n / parts;
      found[static_cast<std::size_t>(part)] = select(begin, end);
    });
  }
  failure.rethrow();
  return found;
}

/// Calls select(row, threads) for each row: a thread a row where there are enough of them, else one
/// row after the other with all threads. Polls the call's progress before each.
template <class Select>
void for_each_row(index_t rows, int threads, const Select& select) {
  const bool rows_in_parallel = rows >= threads;
  const int outer = rows_in_parallel ? threads : 1;
  const int inner = rows_in_parallel ? 1 : threads;
  first_failure failure;
#pragma omp parallel for num_threads(outer) schedule(dynamic, 16) if (outer > 1)
  for (index_t i = 0; i < rows; ++i) {
    failure.run([&] {
      detail::poll_progress();
      select(i, inner);
    });
  }
  failure.rethrow();
}

}  // namespace gpu::cpu
