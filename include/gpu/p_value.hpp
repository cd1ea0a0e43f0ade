#pragma once
/// @file
/// Student's t test of a correlation, and the cuts on the correlation that follow from it.

#include <gpu/export.hpp>
#include <gpu/index.hpp>
#include <gpu/measure.hpp>
#include <gpu/pair_sinks.hpp>

namespace gpu {
inline namespace v0 {

/// t = r sqrt((observations - 2) / ((1 + r) (1 - r))); +-infinity for |r| = 1.
/// @param r a correlation in [-1, 1]; NaN gives NaN.
/// @param observations from 3 to 10^15.
/// @throw gpu::invalid_argument outside these ranges.
[[nodiscard]] GPU_SIMILARITY_EXPORT double correlation_t(double r, index_t observations);

/// p of a correlation: Student's t with observations - 2 degrees of freedom, as
/// scipy.stats.pearsonr and spearmanr; 0 for |r| = 1 in the tail. The relative error is at most
/// 1e-14 down to 1e-300, p never grows with |r|, and edges hold the same bits. The first call with
/// a number of observations takes a fraction of a millisecond, further ones some nanoseconds.
/// @param r a correlation in [-1, 1]; NaN gives NaN.
/// @param observations from 3 to 10^15.
/// @param side the alternative hypothesis.
/// @throw gpu::invalid_argument outside these ranges.
[[nodiscard]] GPU_SIMILARITY_EXPORT double correlation_p_value(double r, index_t observations,
                                                               tail side = tail::two_sided);

/// p of a statistic of a measure, by the test that info_of(what) names: the bits that edges hold.
/// NaN where the measure has no test.
/// @param what the measure.
/// @param statistic in [-1, 1]; NaN gives NaN.
/// @param observations columns of the table, as the measure takes them; for Student's t from 3 to
///   10^15.
/// @param side the alternative hypothesis.
/// @throw gpu::invalid_argument outside these ranges.
[[nodiscard]] GPU_SIMILARITY_EXPORT double p_value_of(measure what, double statistic,
                                                      index_t observations,
                                                      tail side = tail::two_sided);

/// The smallest correlation c such that correlation_p_value(c) <= p: of two_sided the magnitude,
/// of `less` the largest, negative one. Infinite where no correlation reaches p.
/// @param p in (0, 1].
/// @param observations from 3 to 10^15.
/// @param side the alternative hypothesis.
/// @throw gpu::invalid_argument outside these ranges.
[[nodiscard]] GPU_SIMILARITY_EXPORT double critical_correlation(double p, index_t observations,
                                                                tail side = tail::two_sided);

}  // namespace v0
}  // namespace gpu
