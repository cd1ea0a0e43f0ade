#pragma once
// How long a job takes and how large its result is, before it starts: from a timed sample.

#include <string>

#include "cli/options/options.hpp"
#include "cli/verbs/read_input.hpp"
#include "io/write/result_context.hpp"

namespace gpu::cli {

struct job_estimate {
  double pairs = 0;             ///< Of the whole job.
  double pairs_per_second = 0;  ///< On this machine, of the first rows.
  double prepare_seconds = 0;   ///< Of every part again.
  double bytes = 0;             ///< Of the result.
  double seconds = 0;           ///< Of the whole job by one process, writing included.
  index_t parts = 1;            ///< So that each takes some seconds and is of moderate size.
};

/// Counts the pairs of the first rows, more of them until it takes a twentieth of a second. Of
/// differential correlation these rows also say how many pairs are kept.
/// Cost: a fraction of a second.
[[nodiscard]] job_estimate estimate_job(const pairs_command& job, const input_tables& tables,
                                        const io::result_context& context);

/// The estimate as lines of text.
/// @param read_seconds that reading the input took
/// @param parts of the job; 0: nothing is said of parts
[[nodiscard]] std::string estimate_text(const job_estimate& estimate, double read_seconds,
                                        index_t parts);

}  // namespace gpu::cli
