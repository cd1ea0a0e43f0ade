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

/// `--part k/n --output-dir DIR`: computes one part, unless it is there.
void run_part(const pairs_command& job);

/// `--resume`: computes the parts of a job that are not there, and joins them.
void run_resumed(const pairs_command& job);

/// `--plan`, with `--parts n` also of the parts
void write_plan(const pairs_command& job);

/// `gpu-similarity parts`
/// @return the code that the command ends with
[[nodiscard]] int run(const parts_command& job);

/// `gpu-similarity merge`
void run(const merge_command& job);

}  // namespace gpu::cli
