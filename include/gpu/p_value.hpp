#pragma once
/// @file
/// The tests of a statistic: p by Student's t, by permutations and Kendall's; the cuts that follow
/// from a p; p adjusted for the number of tests; and confidence intervals.

#include <cstdint>
#include <span>
#include <vector>

#include <gpu/execution.hpp>
#include <gpu/export.hpp>
#include <gpu/index.hpp>
#include <gpu/measure.hpp>
#include <gpu/pair_sinks.hpp>

namespace gpu {
inline namespace v0 {

/// t = r sqrt((observations - 2) / ((1 + r) (1 - r))); +-infinity for |r| = 1.
/// @param r a correlation in [-1, 1]; NaN gives NaN.
/// @param observations a real number from 3 to 10^15.
/// @throw gpu::invalid_argument outside these ranges.
[[nodiscard]] GPU_SIMILARITY_EXPORT double correlation_t(double r, observation_count observations);

/// p of a correlation: Student's t with observations - 2 degrees of freedom, as
/// scipy.stats.pearsonr and spearmanr; 0 for |r| = 1 in the tail. The relative error is at most
/// 1e-14 down to 1e-300, p never grows with |r|, and edges hold the same bits. The first call with
/// a number of observations takes a fraction of a millisecond, further ones some nanoseconds.
/// @param r a correlation in [-1, 1]; NaN gives NaN.
/// @param observations a real number from 3 to 10^15.
/// @param side the alternative hypothesis.
/// @throw gpu::invalid_argument outside these ranges.
[[nodiscard]] GPU_SIMILARITY_EXPORT double correlation_p_value(double r,
                                                               observation_count observations,
                                                               tail side = tail::two_sided);

/// What the values of a row that are equal do to a test of ranks: sums over its groups of t equal
/// values. A row without ties has zeros.
struct row_ties {
  std::int64_t pairs = 0;    ///< Sum of t (t - 1) / 2: pairs of columns that are tied.
  std::int64_t triples = 0;  ///< Sum of t (t - 1) (t - 2).
  /// Whether both sums are equal.
  bool operator==(const row_ties&) const = default;
};

/// The least p of a correlation of ranks: twice the share of the permutations of a row that give
/// |statistic| = 1, one-sided that share. Rows without ties have one such permutation of
/// observations!, so it is 2 / observations!, and 0 from 171 observations on, where that is below
/// the range of double. Up to 9 observations ties count: a row whose groups have t equal values has
/// product of t! such permutations. (Three pairs of tie patterns of 8 and 9 values share one sum of
/// squares of ranks, which is all that a device knows about a row; both get the larger product.)
/// For two rows the larger least p holds.
/// @param observations from 3 to 10^15.
/// @param x, y the ties of the rows, as gpu::kendall_ties gives them.
/// @param side the alternative hypothesis.
/// @throw gpu::invalid_argument outside these ranges.
[[nodiscard]] GPU_SIMILARITY_EXPORT double least_rank_p(index_t observations,
                                                        const row_ties& x = {},
                                                        const row_ties& y = {},
                                                        tail side = tail::two_sided);

/// p of Kendall's tau-b of two rows, as scipy.stats.kendalltau with method="auto" gives it, and the
/// bits that edges hold. Where neither row has ties, and there are at most 33 observations or at
/// most one discordant pair, or at most one concordant one, it is exact: from the number of
/// permutations. Else S = concordant - discordant pairs is taken as normal, without a correction
/// for continuity, with the variance that the ties of both rows leave.
/// @param tau in [-1, 1]; NaN gives NaN.
/// @param observations from 3 to 10^6.
/// @param x, y the ties of the rows, as gpu::kendall_ties gives them.
/// @param side the alternative hypothesis.
/// @throw gpu::invalid_argument outside these ranges, or where a row could not have such ties.
[[nodiscard]] GPU_SIMILARITY_EXPORT double kendall_p_value(double tau, index_t observations,
                                                           const row_ties& x = {},
                                                           const row_ties& y = {},
                                                           tail side = tail::two_sided);

/// p of Spearman's rho of two rows as p_method::exact gives it, and p_method::automatic up to 9
/// columns: the bits that edges hold. Where
/// neither row has ties it is the share of the permutations of a row whose S, the sum of squared
/// differences of ranks, is as extreme, as R's cor.test(method = "spearman", exact = TRUE): counted
/// for up to 9 observations, from there to 1290 by the Edgeworth series of algorithm AS 89, beyond
/// by Student's t. Where either row has ties it is correlation_p_value, but not below least_rank_p.
///
/// Far out in the tail the series breaks down, and soon falls below 0, which R gives as p = 0. From
/// where it is 15 % of its leading term on, p is Student's, scaled so that there is no step, and at
/// least the share of the one permutation with S = 0: for 10 observations from |rho| = 0.90 on (p =
/// 1e-3), for 30 from 0.71 (2e-5), for 100 from 0.54 (1e-8), for 1290 from 0.28 (6e-24). So p never
/// grows with |rho|. Student's t alone gives about half of it there.
/// @param rho in [-1, 1]; NaN gives NaN.
/// @param observations from 3 to 10^15.
/// @param x, y the ties of the rows, as gpu::kendall_ties gives them.
/// @param side the alternative hypothesis.
/// @throw gpu::invalid_argument outside these ranges.
[[nodiscard]] GPU_SIMILARITY_EXPORT double spearman_p_value(double rho, index_t observations,
                                                            const row_ties& x = {},
                                                            const row_ties& y = {},
                                                            tail side = tail::two_sided);

/// p of a statistic of a measure, by the test that info_of(what) names: the bits that edges hold,
/// except those of Spearman up to 9 columns, which have spearman_p_value. NaN where the measure has
/// no test.
/// @param what the measure.
/// @param statistic in [-1, 1]; NaN gives NaN.
/// @param observations those of the test (pair_summary::observations); for Student's t a real
///   number from 3 to 10^15.
/// @param side the alternative hypothesis.
/// @throw gpu::invalid_argument outside these ranges.
/// @throw gpu::unsupported of measure::kendall, whose p is not that of the statistic alone: see
///   kendall_p_value.
[[nodiscard]] GPU_SIMILARITY_EXPORT double p_value_of(measure what, double statistic,
                                                      observation_count observations,
                                                      tail side = tail::two_sided);

/// The same of each of many statistics, by threads.
/// @param what as above.
/// @param statistics each in [-1, 1], or NaN.
/// @param observations as above.
/// @param side as above.
/// @param out [statistics]: p of each; may be where `statistics` is.
/// @param exec cpu_threads and on_progress; this runs on the CPU and refuses every other setting.
/// @throw as above, before any p is written; gpu::invalid_argument where `out` has another size;
///   gpu::cancelled.
GPU_SIMILARITY_EXPORT void p_values_of(measure what, std::span<const double> statistics,
                                       observation_count observations, tail side,
                                       std::span<double> out, const execution& exec = {});

/// t of a statistic of a measure, as files have it: correlation_t, but of Spearman at most the t
/// whose p is least_rank_p, so that it is finite. NaN where the measure has no t.
/// @param what the measure.
/// @param statistic in [-1, 1]; NaN gives NaN.
/// @param observations a real number from 3 to 10^15.
/// @throw gpu::invalid_argument outside these ranges.
[[nodiscard]] GPU_SIMILARITY_EXPORT double t_value_of(measure what, double statistic,
                                                      observation_count observations);

/// The smallest correlation c such that correlation_p_value(c) <= p: of two_sided the magnitude,
/// of `less` the largest, negative one. Infinite where no correlation reaches p.
/// @param p in (0, 1].
/// @param observations a real number from 3 to 10^15.
/// @param side the alternative hypothesis.
/// @throw gpu::invalid_argument outside these ranges.
[[nodiscard]] GPU_SIMILARITY_EXPORT double critical_correlation(double p,
                                                                observation_count observations,
                                                                tail side = tail::two_sided);

/// Adjusted p, in the order of `p`. bonferroni: min(1, p family). benjamini_hochberg: with the p in
/// ascending order, the least p_j family / j of the j from that place on, at most 1; equal p have
/// equal q. none: p.
///
/// The p of a family that are not given count as larger than all that are. So the q of
/// benjamini_hochberg are exact for all pairs with p <= max_p_effective of a call with that
/// adjustment, and upper bounds where another cut left some of those pairs out. NaN stays NaN, and
/// belongs to no rank. Cost: a sort of `p` for benjamini_hochberg, by the calling thread, with 16
/// bytes for each.
/// @param p in [0, 1], or NaN.
/// @param family tests in all: pair_summary::pairs_tested of a call that is not a part.
/// @param adjust the correction.
/// @return as many q as there are p.
/// @throw gpu::invalid_argument where p is outside [0, 1], or the family smaller than `p`.
[[nodiscard]] GPU_SIMILARITY_EXPORT std::vector<double> adjusted_p_values(std::span<const double> p,
                                                                          std::uint64_t family,
                                                                          adjustment adjust);

/// The same of the p of edges.
/// @param edges as a call gives them.
/// @param family as above.
/// @param adjust as above.
/// @return as above.
[[nodiscard]] GPU_SIMILARITY_EXPORT std::vector<double> adjusted_p_values(
    std::span<const edge> edges, std::uint64_t family, adjustment adjust);

/// The adjusted p of some pairs of a family, such as partners. `tests` has more p of the family. As
/// above, with the ranks of `tests`; the p of the family that are not there count as larger. So a
/// job whose parts give the p of their pairs by a stream_sink has the q of any of them. Cost: a
/// sort of `tests`, in place, and of `p`, with 16 bytes for each.
/// @param p in [0, 1], or NaN; for benjamini_hochberg each is also one of `tests`, and may be there
///   several times.
/// @param tests in [0, 1], one for each test; put in ascending order. Used only by
/// benjamini_hochberg.
/// @param family as above.
/// @param adjust as above.
/// @param exec cpu_threads of the sort of `tests`, and on_progress; this runs on the CPU and
/// refuses
///   every other setting.
/// @return as many q as there are p.
/// @throw gpu::invalid_argument where a p is outside [0, 1], or the family smaller than `tests`;
///   gpu::cancelled.
[[nodiscard]] GPU_SIMILARITY_EXPORT std::vector<double> adjusted_p_values(
    std::span<const double> p, std::span<double> tests, std::uint64_t family, adjustment adjust,
    const execution& exec = {});

/// The bounds of a confidence interval, in [-1, 1].
struct confidence_bounds {
  double lower;  ///< -1 for tail::less.
  double upper;  ///< 1 for tail::greater.
  /// Whether both bounds are equal.
  friend bool operator==(const confidence_bounds&, const confidence_bounds&) = default;
};

/// The confidence interval of a statistic by Fisher's z: tanh(atanh(statistic) -+ q error), where q
/// is the quantile of the standard normal distribution. info_of(what).interval names the error: of
/// Pearson's r 1 / sqrt(n - 3), as scipy.stats.pearsonr; of Spearman's rho, as Bonett and Wright
/// (2000), sqrt((1 + rho^2 / 2) / (n - 3)); of the biweight midcorrelation as of r, which is an
/// approximation. Three observations tell nothing: the interval is [-1, 1], whatever the statistic.
/// Statistics of -1 and 1 have no width.
/// @param what the measure.
/// @param statistic in [-1, 1]; NaN gives NaN.
/// @param observations a real number from 3 to 10^15.
/// @param confidence the probability that the interval covers, in (0, 1).
/// @param side two_sided: both bounds; greater: the lower bound alone; less: the upper one alone.
/// @throw gpu::invalid_argument outside these ranges.
/// @throw gpu::unsupported where the measure has no interval, as cosine.
[[nodiscard]] GPU_SIMILARITY_EXPORT confidence_bounds
confidence_interval(measure what, double statistic, observation_count observations,
                    double confidence = 0.95, tail side = tail::two_sided);

/// The same of each of several statistics, in their order, at some 50 ns each.
/// @param what as above.
/// @param statistics as above.
/// @param observations of all of them, as above.
/// @param confidence as above.
/// @param side as above.
/// @return as many intervals as there are statistics.
/// @throw as above.
[[nodiscard]] GPU_SIMILARITY_EXPORT std::vector<confidence_bounds> confidence_intervals(
    measure what, std::span<const double> statistics, observation_count observations,
    double confidence = 0.95, tail side = tail::two_sided);

/// The same of the statistics of edges, of a call whose rows share all columns: with
/// nan_policy::pairwise an edge has observations of its own (gpu/observations.hpp).
/// @param what as above.
/// @param edges as a call gives them.
/// @param observations those of the test (pair_summary::observations).
/// @param confidence as above.
/// @param side as above.
/// @return as many intervals as there are edges.
/// @throw as above.
[[nodiscard]] GPU_SIMILARITY_EXPORT std::vector<confidence_bounds> confidence_intervals(
    measure what, std::span<const edge> edges, observation_count observations,
    double confidence = 0.95, tail side = tail::two_sided);

}  // namespace v0
}  // namespace gpu
