#pragma once
/// @file
/// A measure of all pairs of rows: of one table, of x against y, or of x against prepared rows; and
/// each measure with its definition, its exactness and its limits.

#include <gpu/detail/all_pairs.hpp>
#include <gpu/matrix_input.hpp>
#include <gpu/measure.hpp>
#include <gpu/pair_options.hpp>
#include <gpu/pair_sinks.hpp>

namespace gpu {
inline namespace v0 {

/// The statistic of every pair of rows; `sink` says what to keep. A call is one of
///
///     all_pairs(what, data, options = {}, sink = {})      every pair of rows of one table
///     all_pairs(what, data, sink)                         the same with the default options
///     all_pairs(what, x, y, options = {}, sink = {})      every row of x with every row of y
///     all_pairs(what, x, y, sink)                         the same with the default options
///
/// and y can be gpu::prepared_rows. Anything else does not compile, and the compiler names what is
/// wrong with it.
///
/// The objects below (gpu::spearman_all_pairs, gpu::pearson_all_pairs, ...) say how each statistic
/// is defined and how exactly it is decided. Rows in device memory, a gpu::device_matrix_view, are
/// taken with every sink. With the sinks of pair_sinks.hpp the call waits for `options.exec.stream`
/// and blocks until the host has the result; nothing of the input is copied to the host. With those
/// of device_sinks.hpp the result stays on the device and the call returns before it is done.
///
/// With x and y the pairs are (i, j) with i a row of x and j a row of y, also where both are the
/// same table: no pair is left out for being a row with itself. A dense result is [rows of x, rows
/// of y]; an edge's `row` is of x and its `col` of y; top-k gives for each row of x its best
/// partners in y; counts have degrees of both. The family of tests is the valid rows of x times
/// those of y. The summary names constant and NaN rows of each.
///
/// @param what the measure; gpu::info_of says its limits.
/// Measures of rows of bits take gpu::bit_matrix and views of such bits, and nothing else.
///
/// @param x values [rows, cols] in host memory: a gpu::matrix_view, gpu::matrix, std::mdspan, or
///   gpu::as_matrix of a range; or column by column: a gpu::column_matrix_view, gpu::transposed of
///   any of these, or a gpu::column_list_view of columns that lie apart. In host memory also int64,
///   uint32 and uint64. Rows are variables, columns are observations; rows up to 2^32 - 1, of both
///   tables together, cols as the measure takes them.
/// @param y values [rows of y, cols] in the memory that x is in, as many columns; another element
///   type and another layout are fine. Or rows from gpu::prepare_rows.
/// @param options NaN policy, covariates, weights of columns, variant, folding, backend, devices,
///   workspace, progress.
/// @param sink dense_sink (default), dense_sink_f32, edge_sink, top_k_sink, count_sink,
///   stream_sink; connectivity_sink for one table; for data in device memory also
///   device_dense_sink, device_dense_sink_f32, device_top_k_sink, device_count_sink,
///   device_edge_sink.
/// @return what the sink gives: see pair_sinks.hpp.
/// @throw gpu::invalid_argument for a value that is not a measure, for too few or too many columns,
///   for different columns of x and y, or a cut outside its range, before any work starts; so for a
///   64-bit integer beyond 2^53 where the measure needs the values, naming row, column and value;
///   for a NaN, naming row and column, before any pair is computed (CUDA finds it while it prepares
///   the rows). gpu::unsupported for a
///   cut on p of a measure without a significance test, and for folding where the measure does not
///   fold. gpu::capacity_exceeded where an edge_sink's max_edges does not suffice, with the number
///   needed. gpu::backend_unavailable, gpu::out_of_memory, gpu::cancelled, gpu::cuda_error.
/// Cost: the preparation of each row, and rows^2 / 2 * cols (rows of x * rows of y * cols)
/// multiply-adds for the pairs.
/// Memory: the packed rows, tiles, and what the sink keeps; never [rows, rows] except for a dense
/// sink. Data in column order or of wide integers also needs a panel of rows, 8 MiB or eight rows;
/// the data is never in memory twice. Blocks until the result is complete.
template <
    class X, class Y = pair_options, class Options = detail::argument_after<Y, dense_sink>,
    class Sink = detail::argument_after<Options, dense_sink>,
    detail::misuse Error = detail::misuse_of<detail::call_kind::all_pairs, X, Y, Options, Sink>()>
  requires(Error == detail::misuse::none)
sink_result_t<detail::sink_of<Y, Options, Sink>> all_pairs(measure what, const X& x,
                                                           const Y& y = {},
                                                           const Options& options = {},
                                                           const Sink& sink = {}) {
  return detail::all_pairs(
      what, detail::tables_of(x, y), detail::argument_of<pair_options>(y, options, pair_options{}),
      detail::argument_of<detail::sink_of<Y, Options, Sink>>(y, options, sink));
}

#if !defined(__clang__)
/// Any other call.
template <
    class X, class Y = pair_options, class Options = detail::argument_after<Y, dense_sink>,
    class Sink = detail::argument_after<Options, dense_sink>,
    detail::misuse Error = detail::misuse_of<detail::call_kind::all_pairs, X, Y, Options, Sink>()>
  requires(Error != detail::misuse::none)
void all_pairs(measure what, const X& x, const Y& y = {}, const Options& options = {},
               const Sink& sink = {}) = delete;
#endif

/// all_pairs of one measure: the same calls, with the same results, without the measure in front.
template <measure What>
struct all_pairs_of {
  /// (data, options, sink), (data, sink), (x, y, options, sink) or (x, y, sink): see
  /// gpu::all_pairs.
  template <
      class X, class Y = pair_options, class Options = detail::argument_after<Y, dense_sink>,
      class Sink = detail::argument_after<Options, dense_sink>,
      detail::misuse Error = detail::misuse_of<detail::call_kind::all_pairs, X, Y, Options, Sink>()>
    requires(Error == detail::misuse::none)
  sink_result_t<detail::sink_of<Y, Options, Sink>> operator()(const X& x, const Y& y = {},
                                                              const Options& options = {},
                                                              const Sink& sink = {}) const {
    return gpu::all_pairs(What, x, y, options, sink);
  }
#if !defined(__clang__)
  /// Any other call.
  template <
      class X, class Y = pair_options, class Options = detail::argument_after<Y, dense_sink>,
      class Sink = detail::argument_after<Options, dense_sink>,
      detail::misuse Error = detail::misuse_of<detail::call_kind::all_pairs, X, Y, Options, Sink>()>
    requires(Error != detail::misuse::none)
  void operator()(const X& x, const Y& y = {}, const Options& options = {},
                  const Sink& sink = {}) const = delete;
#endif
};

/// Spearman's rho of every pair of rows of `data`: gpu::all_pairs with measure::spearman.
///
/// Exact: with average ranks r, u = 2 r - (cols + 1) is an integer, and rho is *defined* as the
/// IEEE double S_xy / sqrt(S_xx * S_yy) of the exact integer sums of products, one rounding each.
/// Every keep-or-drop decision is the one that comparing this rho with the cut gives, on every
/// backend, variant and device. p comes from gpu::p_method: from the permutations of a row up to 9
/// columns, else Student's t with cols - 2 degrees of freedom, t = rho sqrt((cols - 2) / ((1 + rho)
/// (1 - rho))), and never below gpu::least_rank_p. p_method::t gives the p of
/// scipy.stats.spearmanr.
///
/// Parameters, results, errors and cost as gpu::all_pairs. cols from 3 to 3,000,000. Rows of equal
/// ranks can be folded (options.fold): then the pairs cost patterns^2 / 2 * cols. Ranking costs
/// rows * cols * log(cols).
inline constexpr all_pairs_of<measure::spearman> spearman_all_pairs{};

/// Pearson's r of every pair of rows of `data`: gpu::all_pairs with measure::pearson.
///
/// Rows are centred and scaled to unit length in double precision before they are multiplied, so
/// large means do not cancel. Every keep-or-drop decision is the one of the double-precision r,
/// whose summation order is fixed and the same on every backend. A dense result in doubles is that
/// r, one in floats has at most float32-level error. An infinite value makes its row one without a
/// statistic.
///
/// Parameters, results, errors and cost as gpu::all_pairs. cols from 3 on.
inline constexpr all_pairs_of<measure::pearson> pearson_all_pairs{};

/// The cosine of the angle between every pair of rows of `data`, x . y / (|x| |y|): gpu::all_pairs
/// with measure::cosine.
///
/// Rows are scaled to unit length in double precision before they are multiplied, so large values
/// do not overflow. Every keep-or-drop decision is the one of the double-precision cosine, whose
/// summation order is fixed and the same on every backend. A dense result in doubles is that
/// cosine, one in floats has at most float32-level error. A row of zeros, or with an infinite
/// value, has no statistic; a row of equal values has one. It has no significance test: cut by
/// pair_filter::min_abs; p of an edge is NaN, and a cut on p or an adjustment throws
/// gpu::unsupported.
///
/// Parameters, results, errors and cost as gpu::all_pairs. cols from 1 on.
inline constexpr all_pairs_of<measure::cosine> cosine_all_pairs{};

/// The biweight midcorrelation of every pair of rows of `data`: gpu::all_pairs with measure::bicor.
/// It is a correlation that outliers do not move: values far from the median of their row count
/// little or nothing.
///
/// With the median of a row, and MAD the median of |x - median|, let a = (x - median) / (9 MAD) and
/// w = (1 - a^2)^2 where |a| < 1, else 0. The statistic is the cosine of the rows (x - median) w,
/// as `bicor` of R's WGCNA. A row whose MAD is 0 (more than half of its values are equal) is
/// treated as in Pearson's r instead. p is Student's t with cols - 2 degrees of freedom.
///
/// All of it is computed in double precision, in a fixed order that is the same on every backend,
/// and every keep-or-drop decision is the one of that double. A dense result in doubles is it, one
/// in floats has at most float32-level error. A row of equal values, or with an infinite value, has
/// no statistic. With nan_policy::pairwise median, MAD and weights come from the columns that a
/// pair shares, on the CPU alone: backend::cuda throws gpu::unsupported, automatic uses the CPU.
///
/// Parameters, results, errors and cost as gpu::all_pairs, and medians for rows * cols. cols from 3
/// on.
inline constexpr all_pairs_of<measure::bicor> bicor_all_pairs{};

/// Kendall's tau-b of every pair of rows of `data`: gpu::all_pairs with measure::kendall.
///
/// Over all pairs of columns k < l, S counts those whose order is the same in both rows less those
/// whose order is the opposite, and T those of a row that are not tied:
///   tau_b = S / sqrt(T_x T_y).
/// All three are exact integers, so that every variant keeps the same pairs with the same
/// bits. p is computed by gpu::kendall_p_value, as by scipy.stats.kendalltau with method="auto". p
/// depends on tau and on the ties of both rows: a cut on p decides each pair by its own p, and
/// pair_summary::cut_at_least and cut_at_most hold for rows without ties.
///
/// A row of equal values has no statistic. With nan_policy::pairwise S, T and the ties are counted
/// over the columns that both rows of a pair have. gpu::confidence_interval throws
/// gpu::unsupported.
///
/// Parameters, results and errors as gpu::all_pairs. cols from 3 to 10^6; on CUDA to 2,048, and no
/// missing values pair by pair: these and longer rows throw gpu::unsupported there, and
/// backend::automatic uses the CPU. device_edge_sink is not taken: its p would be the device's.
///
/// Cost: up to 2,048 columns (512 without AVX2) rows are packed as the signs of all differences of
/// their values, cols^2 / 8 bytes, and a pair takes as many bits to compare; with AVX-512 64
/// columns take some nanoseconds a pair. The pairs of longer rows are sorted one by one, in O(cols
/// log cols). On CUDA a sign is a byte, cols^2 / 2 bytes a row, and all rows are in device memory;
/// a pair takes cols^2 / 2 multiply-adds of the tensor cores. On compute capability 9.0 a strict
/// cut of up to 128 columns is screened by ranks first.
inline constexpr all_pairs_of<measure::kendall> kendall_all_pairs{};

/// Tanimoto (Jaccard) similarity of every pair of rows of bits: gpu::all_pairs with
/// measure::tanimoto. A row is the set of the columns whose bit is 1:
///
///     S = |a and b| / |a or b|,
///
/// the IEEE double nearest to this ratio of two integers; S = 0 where no bit is in both, so of two
/// empty rows too, as RDKit has it (SciPy's distance of these is 0, which would make their
/// similarity 1). Every pair of rows has a statistic.
///
/// Every decision is taken on that double: a pair is kept where S >= min_abs, so 4 of 5 bits pass a
/// cut of 0.8. Up to 2^26 columns two ratios that differ are two doubles, so partners have the
/// order of the exact ratios. Every backend and variant decides alike, bit for bit.
///
/// Data is a gpu::bit_matrix, or a view of words; cols up to 2^31 - 1, bits past the last column
/// are ignored. These measures have no significance test: p of an edge is NaN, and a cut on p or an
/// adjustment throws gpu::unsupported. `keep.side` tail::less keeps similarities <= -min_abs: all
/// pairs for 0, else none. A dense result has S of each row with itself on its diagonal: 0 of an
/// empty row. Variants are `tiled` on the CPU; on CUDA `hopper`, which decides the pairs where they
/// are counted, up to 65,024 columns; `tensor` and `shared_tiled`, which write counts to memory
/// first. gpu::unsupported for tables of numbers, and for options of numbers.
///
/// Cost: rows^2 / 2 * cols / 32 word operations, for top_k_sink and a dense result twice as many.
/// Memory: one padded copy of the bits, tiles, and what the sink keeps.
inline constexpr all_pairs_of<measure::tanimoto> tanimoto_all_pairs{};

/// Dice's similarity of every pair of rows of bits, 2 |a and b| / (|a| + |b|): gpu::all_pairs with
/// measure::dice. Else as tanimoto_all_pairs, in every respect.
inline constexpr all_pairs_of<measure::dice> dice_all_pairs{};

/// Tversky's index of every pair of rows of bits: gpu::all_pairs with measure::tversky. With c bits
/// in both rows,
///
///     S = c / (c + alpha (|a| - c) + beta (|b| - c)),
///
/// with pair_options::alpha and beta: 1 and 1, the default, is Tanimoto's similarity, 0.5 and 0.5
/// Dice's. They are fractions, so that S is a ratio of integers, and decided as such: see
/// pair_options::alpha. With alpha != beta it is not symmetric: x against y alone, a of x and b of
/// y. Partners have the order of the exact ratios as long as alpha, beta and 1, times the common
/// denominator and the columns, are at most 2^26. Else as tanimoto_all_pairs.
inline constexpr all_pairs_of<measure::tversky> tversky_all_pairs{};

}  // namespace v0
}  // namespace gpu
