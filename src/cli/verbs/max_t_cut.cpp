#include "cli/verbs/max_t_cut.hpp"

#include <algorithm>

#include <gpu/error.hpp>

#include "cli/process/exit_code.hpp"
#include "cli/process/interrupt.hpp"
#include "cli/verbs/all_pairs.hpp"

namespace gpu::cli {

std::optional<max_t_null> find_maxima(const pairs_command& job, const input_tables& tables,
                                      progress_line& line) {
  if (job.correct != correction::max_t) return std::nullopt;
  pair_options options = job.pairs;
  options.exec.on_progress = [&line](const progress& state) {
    line.show(state, "permutations");
    return is_interrupted() ? progress_reply::cancel : progress_reply::proceed;
  };
  try {
    return detail::max_t(job.what, tables_of(tables), options, job.max_t);
  } catch (const cancelled&) {
    throw interrupted_run("interrupted: nothing is written");
  }
}

pairs_command with_cut(const pairs_command& job, const max_t_null& null) {
  pairs_command out = job;
  const pair_filter cut = null.keep(job.filter.max_p);
  out.filter.max_p = 1;
  out.filter.min_abs = std::max(cut.min_abs, job.filter.min_abs);
  return out;
}

}  // namespace gpu::cli
