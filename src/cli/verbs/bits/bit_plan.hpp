#pragma once
// How many pairs of fingerprints a cut keeps, from a sample of their rows.

#include <gpu/plan.hpp>

#include "cli/options/options.hpp"
#include "cli/verbs/read_input.hpp"

namespace gpu::cli {

/// Compares some rows of x with all, and counts what is kept; of top-k the partners. Tiles and
/// workspace are not known.
/// Cost: a share of the job of 256 / rows.
[[nodiscard]] pair_plan plan_bits(const pairs_command& job, const input_tables& tables);

}  // namespace gpu::cli
