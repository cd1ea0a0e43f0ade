#pragma once
// --keep-fraction: the cut that keeps the strongest share of all pairs, found before the run.

#include "cli/options/options.hpp"
#include "cli/process/progress_line.hpp"
#include "cli/verbs/read_input.hpp"

namespace gpu::cli {

/// The greatest `min_abs` that keeps at least job.keep_fraction of the tested pairs: the strength
/// of the last of them, so that pairs which are as strong as it are kept too. A pass counts all
/// pairs in bins of the statistic, and a second one looks at those above the bin with the last
/// pair, again where that bin has millions of different statistics.
/// @throw usage_error where a one-sided tail has fewer pairs of its sign; interrupted_run
[[nodiscard]] double cut_of_fraction(const pairs_command& job, const input_tables& tables,
                                     progress_line& line);

}  // namespace gpu::cli
