#pragma once

#include "cli/options.hpp"

namespace gpu::cli {

/// `gpu-similarity spearman` and `pearson`: reads, computes, writes, reports. Throws whatever
/// goes wrong; main() turns that into an exit code.
void run_pairs(const pairs_command& job);

}  // namespace gpu::cli
