#pragma once
/// @file
/// The family-wise error by permutation: Westfall and Young's single step over the largest
/// statistic (max-T).
///
/// The columns of a table are shuffled many times, all its rows alike, and each time the largest
/// statistic of all pairs is noted. A pair is as rare as the largest of so many shuffled tables
/// says: p = (1 + how many of these are at least its own) / (1 + shuffles). No distribution is
/// assumed, so measures without a test have this p too, and rows that move together cost less
/// than with Bonferroni's correction.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gpu/all_pairs.hpp>
#include <gpu/export.hpp>
#include <gpu/index.hpp>
#include <gpu/matrix_input.hpp>
#include <gpu/measure.hpp>
#include <gpu/pair_options.hpp>
#include <gpu/pair_sinks.hpp>

namespace gpu {
inline namespace v0 {

/// How columns are shuffled. What is exchangeable decides which one is right.
enum class column_shuffle {
  permutation,  ///< Into any order: for columns that do not depend on each other, as samples.
  /// By a shift: all columns move on by some places, and those that fall off the end come first.
  /// For columns that follow each other in time, because neighbours stay neighbours. Rows have to
  /// be stationary. m columns have m - 1 shifts, so that no adjusted p is smaller than 1 / m.
  circular
};

/// "permutation" or "circular".
[[nodiscard]] GPU_SIMILARITY_EXPORT std::string_view to_string(column_shuffle shuffle) noexcept;

/// Options of max_t.
struct max_t_options {
  /// Shuffled tables, from 1 to 1,000,000; with column_shuffle::circular at most columns - 1.
  index_t permutations = 1000;
  std::uint64_t seed = 0;  ///< Which permutations these are.
  /// What is large: |statistic|; the statistic (greater); its negative (less).
  tail side = tail::two_sided;
  column_shuffle shuffle = column_shuffle::permutation;  ///< How columns are shuffled.
};

/// The largest statistics of shuffled tables, and what follows from them.
struct max_t_null {
  /// [permutations], descending: of each shuffled table the largest |statistic|, of a one-sided
  /// tail the largest statistic, or negated one. Where no pair has a statistic, the least that
  /// there can be: 0, one-sided -1.
  std::vector<double> maxima = {};
  tail side = tail::two_sided;  ///< Of max_t_options.
  backend used = backend::cpu;  ///< Where it ran.
  std::string device = {};      ///< CPU or GPU name.
  double seconds = 0;           ///< That it took.

  /// p of a pair with that statistic, family-wise: (1 + maxima that are at least as large) /
  /// (1 + permutations). NaN of NaN.
  [[nodiscard]] GPU_SIMILARITY_EXPORT double adjusted_p(double statistic) const;
  /// The same of each edge.
  [[nodiscard]] GPU_SIMILARITY_EXPORT std::vector<double> adjusted_p(
      std::span<const edge> edges) const;
  /// The least magnitude (one-sided: statistic, or negated one) whose adjusted p is at most
  /// `level`: just above a maximum. Infinity where no statistic can be so rare.
  /// @param level in (0, 1], at least 1 / (1 + permutations): no adjusted p is smaller.
  /// @throw gpu::invalid_argument outside of that.
  [[nodiscard]] GPU_SIMILARITY_EXPORT double cut(double level) const;
  /// The filter of that cut, for any sink, part or backend: `min_abs` is the cut and `side` the
  /// tail of the maxima. With a one-sided tail it never keeps a statistic of the other sign, or 0.
  /// @throw as cut.
  [[nodiscard]] GPU_SIMILARITY_EXPORT pair_filter keep(double level) const;
};

/// Permutation `number` of a seed, as max_t takes it: column k of the shuffled table is column
/// out[k] of the table. All are equally likely: Fisher and Yates's shuffle, from the last column
/// down, driven by SplitMix64 whose state begins at s(s(seed + g) + number), with s its finishing
/// step and g its increment; a draw below 2^64 modulo the number of columns left is drawn again.
/// @param cols columns, at least 0.
/// @param seed any number.
/// @param number from 0.
/// @throw gpu::invalid_argument for a negative number.
/// Cost: cols steps.
[[nodiscard]] GPU_SIMILARITY_EXPORT std::vector<index_t> column_permutation(index_t cols,
                                                                            std::uint64_t seed,
                                                                            index_t number);

namespace detail {
GPU_SIMILARITY_EXPORT max_t_null max_t(measure what, const pair_tables& data,
                                       const pair_options& options, const max_t_options& how);
}  // namespace detail

/// The largest statistics of `data` under shuffled columns.
///
/// In one table the pairs are (i, j) with i < j, and their statistic compares row i with the
/// shuffled row j. Shuffled table 2 g uses column_permutation(cols, seed, g), and 2 g + 1 its
/// inverse, which costs nothing: row i against row j shuffled by a permutation is row i shuffled by
/// its inverse against row j. With column_shuffle::circular column k of a shuffled table is column
/// (k + s) modulo cols of the table, and each shift s is used once: in shuffled table 2 g s is 1 +
/// column_permutation((cols - 1) / 2, seed, 0)[g], in 2 g + 1 it is cols less that. If cols is
/// even, the last shuffled table that there can be has cols / 2. The maxima do not depend on
/// backend, variant, devices, threads or memory. They are the same bits everywhere where the
/// statistics are.
///
/// What is held, where columns are exchangeable as `how.shuffle` says: the probability of keeping
/// any pair where no row depends on another is at most `level`, as near as (1 + permutations)
/// tables tell. For x against y this is exact, however rows of x depend on each other, and rows of
/// y. For one table, where row i is compared with a shuffled row j, one permutation is not one
/// consistent table; it is an approximation: simulated at level 0.05 it was 0.033 to 0.057.
///
/// @param what any measure.
/// @param data values [rows, cols] in host memory, as all_pairs takes them.
/// @param options NaN policy (`reject`, or `propagate`: rows with a NaN have no statistic), variant
///   and backend. `fold` and `effective_observations` change nothing. on_progress has the stage
///   "max_t", in shuffled tables.
/// @param how permutations, seed, tail, shuffle.
/// @return the maxima.
/// @throw gpu::invalid_argument for permutations outside of 1 to 1,000,000, or more than there are
///   circular shifts, and as all_pairs, all before any work; gpu::unsupported for
///   nan_policy::pairwise, covariates, weights, a part of a job (the cut of the whole is the cut of
///   each part: keep(level) works with any part) and tables in device memory; gpu::cancelled,
///   gpu::out_of_memory, gpu::backend_unavailable, gpu::cuda_error.
/// Cost: per two permutations all rows^2 pairs, most of them only compared with a cut. Memory: that
/// of all_pairs, and shuffled rows of 64 MiB (or a quarter of workspace_bytes) at most, or one row.
template <table_like Data>
max_t_null max_t(measure what, const Data& data, const pair_options& options = {},
                 const max_t_options& how = {}) {
  return detail::max_t(what, {detail::read_table(data)}, options, how);
}

/// The same of x against y: every row of `x` with shuffled columns against every row of `y`, for
/// each permutation 0, 1, ... of the seed; with column_shuffle::circular by the shifts 1 +
/// column_permutation(cols - 1, seed, 0)[0, 1, ...].
/// @param what as above.
/// @param x values [rows of x, cols].
/// @param y values [rows of y, cols], in host memory too.
/// @param options as above.
/// @param how as above.
/// @return as above.
/// @throw as above.
/// Cost: for each permutation all rows of x * rows of y pairs.
template <table_like X, table_like Y>
  requires detail::tables_together<X, Y>
max_t_null max_t(measure what, const X& x, const Y& y, const pair_options& options = {},
                 const max_t_options& how = {}) {
  return detail::max_t(what, {detail::read_table(x), detail::read_table(y)}, options, how);
}

#if !defined(__clang__)
namespace detail {
struct a_measure__one_table_or_two__pair_options__max_t_options;
}
/// Any other call.
void max_t(detail::instead_of<detail::a_measure__one_table_or_two__pair_options__max_t_options>,
           ...) = delete;
#endif

}  // namespace v0
}  // namespace gpu
