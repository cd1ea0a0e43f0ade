#pragma once
// Host-callable launches of the all-pairs kernels. Asynchronous on `stream`.
//
// A launch combines a tile (how products of pairs of rows are computed) with a sink (what is done
// with them); any tile goes with any sink. A product is an exact int64 (Spearman) or a double
// (Pearson).

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>

#include <gpu/index.hpp>
#include <gpu/matrix_view.hpp>

#include "base/keep_range.hpp"
#include "plan/pair_policy.hpp"
#include "plan/products/product_policy.hpp"
#include "stats/significance/kendall_decision.hpp"
#include "stats/significance/p_table.hpp"
#include "stats/statistic.hpp"
#include "stats/unit_rows.hpp"

namespace gpu::kernels {

// ---- operands ---------------------------------------------------------------------------------

/// How products are computed; docs/spearman.md compares them.
enum class pair_tile_kind {
  naive_spearman,   // rows: double values
  naive_pearson,    // rows: double values
  shared_int8,      // rows: int8 centred ranks
  shared_double,    // rows: unit rows, see unit_row_layout
  tensor_int8,      // rows: int8 centred ranks, pitch 32, 64 or 128
  tensor_limbs,     // rows: int8 limbs of the centred ranks
  tensor_float,     // rows: unit rows, each double as two tf32 floats
  tensor_double,    // rows: unit rows, see unit_row_layout
  tensor_half,      // rows: unit rows in half precision, pitch 32 or 64; for candidates alone
  products_double,  // rows: unit rows, see unit_row_layout; panels with memory for products
  products_limbs,   // rows: limbs of the centred ranks in planes, see launch_pack_planes; likewise
  products_half,    // rows: unit rows in two halves, see half_plane_rows; likewise
  pairwise_ranks,   // rows: pairwise_rank_layout; panels with memory for products and a decision
  pairwise_values,  // rows: pairwise_value_layout; likewise
  signs             // rows: sign_row_layout; panels with memory for products and a tied decision
};
/// Whether rows have missing values.
constexpr bool is_pairwise(pair_tile_kind tile) {
  return tile == pair_tile_kind::pairwise_ranks || tile == pair_tile_kind::pairwise_values;
}
/// Whether a kernel writes finished statistics, or what stands for them, to the memory for
/// products.
constexpr bool finishes_statistics(pair_tile_kind tile) {
  return is_pairwise(tile) || tile == pair_tile_kind::signs;
}

/// Whether rows lie in planes, each the same columns of all rows.
constexpr bool takes_planes(pair_tile_kind tile) {
  return tile == pair_tile_kind::products_limbs || tile == pair_tile_kind::products_half;
}

/// Norm of a row and its inverse. NaN for a row without a statistic, so that every comparison with
/// its estimates is false. 1 for Pearson, whose rows have unit length.
struct row_norm {
  float norm;
  float inverse;
};

/// Where element k of a unit row lies: the eight partial sums of stats/unit_rows.hpp one after
/// the other, in the order that adds them up as a balanced tree.
struct unit_row_layout {
  index_t segment;  // elements of a partial sum, zeros at its end
  explicit constexpr unit_row_layout(index_t cols) : segment((cols + 7) / 8) {
    if (cols >= policy::product_least_columns) segment += segment % 2;
  }
  [[nodiscard]] constexpr index_t pitch() const { return 8 * segment; }
};

/// A contiguous range of the prepared rows in device memory.
struct pair_operand {
  const void* values = nullptr;  // [count, pitch]
  index_t pitch = 0;             // elements from one row to the next
  index_t columns = 0;           // elements of a row, padding included where the tile needs it
  int limbs = 1;                 // tensor_limbs: limbs of a row, each `columns` long
  index_t plane_rows = 0;        // of planes: rows of one; row i of the panel is first + i
  detail::row_centre centre = detail::row_centre::mean;  // naive_pearson
  const row_norm* norms = nullptr;                       // [count]
  const std::int64_t* square_sums = nullptr;             // [count]; <= 0: the row has no statistic
  const double* unit_rows = nullptr;  // Pearson: [count, unit_pitch], see unit_row_layout
  index_t unit_pitch = 0;
  index_t first = 0;  // number of row 0 in the whole input
  index_t count = 0;
};

/// Which pairs of a panel are taken.
enum class pair_region {
  above_diagonal,  // i < j
  whole            // every element, the diagonal too (dense only)
};

/// How products lie in memory, seen from the panel that reads them.
enum class product_order {
  direct,      ///< Row by row.
  transposed,  ///< Column by column.
  mirrored     ///< Row by row, the blocks below the diagonal column by column.
};

/// Memory for the products of the tiles products_*, which launch_pairs fills; and how a piece of a
/// panel finds its own there: part p of the sum of pair (i, j) at sums[first + p * part_step +
/// i * pitch + j], of the type that the tile has: doubles, or floats for products_half, or int32
/// for products_limbs, whose part (a limbs + b) splits + s is of limb a of i with limb b of j.
struct product_memory {
  double* sums = nullptr;
  index_t capacity = 0;  ///< Doubles, at least policy::least_product_elements.
  index_t first = 0;
  index_t pitch = 0;
  index_t part_step = 0;
  int parts = 0;
  product_order order = product_order::direct;
  /// Of statistics by classes that cuts decide: a bit for each place of sums, set where a pair is
  /// kept; the other places hold nothing. Null: every place holds a statistic, NaN where dropped.
  std::uint32_t* kept = nullptr;
};
/// Places of sums that a word of `kept` has bits for.
inline constexpr index_t places_of_word = 32;

/// What the tiles pairwise_* write of a pair that shares n columns, in place of its statistic: NaN
/// where it has none, or where cuts[n - least] drops it; or p by tables[n - least], and
/// detail::no_p where it has none.
struct pairwise_decision {
  index_t min_observations = 0;
  index_t least = 0;
  const detail::keep_range* cuts = nullptr;
  const stats::p_table* tables = nullptr;
  tail side = tail::two_sided;

  // One of the two at most.
  [[nodiscard]] GPU_SIMILARITY_HOST_DEVICE constexpr bool drops_pairs() const {
    return cuts != nullptr;
  }
  [[nodiscard]] GPU_SIMILARITY_HOST_DEVICE constexpr bool writes_p() const {
    return tables != nullptr;
  }
};

/// Rows with missing values of which many have the same columns: those are a class. What a row adds
/// to its pairs with the rows of one class is the same for all of them, and is computed once. Rows
/// are numbered in the whole input; [row, class] is row * count + class.
struct mask_classes {
  int count = 0;                          ///< 0: every pair is computed on its own.
  const std::uint16_t* of_row = nullptr;  ///< [rows]
  const std::uint32_t* shared = nullptr;  ///< [count, count] columns that two classes share
  const double2* sums = nullptr;          ///< Of values, [row, class]: sum, and 1 / sqrt(variance).
  const double* variances = nullptr;      ///< The same: shared_variance. Both NaN where that does
                                          ///< not tell.
  const double* values = nullptr;      ///< [rows, value_pitch]: those that sums take, in `order`.
  index_t value_pitch = 0;             ///< Zeros behind the last column.
  const std::int8_t* ranks = nullptr;  ///< Of ranks, [row, class, limbs, pitch]: centred, 0 where
                                       ///< a column is not shared.
  const std::int64_t* squares = nullptr;  ///< [row, class]: sum of their squares.
  const float* roots = nullptr;           ///< [row, class]: 1 / sqrt(squares), NaN of 0.
  const std::uint32_t* order = nullptr;   ///< [rows] the rows of each class, ascending.
  const std::uint32_t* begins = nullptr;  ///< [count + 1] where they begin in it.
  const std::uint32_t* places = nullptr;  ///< [rows] where each row is in it.
  int limbs = 1;                          ///< Of 7 bits that a rank takes.
  index_t pitch = 0;                      ///< Elements of a limb of a row, a multiple of 64.
  bool on_tensor_cores = false;           ///< Whether those of doubles multiply values.
};

/// A rectangle of the pair matrix.
struct pair_panel {
  pair_operand rows;
  pair_operand cols;
  pair_region region = pair_region::above_diagonal;
  product_memory products = {};
  pairwise_decision decision = {};
  stats::kendall_decision tied = {};  ///< Of the tile signs.
  mask_classes classes = {};          ///< Of the tiles pairwise_*.
};

// ---- sinks ------------------------------------------------------------------------------------

/// A keep_range as a test on float estimates e of the statistic, with a rigorous error margin:
/// d = |e - middle|; kept for certain where d >= certain, dropped for certain where d < possible.
struct cut_estimate {
  float middle;
  float possible;
  float certain;
  double at_least;  // the exact test: statistic >= at_least or <= at_most
  double at_most;
  detail::pair_cut by_ties = {};  // takes its place for Spearman where there are two
};
/// The test of estimates that are off by `error` at most. On host and device.
constexpr cut_estimate estimate_cut(const detail::keep_range& keep, double error) {
  cut_estimate out{.middle = 0,
                   .possible = -1,
                   .certain = -1,
                   .at_least = keep.at_least,
                   .at_most = keep.at_most};
  if (keep.at_least <= keep.at_most) return out;  // every statistic is kept
  // Beyond +-2 there is no statistic, and float arithmetic stays small.
  const double high = std::clamp(keep.at_least, -2.0, 2.0);
  const double low = std::clamp(keep.at_most, -2.0, 2.0);
  out.middle = static_cast<float>((high + low) / 2);
  out.possible = static_cast<float>((high - low) / 2 - error);
  out.certain = static_cast<float>((high - low) / 2 + error);
  return out;
}

/// The same of two tests: kept for certain where both of them keep it.
constexpr cut_estimate estimate_cut(const detail::pair_cut& cut, double error) {
  cut_estimate out = estimate_cut(cut.widest, error);
  if (cut.is_one()) return out;
  out.by_ties = cut;
  const detail::keep_range both = cut.narrowest();
  if (both.at_least <= both.at_most) return out;  // every statistic is kept
  const double high = std::clamp(both.at_least, -2.0, 2.0);
  const double low = std::clamp(both.at_most, -2.0, 2.0);
  const auto middle = static_cast<double>(out.middle);
  out.certain = static_cast<float>(std::max(high - middle, middle - low) + error);
  return out;
}

/// Where the bins of p begin, as keys of the statistic, for rows of ranks: bin_sink_args counts a
/// pair at the number of steps that its key reaches.
struct rank_steps {
  const double* untied =
      nullptr;                   ///< [bins + 1], ascending, of pairs of which neither row has ties;
  const double* tied = nullptr;  ///< [bins + 1], the same where either has. Null: no steps.
  std::int64_t untied_squares = 0;  ///< See detail::pair_cut.
  /// [tie_sums] the most steps that a pair with a row of such a tie sum reaches, whatever its key.
  const std::int32_t* most = nullptr;
  std::int64_t tie_sums = 0;
};

/// What a queue of candidates holds.
enum class queue_content {
  possible,  ///< The pairs that may be kept: launch_finish_candidates decides.
  kept       ///< Those that are.
};

/// Collects the pairs that may be kept, in no order: exact decisions follow in
/// launch_finish_candidates. `count` ends as the number there were, also past `capacity`.
struct candidate_sink_args {
  cut_estimate cut;
  std::uint64_t* keys = nullptr;      // row << 32 | col
  std::uint64_t* products = nullptr;  // bits of the int64 or double product
  std::uint64_t capacity = 0;
  unsigned long long* count = nullptr;
  queue_content content = queue_content::possible;
  // For queues of kept pairs alone.
  const index_t* end_row = nullptr;       // rows from *end_row on are left out; null: none is
  unsigned long long* per_row = nullptr;  // [rows of the whole input]: counts the pairs of each
                                          // row instead of storing any
};

/// Pairs whose statistics lie so near a cut that their estimates do not decide.
struct undecided_queue {
  std::uint64_t* keys = nullptr;  ///< [capacity] row << 32 | col
  std::uint64_t capacity = 0;
  unsigned long long* count = nullptr;  ///< Ends as the number there were, also past `capacity`.
};

/// Counts kept pairs, in all and per row; with the weights of detail::count_request
/// (Spearman alone).
struct count_sink_args {
  cut_estimate cut;
  unsigned long long* kept = nullptr;
  std::uint32_t* degree = nullptr;         // [rows of the whole input]
  const std::uint32_t* weights = nullptr;  // [rows of the whole input], or null: ones
  const std::uint32_t* done = nullptr;     // nothing is counted where *done is not 0
  // Of tiles whose products are no statistics: for launch_count_undecided. No keys: such pairs are
  // decided at once.
  undecided_queue undecided = {};
};

/// Bins the statistic of kept pairs: bins[0] counts x < low, bins[1 + b] bin b, bins[1 + count]
/// x >= high, as detail::bin_request says.
struct bin_sink_args {
  cut_estimate cut;
  detail::bin_key key;
  double low;
  double high;
  double scale;
  index_t count;
  float margin;  // largest error of a float estimate of the statistic
  unsigned long long* bins = nullptr;
  const std::uint32_t* weights = nullptr;  // as of count_sink_args; Spearman alone
  const std::uint32_t* done = nullptr;     // as of count_sink_args
  rank_steps steps = {};  // Spearman alone: these say where bins begin, the least of them is `low`
};

/// Writes every statistic: out[(i - first_row) * pitch + (j - first_col)], 1 on the diagonal, NaN
/// for rows without a statistic.
struct dense_sink_args {
  double* out_double = nullptr;  // one of the two
  float* out_float = nullptr;
  index_t pitch = 0;
  index_t first_row = 0;
  index_t first_col = 0;
};

/// Largest error of a tensor_float product of `columns` elements. |x_k y_k| sum to at most 1 over
/// unit rows. Splitting and leaving out low * low lose 3 * 2^-22 of that; code of 7.5 rounds the
/// four parts of a product by 2^-40 more (mma_tf32). A run of `run` columns is 3 run / 8 tensor
/// steps, each off by at most 10 units of 2^-23 of the run's own sum of |x_k y_k| (eight products,
/// the sum so far, the result), so all runs together by 3 run / 8 such units. The totals add one
/// rounding a run.
constexpr double tensor_float_margin(index_t columns, index_t run) {
  const double runs = static_cast<double>((columns + run - 1) / run);
  const double steps = 3.0 * static_cast<double>(columns < run ? columns : run) / 8;
  return 3 * 0x1p-22 + 0x1p-38 * static_cast<double>(columns) + 10 * 0x1p-23 * steps +
         0x1p-24 * runs;
}

/// The longest unit rows that tensor_half takes, and elements of one there, zeros at its end.
using policy::most_half_columns;
constexpr index_t half_pitch(index_t unit_pitch) {
  return unit_pitch <= 32 ? 32 : most_half_columns;
}
/// Largest error of a tensor_half product. Rounding moves an element x by at most |x| 2^-11, or by
/// 2^-25 where it is small, and so a unit row by e <= 2^-11 + 2^-22, and a product of two by
/// 2 e + e^2. Each tensor step is off by at most 18 units of 2^-23 of the sum of |x_k y_k| <= 1
/// (sixteen products, the sum so far, the result); code of 7.5 takes two of 10 units for it.
constexpr double half_margin(index_t unit_pitch) {
  const double steps = static_cast<double>(half_pitch(unit_pitch)) / 16;
  return 0x1p-10 + 0x1p-19 + 20 * 0x1p-23 * steps;
}

/// Launches a tile over a panel with one of the sinks above; tensor_half with the first alone.
template <class Sink>
void launch_pairs(pair_tile_kind tile, const pair_panel& panel, const Sink& sink,
                  cudaStream_t stream);

}  // namespace gpu::kernels
