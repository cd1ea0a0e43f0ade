#pragma once
// The jobs of the command. Each throws whatever goes wrong; main() turns that into an exit code.

#include "cli/options/options.hpp"

namespace gpu::cli {

/// `gpu-similarity spearman` and `pearson`: reads, computes, writes, reports.
void run_pairs(const pairs_command& job);

/// `gpu-similarity mean-filter`, `rank` and `top-k`: blocks of rows are read, taken and written.
void run(const mean_filter_command& job);
void run(const rank_command& job);
void run(const top_k_command& job);

/// `gpu-similarity differential`: the whole table is read, the pairs that pass are written.
void run_differential(const pairs_command& job);

/// `gpu-similarity soft-threshold`: the whole table is read, one result is written.
void run(const soft_threshold_command& job);

/// `gpu-similarity modules`: the edges of a table are read one by one.
void run(const modules_command& job);

}  // namespace gpu::cli
