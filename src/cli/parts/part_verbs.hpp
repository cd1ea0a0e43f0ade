#pragma once
// What the command does with jobs in parts. Each throws whatever goes wrong; main() turns that into
// an exit code.

#include "cli/options/options.hpp"

namespace gpu::cli {

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
