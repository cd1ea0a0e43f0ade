#pragma once

#include "cli/options.hpp"

namespace gpu::cli {

/// `gpu-similarity mean-filter`: reads, filters, writes. Throws whatever goes wrong.
void run_mean_filter(const mean_filter_command& job);

}  // namespace gpu::cli
