#pragma once
// Cuts that are found before the run that they are for: of --keep-fraction, and of --adjust max-t.

#include <optional>

#include <gpu/max_t.hpp>

#include "cli/options/options.hpp"
#include "cli/process/progress_line.hpp"
#include "cli/verbs/read_input.hpp"

namespace gpu::cli {

/// The greatest `min_abs` that keeps at least job.keep_fraction of the tested pairs: the strength
/// of the last of them, so that pairs which are as strong as it are kept too. A pass counts all
/// pairs in bins of the statistic, and a second one looks at those above the bin with the last
/// pair, again where that bin has millions of different statistics.
/// @throw usage_error where a one-sided tail has fewer pairs of its sign; cancelled
[[nodiscard]] double cut_of_fraction(const pairs_command& job, const input_tables& tables,
                                     progress_line& line);

/// The largest statistics of the shuffled tables; nothing of a job without --adjust max-t.
/// @throw what the library throws
[[nodiscard]] std::optional<max_t_null> find_maxima(const pairs_command& job,
                                                    const input_tables& tables,
                                                    progress_line& line);

/// `job` with its --max-p as the cut on the statistic that the maxima say.
[[nodiscard]] pairs_command with_cut(const pairs_command& job, const max_t_null& null);

}  // namespace gpu::cli
