#pragma once
// Host-callable launches around the edges of all pairs: a sample of real pairs, decided candidates
// in order, and finished edges. Asynchronous on `stream`.

#include <cuda_runtime_api.h>

#include <cstdint>

#include <gpu/pair_sinks.hpp>

#include "kernels/pairs/kernels.hpp"
#include "kernels/pairs/screen/kernels.hpp"
#include "kernels/pairs/sides.hpp"
#include "kernels/pairs/sinks/kernels.hpp"
#include "plan/screen_choice.hpp"
#include "stats/significance/p_table.hpp"

namespace gpu::kernels {

// ---- a sample of real pairs -------------------------------------------------------------------

/// Pairs of rows drawn at random, each pair of the sides as likely as any other. Of a part of one
/// table, some of the draws find no pair.
struct sample_request {
  pair_tile_kind tile;
  pair_operand rows;  ///< Every row of the input.
  row_sides sides;
  std::uint64_t pairs;
  detail::pair_cut keep;
  /// Magnitudes of the statistic to count the pairs above.
  double magnitudes[detail::most_screens];
};
/// What a sample found. Zeros before the launch.
struct sample_counts {
  unsigned long long valid;  ///< Pairs that have a statistic.
  unsigned long long kept;
  unsigned long long above[detail::most_screens];
};
/// Whether rows prepared for `tile` can be sampled.
bool can_sample(pair_tile_kind tile);
/// The same pairs of the same rows on every call.
void launch_sample_pairs(const sample_request& request, sample_counts* counts, cudaStream_t stream);

// ---- edges ------------------------------------------------------------------------------------

/// Entries [0, count) of a queue: a key of `layout` and the statistic's bits, each.
struct decided_edges {
  const std::uint64_t* keys;
  const std::uint64_t* statistics;
  edge_key_layout layout;
  /// In device memory, the entries that there are where the host does not know it. Null: all that
  /// are asked for.
  const unsigned long long* found = nullptr;
};

/// Writes entries [first, first + count), as far as they are there, as edges, with p where `p_of`
/// has a table; and their checksum, unless it is null.
void launch_write_edges(const decided_edges& from, std::uint64_t first, std::uint64_t count,
                        const stats::p_function& p_of, edge* out, pair_checksum* checksum,
                        cudaStream_t stream);

/// The statistics of `rows` rows with `cols` columns, row by row without gaps.
struct statistic_matrix {
  const double* statistics;
  index_t rows;
  index_t cols;
  index_t first_row;  ///< Number of row 0 in the whole input, and of column 0.
  index_t first_col;
};
/// Statistics that launch_select_edges takes: it counts them in 30 bits.
inline constexpr index_t most_selected_statistics = (index_t{1} << 30) - 1;
/// Where edges of a matrix are written: whole, or as entries of a queue.
struct selected_edges {
  edge* edges = nullptr;                ///< [capacity], or null.
  std::uint64_t* keys = nullptr;        ///< [capacity], of `layout`; where there are no `edges`.
  std::uint64_t* statistics = nullptr;  ///< [capacity], their bits.
  edge_key_layout layout = {};
  std::uint64_t capacity = 0;
  unsigned long long* found = nullptr;     ///< Kept pairs; not written where the matrix is empty.
  std::uint32_t* kept_by_block = nullptr;  ///< [select_blocks(rows * cols)], zeros before it.
};
index_t select_blocks(index_t statistics);
/// Writes the kept pairs above the diagonal in order, the first `capacity` of them, with p where
/// `p_of` has a table.
void launch_select_edges(const statistic_matrix& from, const detail::keep_range& keep,
                         const stats::p_function& p_of, const selected_edges& to,
                         cudaStream_t stream);

/// Whether the keys of a layout are places of packed_edges.
[[nodiscard]] constexpr bool fits_places(const edge_key_layout& layout) {
  return layout.bits <= 33;  // one of them is for dropped keys
}
/// What packed_edges point at, each [count], and their checksum.
struct packed_target {
  std::uint64_t* statistics;
  std::uint32_t* places;
  pair_checksum* checksum;
};
/// Writes entries [first, first + count) of a layout that fits as packed edges.
void launch_pack_edges(const decided_edges& from, std::uint64_t first, std::uint64_t count,
                       const packed_target& out, cudaStream_t stream);

/// Keys and statistics of `count` pairs that a screen found; with `there`, in device memory, of so
/// many of them.
void launch_key_screened(const screened_edge* found, std::uint64_t count,
                         const std::uint64_t* there, const edge_key_layout& layout,
                         std::uint64_t* keys, std::uint64_t* statistics, cudaStream_t stream);

/// Counts `count` pairs that a screen found: in all, per row, and in `histogram_bins` bins over
/// [-1, 1]; with weights as count_sink_args.
struct screened_counts {
  unsigned long long* kept;
  std::uint32_t* degree;         // [rows of the input]
  const std::uint32_t* weights;  // [rows of the input], or null: ones
  unsigned long long* histogram;
  index_t histogram_bins;
};
void launch_count_screened(const screened_edge* found, std::uint64_t count,
                           const screened_counts& into, cudaStream_t stream);

}  // namespace gpu::kernels
