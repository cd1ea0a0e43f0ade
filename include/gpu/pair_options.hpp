#pragma once
/// @file
/// Options that every all-pairs operation takes.

#include <span>
#include <string_view>

#include <gpu/execution.hpp>
#include <gpu/export.hpp>
#include <gpu/index.hpp>
#include <gpu/matrix_view.hpp>
#include <gpu/measure.hpp>

namespace gpu {
inline namespace v0 {

/// The implementation that computes the pairs. All Spearman variants decide alike, bit for bit;
/// the page "Spearman, all pairs" of the documentation says what each variant gains.
enum class pair_variant {
  automatic,     ///< Chosen by device, operation and shape.
  naive,         ///< CPU: textbook loops. CUDA: one block per row, ranks recomputed per pair.
  tiled,         ///< CPU: blocked, vectorised, parallel.
  shared_tiled,  ///< CUDA: ranks once, tiles of both operands in shared memory.
  tensor,        ///< CUDA: tensor-core tiles (sm_75 and newer).
  hopper         ///< CUDA, compute capability 9.0: as tensor, and strict cuts screened by warpgroup
                 ///< tensor cores before the exact test.
};

/// "automatic", "naive", "tiled", "shared_tiled", "tensor", "hopper".
[[nodiscard]] GPU_SIMILARITY_EXPORT std::string_view to_string(pair_variant variant) noexcept;

/// Whether rows of equal ranks are folded into one pattern with a weight, so that the work falls
/// with the square of patterns / rows. No result depends on it. Rows are not folded if p comes from
/// permutations, see p_method. Spearman alone: equal Pearson rows need not have a statistic of
/// exactly 1.
enum class row_folding {
  /// Where it pays: at least 8192 rows (on CUDA about 50,000) and at most 0.8 patterns a row (for
  /// the hopper variant a third of a pattern). To find out, ranks are hashed and compared
  /// beforehand (on the CPU a sample of the hashes). Never where a naive variant was asked for, nor
  /// for loose counts without adjustment. On the CPU counts, loose ones too, dense results and
  /// edges in order are folded of fewer rows too, from 32 rows for each order on that the values of
  /// a row can have, ties included: 13 orders of 3 columns, 75 of 4, 541 of 5.
  automatic,
  never,  ///< Every row for itself.
  /// However few rows repeat. gpu::unsupported for Pearson and the naive variant on CUDA, which
  /// keep no ranks, and with nan_policy::pairwise, covariates and weights.
  always
};

/// Where p of a pair comes from.
enum class p_method {
  /// The test of the measure. Spearman's rho: `exact` up to 9 columns, else Student's t that is
  /// never below least_rank_p. It is that t up to 9 columns too for results in device memory,
  /// covariates and nan_policy::pairwise. With pair_options::effective_observations it is
  /// `t`: what permutations allow follows from the columns.
  automatic,
  /// Student's t alone, as SciPy: of Spearman it is 0 for |rho| = 1, whatever the number of
  /// columns.
  /// Measures without Student's t keep their test.
  t,
  /// Spearman's rho: the permutations of a row, as R's cor.test with exact = TRUE, where neither
  /// row of a pair has ties and there are at most 1290 columns; else Student's t that is never
  /// below least_rank_p. See gpu::spearman_p_value for what it computes. Each pair is decided by
  /// its own p, on the CPU and on CUDA alike. Results in device memory throw
  /// gpu::unsupported, and so do other measures, covariates, nan_policy::pairwise and
  /// row_folding::always.
  exact
};

/// "automatic", "t" or "exact".
[[nodiscard]] GPU_SIMILARITY_EXPORT std::string_view to_string(p_method method) noexcept;

/// One part of a job that is cut into parts, so that several processes or machines can compute it.
/// The parts together are the whole call: every pair is in one part, decided by the same cut, and
/// Bonferroni's family is the whole one. A part depends on the extents and on `of` alone, never on
/// the backend or the device.
///
/// In one table, a part is a panel of whole rows [a, b) against all later rows, of about equally
/// many pairs; the edges of parts 0, 1, ... one after the other are the edges of the whole, in
/// order, and counts and histograms add up. With x against y, and for dense and top-k sinks, a part
/// is an equal panel of rows (of x) against all columns, and the result has the rows of the panel
/// alone.
struct pair_part {
  index_t index = 0;  ///< Which part, from 0 to of - 1.
  index_t of = 1;     ///< How many parts there are, at least 1.
};

/// Options of all_pairs, of every measure.
struct pair_options {
  /// `reject` throws; `propagate` treats a row that holds a NaN as having no statistic; `pairwise`
  /// takes of each pair of rows the columns in which neither holds a NaN: they alone count for the
  /// statistic, ranks included, and they are the observations of its test.
  nan_policy nans = nan_policy::reject;
  /// nan_policy::pairwise only: pairs that share fewer columns have no statistic. From 3 to 1e15;
  /// with another policy gpu::invalid_argument for any number except 3.
  index_t min_observations = 3;
  /// Spearman and Pearson: covariates [covariates, cols], a row each, with the columns of the data.
  /// The statistic is then the *partial* correlation given them: that of what is left of two rows
  /// (of Spearman: of their ranks) by least squares on a constant and the covariates (of Spearman:
  /// on their ranks). Its test has cols - 2 - covariates degrees of freedom, at least 1. Read once,
  /// when the call begins. Empty: none.
  ///
  /// gpu::invalid_argument for other columns than those of the data, values that are not finite,
  /// too many rows, and a row that is constant or, up to 1e-7 of its length, a constant plus
  /// multiples of rows before it; gpu::unsupported for other measures, with nan_policy::pairwise
  /// and for tables or results in device memory. Rows are never folded.
  matrix_view<const double> covariates = {};
  /// Pearson and cosine: how much each column counts [cols], numbers >= 0; only their ratios
  /// matter. The statistic is sum w (x - mean x)(y - mean y) / sqrt(sum w (x - mean x)^2 sum w (y -
  /// mean y)^2), with means weighted too (of cosine: without means). A column of weight 0 is left
  /// out, except that a NaN or an infinity counts wherever it is. With covariates, least squares
  /// are weighted too. Empty: every column counts alike; so do equal weights, with the same bits.
  /// Read and refused as covariates are; at least 3 (of cosine: 1) have to be positive.
  std::span<const double> column_weights = {};
  /// Spearman, Pearson and the biweight midcorrelation: the observations that p and confidence
  /// intervals are computed for, a real number from 3 on; covariates are taken off them. No
  /// statistic depends on it. 0: the columns; with column_weights p is not defined then.
  ///
  /// Columns that follow each other in time tell less than as many that are independent: the
  /// page "The family-wise error by permutation" has more on time series. What weights mean only
  /// the caller knows: the sum of weights that are counts, (sum w)^2 / sum w^2 of weights of
  /// precision.
  ///
  /// gpu::invalid_argument outside of 3 to 10^15; gpu::unsupported for measures whose p is not by
  /// Student's t, with nan_policy::pairwise, p_method::exact and results in device memory.
  observation_count effective_observations = 0;
  /// Where p comes from. Kendall's p is exact for few columns by itself.
  gpu::p_method p_method = gpu::p_method::automatic;
  /// Of measure::tversky: what a bit counts that only row i of a pair (i, j) has, and one that only
  /// row j has, in bits that both have. Fractions from 0 to 1000 with a common denominator of at
  /// most 1000, as 0.7 and 1.0 / 3, not both 0: each decision is then one of integers. The pairs of
  /// one table have no order: they need alpha == beta. gpu::invalid_argument for other numbers,
  /// gpu::unsupported for other measures.
  double alpha = 1;
  /// See alpha.
  double beta = 1;
  /// The implementation; gpu::unsupported where the backend or device does not offer it.
  pair_variant variant = pair_variant::automatic;
  /// Whether rows of equal ranks are computed once.
  row_folding fold = row_folding::automatic;
  /// The part of the job to compute; the default is all of it. gpu::unsupported with
  /// adjustment::benjamini_hochberg, whose cut depends on all pairs: discovery_sink finds it.
  pair_part part = {};
  /// Sinks of device_sinks.hpp only: scratch memory of the caller, at least as many bytes as
  /// plan_all_pairs(what, data, options, sink).workspace_bytes says, 256-byte aligned, left
  /// alone by others until the stream has passed the call. Empty: scratch comes from the stream's
  /// memory pool (cudaMallocAsync).
  device_workspace workspace = {};
  /// Where it runs.
  execution exec = {};
};
/// The test behind p of a call with these options, for a table of `cols` columns: the one that
/// pair_summary::test names. Dense results and results in device memory have no p by
/// permutations, but floored_t; with effective_observations it is student_t.
/// @throw gpu::invalid_argument if `what` is not a value of the enumeration.
[[nodiscard]] GPU_SIMILARITY_EXPORT significance test_of(measure what, index_t cols,
                                                         const pair_options& options);

}  // namespace v0
}  // namespace gpu
