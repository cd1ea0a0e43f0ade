#pragma once
// The inner loops of all pairs on the CPU, compiled once per instruction set and chosen at run
// time.
//
// Layout. Columns (the rows of the input, in their role as the second of a pair) lie in groups of
// 16, interleaved in steps of 4 bytes: [group][step][16 lanes][4 bytes]. A step holds four 8-bit,
// two 16-bit or one 32-bit value of each column. Rows (the first of a pair) are broadcast step by
// step: [row][step][4 bytes]. One vector of 16 lanes then accumulates 16 dot products.

#include <cstddef>
#include <cstdint>

#include <gpu/index.hpp>

#include "base/function_ref.hpp"
#include "base/round_up.hpp"
#include "plan/machine_costs.hpp"
#include "stats/unit_rows.hpp"

namespace gpu::cpu {

inline constexpr index_t group_lanes = 16;
inline constexpr index_t step_bytes = 4;
/// Rows and groups of a tile are padded to multiples of these, with zeros.
inline constexpr index_t row_padding = 16;
inline constexpr index_t group_padding = 2;

/// How the values of a step are stored and multiplied.
enum class packing {
  int8,         ///< columns plus 128, rows signed; sums exact where the values of a row sum to 0
  signed_int8,  ///< both signed
  /// Columns plus byte_pair_offset in steps of two bytes, [group][step][16 lanes][2 bytes]; rows
  /// signed, every step twice. Sums of 16 bits.
  byte_pairs,
  int16,   ///< signed; sums exact while they fit int32
  float32  ///< rounded sums
};

/// Values of byte_pairs are at most this, so that two products of (value + offset) * value, at most
/// 32,400, never saturate 16 bits.
inline constexpr int byte_pair_offset = 90;
/// The square of no row of byte_pairs is larger than 32,767 where its length is at most this, and
/// so no sum of products of two.
inline constexpr double byte_pair_length = 181;

/// One tile of pairs, prepared for the kernels.
struct packed_tile {
  const std::uint8_t* columns = nullptr;    // first group of the tile
  const std::uint8_t* row_steps = nullptr;  // [rows padded][steps][4]
  index_t steps = 0;
  index_t rows = 0;
  index_t cols = 0;
  /// Lane (row, col) is above the diagonal where col + diagonal > row.
  index_t diagonal = 0;
};

/// One whose sums are compared with a cut.
struct kernel_tile : packed_tile {
  // The filter on x, the dot product with its sign treated: kept if x >= row_cut * col_scale for
  // sure where the two differ by more than `band`; within the band, the exact test decides.
  const float* row_cut = nullptr;    // [rows padded]
  const float* col_scale = nullptr;  // [cols padded to groups]
  float band = 0;
  std::uint32_t sign_flip = 0;    // xor on the float's bits: negates
  std::uint32_t sign_keep = ~0u;  // then and: takes the magnitude
};

/// One tile of the 8-bit screen (cpu/pairs/search/row_screen.hpp), whose sums only say which pairs
/// may pass.
struct screen_tile : packed_tile {
  /// What is added to the sums of a row: `bias`, and for columns with an offset what undoes that.
  const std::int32_t* row_bias = nullptr;  // [rows padded]
  /// A pair may pass where its biased sum, taken as unsigned, is at least `limit`: one comparison
  /// for either sign.
  std::int32_t bias = 0;
  std::uint32_t limit = 0;
};

/// Which statistics a cut keeps.
enum class cut_side { magnitude, positive, negative };

/// One tile whose rows and columns are sorted by class: rows of the same sum of squares, for which
/// the cut is one least sum of products.
struct class_tile : packed_tile {
  cut_side side = cut_side::magnitude;
  const std::uint8_t* class_of_row = nullptr;  // [rows], from 0 on, ascending
  index_t classes = 0;
  // A class and a column keep sums of at least the next integer from class_cut * col_scale on,
  // where that is at least `band` from an integer; else what `least` says.
  const float* class_cut = nullptr;  // [classes]
  const float* col_scale = nullptr;  // [cols padded to groups]
  float band = 0;
  function_ref<std::int32_t(index_t row_class, index_t col) noexcept> least;
  std::int16_t* limits = nullptr;  // scratch of [classes][2 groups], on a cache line

  // Bins of the kept pairs, unless `bins` is 0: floor of (sum * row_inverse * col_inverse + 1) *
  // half_bins, where rounding could matter what `bin` says.
  index_t bins = 0;
  double half_bins = 0;
  const float* row_inverse = nullptr;  // [rows]
  const float* col_inverse = nullptr;  // [cols padded to groups]
  function_ref<index_t(index_t row, index_t col, std::int32_t sum) noexcept> bin;
  std::uint64_t* histogram = nullptr;
};

/// Sums of rows of so many ranks fit 16 bits.
inline constexpr index_t most_classed_cols = 46;

/// The exact decision on one pair: rows and columns count from the tile's first; `raw` is the sum
/// as the kernel has it (int32 or the bits of a float). May throw.
using exact_test = function_ref<bool(index_t row, index_t col, std::int32_t raw)>;

/// The kernels of one packing.
struct dot_kernels {
  /// Calls test for every pair above the diagonal that may pass; columns ascend within rows.
  void (*search)(const kernel_tile& tile, const exact_test& test) = nullptr;
  /// Adds to row_degree [rows padded] and col_degree [cols padded] the pairs above the diagonal
  /// that pass; returns their number.
  std::uint64_t (*count)(const kernel_tile& tile, const exact_test& test, std::uint32_t* row_degree,
                         std::uint32_t* col_degree) = nullptr;
  /// All sums: out[row * stride + col], also below the diagonal; padded rows and columns included.
  void (*sums)(const kernel_tile& tile, std::int32_t* out, index_t stride) = nullptr;
};

/// The screen of an instruction set that has fast 8-bit products.
struct screen_kernel {
  /// Calls test, with no sum, for every pair above the diagonal that may pass; columns
  /// ascend within rows.
  void (*search)(const screen_tile& tile, const exact_test& test) = nullptr;
  packing columns = packing::int8;  // int8, signed_int8 or byte_pairs
};

/// A block of pairs of wide rows, all of which lie in groups of 16-bit steps.
struct product_block {
  const std::uint8_t* data = nullptr;     // the group of row 0
  const std::uint8_t* columns = nullptr;  // the group of the block's first column
  index_t group_bytes = 0;                // from one group to the next
  index_t steps = 0;
  index_t exact_steps = 1;  // steps whose sums fit 32 bits
  index_t first_row = 0;
  index_t rows = 0;
  index_t cols = 0;
  index_t diagonal = 0;   // pairs with col + diagonal <= row may be left out
  double* out = nullptr;  // [rows, cols padded to group_padding groups]
  index_t out_stride = 0;
};

/// Rows with missing values lie in groups of so many, [group][column][2][lanes]: the values of the
/// rows, 0 where one is missing, and then 1 where it is there and 0 where not.
inline constexpr index_t pairwise_lanes = 8;

/// The columns that the pairs of a block share, from a bit a value.
struct pairwise_count_block {
  const std::uint64_t* bits = nullptr;  ///< [all rows, words]
  index_t words = 0;
  index_t first_row = 0;
  index_t row_count = 0;
  index_t first_col = 0;
  index_t col_count = 0;
  double* out = nullptr;  ///< [rows, cols]
  index_t stride = 0;
};

/// A block of pairs of such rows. Rows and columns count from place 0; there are whole groups.
struct pairwise_block {
  const double* values = nullptr;
  index_t cols = 0;  ///< Of a row.
  detail::row_centre centre = detail::row_centre::mean;
  index_t first_row = 0;
  index_t row_count = 0;
  index_t first_col = 0;           ///< A multiple of pairwise_lanes.
  index_t col_count = 0;           ///< Likewise.
  const double* counts = nullptr;  ///< [rows, cols]: columns that a pair shares.
  double* out = nullptr;           ///< [rows, cols]; NaN where the sums do not tell it.
  index_t stride = 0;              ///< Of both.
};

/// Ranks of a row with missing values, for pairwise_rank_sums.
struct pairwise_ranks {
  const std::int16_t* ranks = nullptr;     ///< Centred, [padded cols]; 0 where missing.
  const std::int16_t* present = nullptr;   ///< -1 or 0, [padded cols].
  const std::uint16_t* missing = nullptr;  ///< The missing columns, ascending.
  index_t missing_count = 0;               ///< At most most_pairwise_missing.
};
inline constexpr index_t most_pairwise_missing = 64;
inline constexpr int pairwise_rank_padding = 32;
/// Longest rows, and how many of their columns have products that add up in 32 bits.
constexpr index_t pairwise_sum_cols(index_t cols) {
  return cols <= 1024 ? 1024 : 96;
}
inline constexpr index_t most_pairwise_rank_cols = 4096;

/// A row of a block of rows that have few masks: which of their values are there. What a row shares
/// with a partner follows from the two masks.
struct mask_row {
  index_t place = 0;
  /// A pair may pass where the magnitude of xy, its sum of products around the means, is at least
  /// bounds[the column's mask] * col_roots[the column's place], or where that is NaN.
  const double* bounds = nullptr;
  const double* col_roots = nullptr;
  double* out = nullptr;  ///< [columns of the block]
  // Of rows of values: columns that are shared and the row's sum over them, by the column's mask;
  // the sums of the columns over what they share with this row, by place.
  const double* counts = nullptr;
  const double* sums = nullptr;
  const double* col_sums = nullptr;
};
/// Whether that pair may pass; `root` is that of the column. Always inline: files of every
/// instruction set include it.
[[gnu::always_inline]] inline bool may_pass(const mask_row& row, index_t mask, double root,
                                            double xy) {
  return !(__builtin_fabs(xy) < row.bounds[mask] * root);
}
/// Receives a pair that may pass, as places in the block, and its xy.
using mask_visitor = function_ref<void(index_t row, index_t col, double xy)>;

/// Values as pairwise_block has them. A pair that does not pass for sure is NaN in `out`, the
/// others are visited behind that; `out` has room for whole groups of columns.
struct mask_value_block {
  const double* values = nullptr;
  index_t cols = 0;  ///< Of a row.
  detail::row_centre centre = detail::row_centre::mean;
  const std::uint8_t* mask_of = nullptr;  ///< By place.
  const mask_row* rows = nullptr;         ///< The rows from first_row on, in any order.
  index_t first_row = 0;
  index_t row_count = 0;
  index_t first_col = 0;  ///< A multiple of pairwise_lanes.
  index_t col_count = 0;
  double* out = nullptr;  ///< Where the first row of the block is; rows are `stride` apart.
  index_t stride = 0;
  mask_visitor visit;
};
/// The same of ranks. Rows of one mask follow each other.
struct mask_rank_block {
  /// Centred ranks over what each row shares with rows of a mask, 0 elsewhere: [mask, place,
  /// pitch].
  const std::int16_t* ranks = nullptr;
  index_t pitch = 0;        ///< A multiple of pairwise_rank_padding.
  index_t mask_stride = 0;  ///< From one mask to the next.
  const std::uint8_t* mask_of = nullptr;
  const mask_row* rows = nullptr;
  index_t row_count = 0;
  index_t first_col = 0;
  index_t col_count = 0;
  const std::uint16_t* col_order = nullptr;  ///< The columns, those of each mask together.
  mask_visitor visit;
};
/// Ranks of so many columns have sums of products of 32 bits.
inline constexpr index_t most_mask_rank_cols = 1860;

/// A kept pair, row < col, in packed row numbers.
struct pair_hit {
  std::uint32_t row;
  std::uint32_t col;
  double statistic;
};

/// The sums of products of one row of ranks with `count` columns, at most most_selected.
struct sum_row {
  const std::int32_t* sums;
  index_t count;
  std::uint32_t row;  // of the hits
  std::uint32_t col;  // of the first
  // The filter, as in kernel_tile: what is below it for sure is left out.
  float row_cut;
  const float* col_scale;
  float band;
  std::uint32_t sign_flip;
  std::uint32_t sign_keep;
  // rho decides about the others: kept if >= at_least or <= at_most.
  double square_row;
  const std::int32_t* square_cols;
  double at_least;
  double at_most;
};
inline constexpr index_t most_selected = 512;
/// What a kernel may write behind the last hit.
inline constexpr index_t hit_padding = 8;

/// Passes over a row of doubles in the order of stats/unit_rows.hpp. The row has room for whole
/// steps of eight; what is behind its `cols` elements is 0, and stays so.
struct row_passes {
  /// Copies values to `row`, which may be where they are, and zeros behind them. Gives the largest
  /// magnitude, and whether no value is NaN or infinite.
  double (*copy_floats)(const float* values, index_t cols, double* row, bool* is_finite) = nullptr;
  double (*copy_doubles)(const double* values, index_t cols, double* row,
                         bool* is_finite) = nullptr;
  /// Multiplies, and gives the sum.
  double (*scale_and_sum)(double* row, index_t cols, double scale) = nullptr;
  /// Takes `value` off each element, and gives the sum or the largest magnitude.
  double (*take_off_and_sum)(double* row, index_t cols, double value) = nullptr;
  double (*take_off_and_largest)(double* row, index_t cols, double value) = nullptr;
  /// Multiplies, and gives the sum of the squares, each product fused with its addition.
  double (*scale_and_square)(double* row, index_t cols, double scale) = nullptr;
  void (*divide)(double* row, index_t cols, double by) = nullptr;
};

/// Rounding of a piece of a row of T to integers.
template <class T>
struct rounding_kernels {
  /// The sum of the squares; raises *largest to the largest magnitude.
  double (*square_sum)(const T* values, index_t count, double* largest) = nullptr;
  /// Rounds values * scale, none of which is beyond 16 bits; returns the sum of the squares of what
  /// rounding took.
  double (*round)(const T* values, index_t count, double scale, std::int16_t* out) = nullptr;
};

/// r of blocks of rows x cols pairs as pair_kernels::ordered_dots gives it, by way of a copy of the
/// rows. Absent (null) where ordered_dots and add_partial_sums are as fast.
struct block_kernel {
  index_t least_length = 0;  ///< Shorter rows take less time without.
  index_t least_rows = 0;    ///< The same of blocks of fewer rows.
  /// Doubles of scratch that begins on a boundary of 64 bytes; more for more columns.
  index_t (*scratch)(index_t rows, index_t cols, index_t length) = nullptr;
  /// `are_copied`: the block before, with the same scratch, was of the same rows. What is written
  /// for pairs with col + diagonal <= row is not said.
  void (*dots)(const double* x, index_t rows, bool are_copied, const double* y, index_t cols,
               index_t length, index_t diagonal, double* out, index_t out_stride,
               double* scratch) = nullptr;
};

/// Everything of one instruction set.
struct pair_kernels {
  const char* name = nullptr;
  detail::cpu_costs costs = {};  ///< For the choice between the ways of finding pairs.
  /// Steps beyond this many 8-bit ones come in multiples of it (whole tiles); 0 does not matter.
  index_t int8_chunk = 0;
  screen_kernel screen = {};  // absent (null) where there are no fast 8-bit products
  /// As dot_kernels::count on 8-bit columns, by classes; absent (null) where the screen is.
  std::uint64_t (*count_classes)(const class_tile& tile, std::uint32_t* row_degree,
                                 std::uint32_t* col_degree) = nullptr;
  dot_kernels int8 = {};  // absent (null) where int16 is as fast
  dot_kernels int16 = {};
  dot_kernels float32 = {};
  /// rho_of a row of pairs: statistics from sums and squares.
  void (*rho)(const std::int32_t* sums, double square_row, const std::int32_t* square_cols,
              index_t count, double* out) = nullptr;
  /// Adds to `out` the sums of products of a block of wide rows, exact where they are below 2^53.
  void (*add_products)(const product_block& block) = nullptr;
  /// rho_of a row of pairs from sums and squares that doubles hold exactly.
  void (*rho_of_doubles)(const double* sums, double square_row, const double* square_cols,
                         index_t count, double* out) = nullptr;
  /// Writes the kept pairs of a row to out [count + hit_padding], columns ascending; returns their
  /// number.
  index_t (*select)(const sum_row& row, pair_hit* out) = nullptr;
  /// r of rows x cols pairs in the order of stats/unit_rows.hpp, not clipped. Row i starts at
  /// x + i * length, column j at y + j * length; length is a multiple of 8.
  void (*ordered_dots)(const double* x, index_t rows, const double* y, index_t cols, index_t length,
                       double* out, index_t out_stride) = nullptr;
  /// Adds, of the same pairs, the products of `count` elements from x and y on to the eight partial
  /// sums of each: sums [rows, cols, 8], from zeros with `begins`. Rows are `length` elements
  /// apart; count is a multiple of 8. Sums of pairs with col + diagonal <= row may stay zeros.
  /// `before` is null, or the partial sums of the slices before the one that ends here: to these it
  /// adds those of the slice, and leaves `sums` as they are.
  void (*add_partial_sums)(const double* x, index_t rows, const double* y, index_t cols,
                           index_t length, index_t count, index_t diagonal, bool begins,
                           double* sums, double* before) = nullptr;
  /// What ordered_dots gives, from the partial sums of all elements.
  void (*combine_partial_sums)(const double* sums, index_t rows, index_t cols, double* out,
                               index_t out_stride) = nullptr;
  block_kernel blocks = {};
  row_passes row = {};
  rounding_kernels<double> round_doubles = {};
  rounding_kernels<std::int16_t> round_int16 = {};
  rounding_kernels<std::int32_t> round_int32 = {};
  void (*pairwise_counts)(const pairwise_count_block& block) = nullptr;
  /// The statistics of a block of rows with missing values, by sums.
  void (*pairwise_statistics)(const pairwise_block& block) = nullptr;
  /// Of two rows of ranks with missing values, ranked anew over the columns that both have: the
  /// sums of products xy, xx and yy.
  void (*pairwise_rank_sums)(const pairwise_ranks& x, const pairwise_ranks& y, index_t padded_cols,
                             std::int64_t (&out)[3]) = nullptr;
  void (*mask_values)(const mask_value_block& block) = nullptr;
  void (*mask_ranks)(const mask_rank_block& block) = nullptr;
  /// The exact dot product of one pair of rows of integers.
  std::int64_t (*int8_dot)(const std::int8_t* x, const std::int8_t* y, index_t count) = nullptr;
  std::int64_t (*int16_dot)(const std::int16_t* x, const std::int16_t* y, index_t count) = nullptr;
  std::int64_t (*int32_dot)(const std::int32_t* x, const std::int32_t* y, index_t count) = nullptr;
};

/// The rounding of rows of such elements.
inline const rounding_kernels<double>& rounding_of(const pair_kernels& kernels, const double*) {
  return kernels.round_doubles;
}
inline const rounding_kernels<std::int16_t>& rounding_of(const pair_kernels& kernels,
                                                         const std::int16_t*) {
  return kernels.round_int16;
}
inline const rounding_kernels<std::int32_t>& rounding_of(const pair_kernels& kernels,
                                                         const std::int32_t*) {
  return kernels.round_int32;
}

/// The best that this machine runs, or that GPU_SIMILARITY_CPU_LEVEL allows.
const pair_kernels& usable_pair_kernels();

/// screen_kernel::search on byte_pairs with 256-bit products.
void search_byte_pairs_avx2(const screen_tile& tile, const exact_test& test);

extern const pair_kernels baseline_pair_kernels;
extern const pair_kernels avx2_pair_kernels;
extern const pair_kernels avx512_pair_kernels;
extern const pair_kernels avx512_vnni_pair_kernels;
extern const pair_kernels amx_pair_kernels;

}  // namespace gpu::cpu
