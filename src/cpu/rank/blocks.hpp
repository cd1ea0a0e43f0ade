#pragma once
// Shares the rows of a matrix out over threads; each has a row_ranker.

#include <algorithm>

#include "base/parallel.hpp"
#include "base/poll_progress.hpp"
#include "cpu/platform/large_pages.hpp"
#include "cpu/rank/row_ranker.hpp"

namespace gpu::cpu {

/// Ranks every row: `sink` gets the counts as row_ranker says, then
/// `finish(first, last)` once the rows [first, last) of a block are done. Both are called from
/// several threads, each row from one. Rethrows the first exception of a thread, or of the call's
/// progress callback, which is polled between blocks. Each row of the
/// result takes `row_bytes`.
template <class T, class Sink, class Finish>
void rank_blocks(matrix_view<const T> data, tie_method ties, rank_order order, rank_variant variant,
                 int threads, index_t row_bytes, Sink&& sink, Finish&& finish) {
  const index_t rows = data.rows();
  // A long row is a block of its own, so that few of them still keep every thread busy.
  const bool is_counting = variant == rank_variant::counting;
  const index_t block_rows = is_counting ? counting_block_rows : 1;
  const index_t least_share = is_counting ? 4 : 1;
  const index_t blocks = (rows + block_rows - 1) / block_rows;
  const int team = detail::thread_count(threads);
  const index_t share =
      std::max(least_share, rows_of_large_page(rows, row_bytes, team) / block_rows);
  detail::parallel_for_with((blocks + share - 1) / share, team,
                            [&](int) { return row_ranker<T>(data, ties, order, variant); },
                            [&](row_ranker<T>& ranker, index_t task) {
                              for (index_t block = task * share;
                                   block < std::min(blocks, (task + 1) * share); ++block) {
                                detail::poll_progress();
                                const index_t first = block * block_rows;
                                const index_t last = std::min(rows, first + block_rows);
                                ranker.rank(first, last, sink);
                                finish(first, last);
                              }
                            });
}

}  // namespace gpu::cpu
