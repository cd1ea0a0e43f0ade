#pragma once
// --adjust max-t: the cut by permutation, found before the run that it is for.

#include <optional>

#include <gpu/max_t.hpp>

#include "cli/options/options.hpp"
#include "cli/process/progress_line.hpp"
#include "cli/verbs/read_input.hpp"

namespace gpu::cli {

/// The largest statistics of the shuffled tables; nothing of a job without --adjust max-t.
/// @throw interrupted_run, and what the library throws
[[nodiscard]] std::optional<max_t_null> find_maxima(const pairs_command& job,
                                                    const input_tables& tables,
                                                    progress_line& line);

/// `job` with its --max-p as the cut on the statistic that the maxima say.
[[nodiscard]] pairs_command with_cut(const pairs_command& job, const max_t_null& null);

}  // namespace gpu::cli
