#pragma once
// The jobs of the command. Each throws whatever goes wrong; main() turns that into an exit code.

#include "cli/options/options.hpp"

namespace gpu::cli {

/// `gpu-similarity spearman` and `pearson`: reads, computes, writes, reports.
void run_pairs(const pairs_command& job);

/// `gpu-similarity mean-filter`: reads, filters, writes.
void run_mean_filter(const mean_filter_command& job);

}  // namespace gpu::cli
