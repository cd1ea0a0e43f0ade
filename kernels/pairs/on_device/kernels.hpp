#pragma once
// Host-callable launches of all pairs whose input or results are in device memory. Asynchronous on
// `stream`; no allocation, no synchronisation, and their shapes depend on extents alone.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include <gpu/index.hpp>
#include <gpu/matrix_view.hpp>

#include "base/index_range.hpp"
#include "kernels/pairs/kernels.hpp"

namespace gpu::kernels {

/// Writes `bytes` (a multiple of 4) of host memory to device memory, as arguments of launches: the
/// host memory is not needed any more once this returns, nor does anything wait for the stream.
void launch_store(const void* from, std::size_t bytes, void* to, cudaStream_t stream);

// ---- how many pairs have a statistic ----------------------------------------------------------

/// Rows that have a statistic.
struct valid_rows {
  unsigned long long in_rows;  ///< Among the rows of an area.
  unsigned long long behind;   ///< Among its columns behind these rows.
  unsigned long long in_all;   ///< Among all rows of the input.
};
/// Pairs of an area that have a statistic.
GPU_SIMILARITY_HOST_DEVICE inline std::uint64_t tested_pairs(const valid_rows& valid,
                                                             bool is_against) {
  const std::uint64_t own = valid.in_rows;
  const std::uint64_t among =
      own % 2 == 0 ? own / 2 * (own - (own > 0 ? 1 : 0)) : own * ((own - 1) / 2);
  return (is_against ? 0 : among) + own * valid.behind;
}
/// Fills *valid.
void launch_count_valid(const std::int64_t* square_sums, index_t count, detail::index_range rows,
                        detail::index_range cols, valid_rows* valid, cudaStream_t stream);

// ---- counts -----------------------------------------------------------------------------------

/// What counts add up. Zeros before the first of them.
struct count_state {
  unsigned long long kept;  ///< Pairs that the tiles count.
  unsigned long long ends;  ///< Twice the pairs that the kernels that count degrees count.
  valid_rows valid;
  unsigned long long blocks_done;  ///< Of the launch that writes counts.
};
/// Counts, and where they are written; pointers to nothing are null.
struct written_counts {
  const std::int64_t* square_sums;
  index_t count;             ///< Rows of the input.
  detail::index_range rows;  ///< Of the area.
  detail::index_range cols;
  bool is_against;
  count_state* state;
  const std::uint32_t* degree;     ///< [count]
  const unsigned long long* bins;  ///< [histogram_bins]
  std::uint32_t* x_degree;
  index_t x_rows;
  std::uint32_t* y_degree;
  index_t y_rows;
  std::uint64_t* histogram;
  index_t histogram_bins;
  /// [3] Pairs that have a statistic, kept pairs, rows of the input without a statistic.
  std::uint64_t* totals;
};
void launch_write_counts(const written_counts& counts, cudaStream_t stream);

// ---- edges ------------------------------------------------------------------------------------

/// Numbers that the steps of a list of edges hand on.
struct edge_state {
  unsigned long long queued;  ///< Pairs put into the queue, also past its capacity.
  unsigned long long found;   ///< Kept pairs, once they have been counted.
  index_t end_row;            ///< Rows below are looked at by the next pass of tiles.
};

/// What a screen has found.
struct screen_state {
  std::uint64_t candidates;  ///< Of a slice.
  std::uint64_t kept;        ///< Of all slices so far; in the end 0 where they did not fit.
};

/// Behind a slice of a screen, whose candidates fit `capacity` or end it.
void launch_next_slice(screen_state* screen, std::uint64_t capacity, cudaStream_t stream);
/// Behind the last: whether the kept pairs are all there and fit the queue; if so, the tiles have
/// nothing to do, else all `rows` rows.
void launch_note_screened(screen_state* screen, std::uint64_t queue, index_t rows,
                          edge_state* state, cudaStream_t stream);
/// Behind the first pass of tiles: notes how many edges there are, with those of a screen where it
/// is not null, and where they overflowed the queue sets it up for a second pass over all `rows`
/// rows.
void launch_note_found(edge_state* state, const screen_state* screen, std::uint64_t queue,
                       index_t rows, cudaStream_t stream);
/// Behind the second pass, of which `per_row` has the counts: the rows whose edges come first, so
/// that they hold `capacity` edges or more, and at most a row more than needed. `sums` is memory
/// for as many sums, scratch for limit_scratch_bytes().
std::size_t limit_scratch_bytes(index_t rows);
void launch_limit_rows(edge_state* state, const unsigned long long* per_row,
                       unsigned long long* sums, index_t rows, std::uint64_t capacity,
                       std::uint64_t queue, void* scratch, std::size_t scratch_bytes,
                       cudaStream_t stream);

}  // namespace gpu::kernels
