#pragma once
// Host-callable launches of the neighbour search: the k best partners of every row from the maxima
// of its products with groups of rows, which the tensor cores find.

#include <cuda_runtime_api.h>

#include <cstdint>

#include <gpu/index.hpp>
#include <gpu/pair_sinks.hpp>

#include "kernels/pairs/kernels.hpp"
#include "plan/neighbor_policy.hpp"

namespace gpu::kernels {

/// Unit rows in half precision, packed for the tensor cores; device memory of the caller.
struct neighbor_rows {
  int depth;            ///< Bytes of a packed row: 64, 128, 192 or 256.
  index_t rows;         ///< Rows that are packed.
  index_t padded_rows;  ///< A multiple of neighbor_row_multiple, at least rows.
  std::uint8_t* tiles;  ///< [padded_rows * depth]
  index_t first = 0;    ///< The first of them, in the input.
};

/// Fills `packed` from int8 ranks (`source.unit_rows` null) or from unit rows; `source` describes
/// every row of the input. Rows without a statistic become NaN, and no maximum sees them.
void launch_neighbor_pack(const pair_operand& source, const neighbor_rows& packed,
                          cudaStream_t stream);

/// A block of left rows and the maxima of its rows over each group of the right rows.
struct neighbor_block {
  neighbor_rows left;     ///< What its rows are of; may be the right rows themselves.
  index_t first;          ///< Among them; a multiple of neighbor_row_multiple.
  index_t count;          ///< Rows; a multiple of neighbor_row_multiple, padding included.
  std::uint16_t* maxima;  ///< [count, pitch] half precision, by packed position; NaN: no statistic
  index_t pitch;          ///< A multiple of 8, at least the number of groups.
};

constexpr index_t neighbor_groups(const neighbor_rows& packed) {
  return packed.padded_rows / neighbor_group_rows;
}

/// Fills the maxima of a block with the rows of `packed`: of |r|, r or -r as `key` says. Only on
/// devices of compute capability 9.0.
void launch_neighbor_maxima(const neighbor_rows& packed, const neighbor_block& block,
                            detail::bin_key key, int multiprocessors, cudaStream_t stream);

/// The same by mma.sync, on every device.
void launch_neighbor_maxima_mma(const neighbor_rows& packed, const neighbor_block& block,
                                detail::bin_key key, cudaStream_t stream);

/// What is asked of the lists.
struct neighbor_query {
  detail::bin_key key;  ///< What neighbours are ordered by, descending; of the kept ones.
  index_t k;            ///< At most neighbor_most_listed.
  double at_least;      ///< Kept: statistic >= at_least or <= at_most.
  double at_most;
  double certain;  ///< Keys from here on are kept for certain.
  double floor;    ///< Keys below are dropped for certain.
};

/// The lists of a block's rows.
struct neighbor_result {
  std::uint32_t* index;  ///< [count, k], counted from the first right row; ~0 behind the last
  double* statistic;     ///< [count, k]; NaN behind the last
  std::uint32_t* count;  ///< [count]
};

/// How the groups of a row are shared out: one warp looks at all of them, or, with what
/// launch_thin_maxima left, so many warps at a slice each.
struct neighbor_slices {
  const float* bounds = nullptr;  ///< [rows of the block]; null: one slice
  int count = 1;                  ///< At most neighbor_most_slices.
};
inline constexpr int neighbor_most_slices = 64;

/// The lists of the block's rows, exact: ties to the lowest partner. No row is its own partner.
/// With slices there is a list for each of them, those of a row one behind the other.
void launch_neighbor_choice(const pair_operand& source, const neighbor_rows& packed,
                            const neighbor_block& block, const neighbor_query& query,
                            const neighbor_result& result, cudaStream_t stream,
                            const neighbor_slices& slices = {});

// ---- long rows --------------------------------------------------------------------------------

/// Estimates of the statistics of a block of rows with all columns; NaN where there is none.
struct estimate_block {
  const float* estimates;  ///< [rows, cols]
  index_t rows;
  index_t cols;
  index_t first_row;  ///< Numbers of row 0 and column 0 in the input.
  index_t first_col;
  float error;  ///< What an estimate is off by at most.
};

/// The lists of the block's rows, exact, as launch_neighbor_choice has them; `source` is of unit
/// rows, or of ranks in limbs (`source.unit_rows` null).
void launch_estimate_choice(const pair_operand& source, const estimate_block& block,
                            const neighbor_query& query, const neighbor_result& result,
                            cudaStream_t stream);

// ---- few left rows ----------------------------------------------------------------------------

/// Fills the maxima of a block of few left rows, in the order of the rows, and for each row a lower
/// bound of the k-th largest of them. Nothing is packed: of `packed` and `block.left` only the rows
/// count, and tiles are null. `bounds` [block.count].
void launch_thin_maxima(const pair_operand& source, const neighbor_rows& packed,
                        const neighbor_block& block, const neighbor_query& query, float* bounds,
                        int multiprocessors, cudaStream_t stream);

/// The lists of `rows` rows from those of their `count` slices.
void launch_merge_slices(const neighbor_result& slices, int count, index_t rows,
                         const neighbor_query& query, const neighbor_result& result,
                         cudaStream_t stream);

// ---- from whole rows of statistics ------------------------------------------------------------

/// A block of whole rows of statistics, [rows, cols].
struct statistic_block {
  const double* statistics;
  index_t rows;
  index_t cols;
  index_t first_row;  ///< Numbers of row 0 and column 0 in the input.
  index_t first_col;
};
/// keys[i, j] orders the partners of row i, largest first; NaN where the pair is not kept, or is a
/// row with itself. By value, `keys` may be the block's own memory. `square_sums` are those of all
/// rows of the input.
void launch_partner_keys(const statistic_block& block, const detail::pair_cut& keep,
                         const std::int64_t* square_sums, neighbor_order order, double* keys,
                         cudaStream_t stream);
/// Writes the lists of a block, k entries each, from the best `entries` keys of each row and their
/// columns, [rows, entries].
void launch_write_partners(const statistic_block& block, const double* best, const index_t* columns,
                           index_t entries, index_t k, const neighbor_result& lists,
                           cudaStream_t stream);

}  // namespace gpu::kernels
